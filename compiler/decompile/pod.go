package decompile

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// The annotations and the label that tell the cache how old a result may be. Earlier compilers had Argo keep the outputs
// of steps with a cache key, in cacheConfigMap.
const (
	staleness      = "pipelines.kubeflow.org/max_cache_staleness"
	caching        = "pipelines.kubeflow.org/enable_caching"
	cacheKey       = "argosy.dev/cache-key"
	cacheConfigMap = "argosy-cache"
)

// pod reads what a template asks of the cluster.
func (r pods) pod(n graph.Node, t *object, s *scope, volumes map[string]graph.Volume) {
	p := n.Pod
	if m := t.object("metadata"); m != nil {
		p.Labels, p.Annotations = steps(r).pairs(s, m, "labels"), steps(r).pairs(s, m, "annotations", ownNotes...)
		m.finish()
	}
	unsaid := func(pair graph.Pair) bool {
		value, _ := pair.Value.Constant()
		return slices.Contains(ownNotes, pair.Name) || slices.Contains(ownLabels, pair.Name) || pair.Name == caching && value == "true"
	}
	p.Annotations, p.Labels = slices.DeleteFunc(p.Annotations, unsaid), slices.DeleteFunc(p.Labels, unsaid)
	p.NodeSelector = steps(r).pairs(s, r.ownOr(t, "nodeSelector"), "nodeSelector")
	for _, o := range r.ownOr(t, "tolerations").list("tolerations") {
		p.Tolerations = append(p.Tolerations, r.toleration(o, s))
	}
	if a := r.ownOr(t, "affinity").object("affinity"); a != nil {
		p.Affinity = r.affinity(a, s)
	}
	p.ServiceAccount = r.optional(s, t, "serviceAccountName")
	p.PriorityClass = r.optional(s, t, "priorityClassName")
	p.Scheduler = r.optional(s, t, "schedulerName")
	if text := t.text("activeDeadlineSeconds"); text != "" {
		p.Timeout = r.timeout(t, s, text)
	}
	if o := t.object("retryStrategy"); o != nil {
		p.Retry = r.retry(o, s)
	}
	r.cache(p, t.object("memoize"), s)
	for _, c := range t.list("initContainers") {
		p.InitContainers = append(p.InitContainers, r.beside(c, s, volumes))
	}
	for _, c := range t.list("sidecars") {
		p.Sidecars = append(p.Sidecars, r.beside(c, s, volumes))
	}
	r.patch(n, t, s)
}

// ownOr is the template where it has a field, else the workflow, whose field then holds for the step.
func (r pods) ownOr(t *object, key string) *object {
	if t.has(key) {
		return t
	}
	return r.spec
}

func (r pods) beside(c *object, s *scope, volumes map[string]graph.Volume) graph.Sidecar {
	out := graph.Sidecar{Name: c.text("name")}
	steps(r).container(&out.Container, c, s, volumes)
	out.OwnMounts = c.word("mirrorVolumeMounts", "true", "false") != "true"
	c.finish()
	return out
}

func (r pods) toleration(o *object, s *scope) graph.Toleration {
	out := graph.Toleration{Key: o.text("key"), Operator: o.word("operator", "Equal", "Exists"), Effect: o.word("effect", "NoSchedule", "PreferNoSchedule", "NoExecute")}
	switch {
	case out.Operator == "" || out.Operator == "Equal":
		out.Operator, out.Value = "Equal", r.text(s, o.text("value"))
	case o.has("value"):
		o.fault("a value with operator %s cannot be expressed in the DSL", out.Operator)
	}
	if out.Key == "" && out.Operator == "Equal" {
		o.fault("a toleration without a key must have operator Exists")
	}
	if o.has("tolerationSeconds") {
		seconds := o.number("tolerationSeconds")
		out.Seconds = &seconds
		if seconds == 0 || out.Effect != "NoExecute" {
			o.fault("tolerationSeconds: %d with effect %s cannot be expressed in the DSL", seconds, out.Effect)
		}
	}
	o.finish()
	return out
}

// The names that Kubernetes has for what must be and what is wished for.
const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

func (r pods) affinity(a *object, s *scope) *graph.Affinity {
	out := &graph.Affinity{}
	if n := a.object("nodeAffinity"); n != nil {
		if must := n.object(required); must != nil {
			for _, term := range must.list("nodeSelectorTerms") {
				out.Nodes = append(out.Nodes, graph.NodeTerm{Labels: r.requirements(term, s)})
			}
			must.finish()
		}
		for _, w := range n.list(preferred) {
			if term := w.object("preference"); term != nil {
				out.PreferNodes = append(out.PreferNodes, graph.NodeTerm{Weight: int(w.number("weight")), Labels: r.requirements(term, s)})
			}
			w.finish()
		}
		n.finish()
	}
	out.Pods, out.PreferPods = r.podAffinity(a.object("podAffinity"), s)
	out.AvoidPods, out.ShunPods = r.podAffinity(a.object("podAntiAffinity"), s)
	a.finish()
	return out
}

func (r pods) podAffinity(a *object, s *scope) (must, wish []graph.PodTerm) {
	if a == nil {
		return nil, nil
	}
	for _, term := range a.list(required) {
		must = append(must, r.podTerm(term, s, 0))
	}
	for _, w := range a.list(preferred) {
		if term := w.object("podAffinityTerm"); term != nil {
			wish = append(wish, r.podTerm(term, s, int(w.number("weight"))))
		}
		w.finish()
	}
	a.finish()
	return must, wish
}

func (r pods) podTerm(t *object, s *scope, weight int) graph.PodTerm {
	out := graph.PodTerm{Weight: weight, Topology: t.text("topologyKey")}
	if l := t.object("labelSelector"); l != nil {
		out.Labels = r.requirements(l, s)
	} else {
		t.fault("a term without a labelSelector cannot be expressed in the DSL")
	}
	t.finish()
	return out
}

func (r pods) requirements(t *object, s *scope) []graph.Requirement {
	var list []graph.Requirement
	for _, o := range t.list("matchExpressions") {
		req := graph.Requirement{Key: o.text("key"), Operator: o.text("operator")}
		for _, v := range o.texts("values") {
			req.Values = append(req.Values, r.text(s, v))
		}
		o.finish()
		list = append(list, req)
	}
	for _, l := range t.pairs("matchLabels") {
		list = append(list, graph.Requirement{Key: l[0], Operator: "In", Values: []graph.Text{r.text(s, l[1])}})
	}
	t.finish()
	if len(list) == 0 {
		t.fault("a term without labels cannot be expressed in the DSL")
	}
	return list
}

// timeout is a number of seconds, or the expression that the compiler writes for a duration that is known late.
func (r pods) timeout(t *object, s *scope, text string) graph.Text {
	if n, err := strconv.Atoi(text); err == nil {
		if n < 1 {
			t.fault("activeDeadlineSeconds must be at least 1 in the DSL")
		}
		return graph.Text{{Text: (time.Duration(n) * time.Second).String()}}
	}
	if len(text) > 5 {
		if m := durationCall.FindStringSubmatch(text[3 : len(text)-2]); m != nil && text == "{{="+text[3:len(text)-2]+"}}" {
			if v, ok := r.expression(s, m[1]); ok {
				return v
			}
		}
	}
	t.fault("activeDeadlineSeconds: %s cannot be expressed in the DSL", text)
	return nil
}

// duration is a time as Argo writes it: a number of seconds, or a duration of Go.
func (r pods) duration(o *object, s *scope, key string) graph.Text {
	text := o.text(key)
	if text == "" {
		return nil
	}
	if n, err := strconv.Atoi(text); err == nil {
		return graph.Text{{Text: (time.Duration(n) * time.Second).String()}}
	}
	v := r.text(s, text)
	if constant, ok := v.Constant(); ok {
		d, err := time.ParseDuration(constant)
		if err != nil {
			o.fault("%s: %q is not a duration", key, constant)
		}
		return graph.Text{{Text: d.String()}}
	}
	return v
}

func (r pods) retry(o *object, s *scope) *graph.Retry {
	out := &graph.Retry{Limit: r.text(s, o.text("limit")), Policy: o.word("retryPolicy", "OnFailure", "OnError", "OnTransientError", "Always"), When: o.text("expression")}
	if strings.Contains(out.When, "{{") {
		o.fault("a variable in the expression of a retry cannot be expressed in the DSL: write lastRetry.exitCode without braces")
	}
	if !o.has("limit") {
		o.fault("a retry without a limit cannot be expressed in the DSL")
	}
	r.types.compared(r.sub, out.Limit, graph.Integer)
	if b := o.object("backoff"); b != nil {
		out.Wait, out.MaxWait, out.MaxTime = r.duration(b, s, "duration"), r.duration(b, s, "cap"), r.duration(b, s, "maxDuration")
		if out.Factor = int(b.number("factor")); out.Factor == 0 {
			out.Factor = 1 // Argo's, when it is not said
		}
		if len(out.Wait) == 0 {
			b.fault("a backoff without a duration cannot be expressed in the DSL")
		}
		b.finish()
	}
	o.finish()
	return out
}

var seconds = regexp.MustCompile(`^PT([0-9]+)S$`)

// cache reads how a step may take the outputs of another run.
func (r pods) cache(p *graph.Pod, m *object, s *scope) {
	at := func(pairs []graph.Pair, name string) int {
		return slices.IndexFunc(pairs, func(p graph.Pair) bool { return p.Name == name })
	}
	stale, off := at(p.Annotations, staleness), at(p.Labels, caching)
	age := ""
	if stale >= 0 {
		age, _ = p.Annotations[stale].Value.Constant()
	}
	if off >= 0 && age == "P0D" && m == nil {
		if value, _ := p.Labels[off].Value.Constant(); value == "false" {
			p.Cache = &graph.Cache{Off: true}
			p.Annotations, p.Labels = slices.Delete(p.Annotations, stale, stale+1), slices.Delete(p.Labels, off, off+1)
			return
		}
	}
	if found := seconds.FindStringSubmatch(age); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil && n > 0 && n < 1<<32 {
			p.Cache = &graph.Cache{MaxAge: (time.Duration(n) * time.Second).String()}
			p.Annotations = slices.Delete(p.Annotations, stale, stale+1)
		}
	}
	if key := at(p.Annotations, cacheKey); key >= 0 {
		if p.Cache == nil {
			p.Cache = &graph.Cache{}
		}
		p.Cache.Key = p.Annotations[key].Value
		p.Annotations = slices.Delete(p.Annotations, key, key+1)
	}
	if m == nil {
		return
	}
	if p.Cache == nil {
		p.Cache = &graph.Cache{}
	}
	p.Cache.Key = r.text(s, m.text("key"))
	const forEver = "87600h"
	if own := m.text("maxAge"); own != p.Cache.MaxAge && (own != forEver || p.Cache.MaxAge != "") {
		m.fault("maxAge: %s cannot be expressed in the DSL without annotation %s of the same time", own, staleness)
	}
	if c := m.object("cache"); c != nil {
		if name := c.object("configMap"); name != nil {
			if own := name.text("name"); own != cacheConfigMap {
				name.fault("a cache in config map %s cannot be expressed in the DSL: it uses %s", own, cacheConfigMap)
			}
			name.finish()
		}
		c.finish()
	}
	m.finish()
}

// volumesOf are those that the containers of a template may mount, by their names.
func (r pods) volumesOf(t *object, s *scope) map[string]graph.Volume {
	volumes := map[string]graph.Volume{}
	for name := range r.claims {
		volumes[name] = graph.Volume{RunClaim: name}
	}
	own := map[string]*object{}
	for _, v := range t.list("volumes") {
		own[v.text("name")] = v
	}
	for _, name := range mounted(t) {
		if v := cmp.Or(own[name], r.volumes[name]); v != nil {
			here := *s
			if own[name] == nil { // Argo fills those of the workflow with what the first tasks give
				here.tasks = r.first
			}
			volumes[name] = r.volume(v, &here)
		}
	}
	return volumes
}

// mounted are the volumes that the containers of a template mount. Argo leaves others out of the pod.
func mounted(t *object) []string {
	containers := slices.Concat([]*object{t.object("container"), t.object("script")}, t.list("initContainers"), t.list("sidecars"))
	var names []string
	for _, c := range containers {
		for _, m := range c.list("volumeMounts") {
			names = append(names, m.text("name"))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (r pods) volume(v *object, s *scope) graph.Volume {
	var out graph.Volume
	here := s.within(v)
	v.get("name")
	for _, kind := range []struct {
		key, field string
		into       *graph.Text
	}{
		{"persistentVolumeClaim", "claimName", &out.Claim},
		{"secret", "secretName", &out.Secret},
		{"configMap", "name", &out.ConfigMap},
		{"hostPath", "path", &out.HostPath},
	} {
		if source := v.object(kind.key); source != nil {
			*kind.into = r.text(here, source.text(kind.field))
			source.finish()
		}
	}
	if node, ok := field(v.node, "emptyDir"); ok && node.Kind == yaml.MappingNode {
		e := &object{node: node, path: v.path + ".emptyDir", all: &r.reader}
		v.read = append(v.read, "emptyDir")
		out.Scratch, out.Size = "disk", e.text("sizeLimit")
		switch medium := e.text("medium"); medium {
		case "":
		case "Memory":
			out.Scratch = "memory"
		default:
			e.fault("medium %s cannot be expressed in the DSL", medium)
		}
		e.finish()
	}
	v.finish()
	if fmt.Sprint(out) == fmt.Sprint(graph.Volume{}) {
		v.fault("a volume of this kind cannot be expressed in the DSL")
	}
	return out
}
