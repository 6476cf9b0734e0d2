package compiler

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// pod turns what a step asks of the cluster into fields of its template.
type pod struct {
	fill   func(graph.Text) text // with the values' places
	arg    func(graph.Text) text // the same, for where Kubernetes reads $(NAME)
	word   func(graph.Text) text // the same, for where that is of the container's own environment
	where  func(graph.Ref) source
	t      *template
	known  []graph.Volume // those in t.Volumes, in the same order
	mounts []graph.Mount  // those of the step's own container
	patch  map[string]any // for resources that are known only when the pipeline runs
}

// container turns a container into Argo's.
func (p *pod) container(list, name string, c *graph.Container) container {
	out := container{
		Image:           p.fill(c.Image),
		ImagePullPolicy: c.ImagePullPolicy,
		Command:         all(c.Command, p.word),
		Args:            all(c.Args, p.word),
		WorkingDir:      p.fill(c.WorkingDir),
	}
	for _, e := range c.Env {
		v := envVar{Name: e.Name, Value: p.word(e.Value)}
		switch {
		case e.FieldRef != "":
			v.ValueFrom = &envSource{FieldRef: &fieldRef{text(e.FieldRef)}}
		case e.Secret != nil:
			v.ValueFrom = &envSource{Secret: &keyRef{e.Secret.Name, text(e.Secret.Key), e.Secret.Optional}}
		case e.ConfigMap != nil:
			v.ValueFrom = &envSource{ConfigMap: &keyRef{e.ConfigMap.Name, text(e.ConfigMap.Key), e.ConfigMap.Optional}}
		}
		out.Env = append(out.Env, v)
	}
	if out.braces() { // first, since the others may use it
		out.Env = slices.Insert(out.Env, 0, envVar{Name: brace, Value: "{"})
	}
	for _, from := range c.EnvFrom {
		if from.Secret != "" {
			out.EnvFrom = append(out.EnvFrom, envFrom{Secret: &named{text(from.Secret)}})
		} else {
			out.EnvFrom = append(out.EnvFrom, envFrom{ConfigMap: &named{text(from.ConfigMap)}})
		}
	}
	for _, m := range c.Mounts {
		out.VolumeMounts = append(out.VolumeMounts, volumeMount{p.volume(m.Volume), text(m.Path), p.fill(m.SubPath), m.ReadOnly})
	}
	out.Resources = p.resources(list, name, c)
	return out
}

// resource turns what a step does to an object of Kubernetes into Argo's, which hands it to its executor in a variable.
func (p *pod) resource(r *graph.Resource) {
	p.t.Resource = &resource{
		Action: r.Action, MergeStrategy: r.MergeStrategy, Owned: r.Owned, SuccessCondition: p.arg(r.SuccessCondition),
		FailureCondition: p.arg(r.FailureCondition), Flags: all(r.Flags, p.arg), Manifest: p.arg(r.Manifest),
	}
}

// braces says whether a brace of the container is hidden in a variable.
func (c *container) braces() bool {
	has := func(t text) bool { return strings.Contains(string(t), "$("+brace+")") }
	return slices.ContainsFunc(c.Command, has) || slices.ContainsFunc(c.Args, has) ||
		slices.ContainsFunc(c.Env, func(e envVar) bool { return has(e.Value) })
}

func all(texts []graph.Text, write func(graph.Text) text) []text {
	out := make([]text, len(texts))
	for i, t := range texts {
		out[i] = write(t)
	}
	return out
}

// volume returns the name of a volume of the pod.
func (p *pod) volume(v graph.Volume) string {
	if v.RunClaim != "" {
		return v.RunClaim // Argo adds it to every pod that mounts it
	}
	for i, other := range p.known {
		if reflect.DeepEqual(other, v) {
			return p.t.Volumes[i].Name
		}
	}
	out := volume{Name: fmt.Sprintf("volume-%d", len(p.known)+1)}
	switch {
	case len(v.Claim) > 0:
		out.Claim = &claimSource{p.fill(v.Claim)}
	case len(v.Secret) > 0:
		out.Secret = &secretSource{p.fill(v.Secret)}
	case len(v.ConfigMap) > 0:
		out.ConfigMap = &named{p.fill(v.ConfigMap)}
	case len(v.HostPath) > 0:
		out.HostPath = &hostPathSource{p.fill(v.HostPath)}
	default:
		out.EmptyDir = &emptyDirSource{SizeLimit: v.Size}
		if v.Scratch == "memory" {
			out.EmptyDir.Medium = "Memory"
		}
	}
	p.known = append(p.known, v)
	p.t.Volumes = append(p.t.Volumes, out)
	return out.Name
}

// resources sets what a container requests and is limited to. Argo reads quantities before it knows any value, so
// those with a value in them become a patch of the pod.
func (p *pod) resources(list, name string, c *graph.Container) resources {
	late := map[string]any{}
	split := func(kind string, pairs []graph.Pair) map[string]text {
		known := map[string]text{}
		for _, pair := range pairs {
			if s, ok := pair.Value.Constant(); ok {
				known[pair.Name] = text(s)
				continue
			}
			if late[kind] == nil {
				late[kind] = map[string]any{}
			}
			late[kind].(map[string]any)[pair.Name] = string(p.fill(pair.Value))
		}
		return known
	}
	out := resources{Requests: split("requests", c.Requests), Limits: split("limits", c.Limits)}
	if len(late) > 0 {
		if p.patch == nil {
			p.patch = map[string]any{}
		}
		others, _ := p.patch[list].([]any)
		p.patch[list] = append(others, map[string]any{"name": name, "resources": late})
	}
	return out
}

// settings sets all but the containers.
func (p *pod) settings(g *graph.Pod) error {
	t := p.t
	t.NodeSelector = p.mapping(g.NodeSelector)
	t.Metadata.Labels = p.mapping(g.Labels)
	t.Metadata.Annotations = p.mapping(g.Annotations)
	for _, tol := range g.Tolerations {
		t.Tolerations = append(t.Tolerations, toleration{tol.Key, tol.Operator, p.fill(tol.Value), tol.Effect, tol.Seconds})
	}
	t.Affinity = p.affinity(g.Affinity)
	t.ServiceAccountName = p.fill(g.ServiceAccount)
	t.PriorityClassName = p.fill(g.PriorityClass)
	t.SchedulerName = p.fill(g.Scheduler)
	t.RetryStrategy = p.retry(g.Retry)
	if err := p.cache(g.Cache); err != nil {
		return err
	}
	if len(g.Timeout) > 0 {
		s, err := seconds(g.Timeout, p.where)
		if err != nil {
			return err
		}
		t.ActiveDeadlineSeconds = s
	}
	for _, s := range g.InitContainers {
		t.InitContainers = append(t.InitContainers, p.beside("initContainers", s))
	}
	for _, s := range g.Sidecars {
		t.Sidecars = append(t.Sidecars, p.beside("containers", s))
	}
	return nil
}

// beside turns a container beside the step's own into Argo's, which gives it the mounts of the step's own too. Those that it
// has itself would then be there twice.
func (p *pod) beside(list string, s graph.Sidecar) userContainer {
	if s.OwnMounts {
		return userContainer{Name: s.Name, container: p.container(list, s.Name, &s.Container)}
	}
	c, mirror := s.Container, true
	c.Mounts = nil
	for _, m := range s.Container.Mounts {
		at := func(o graph.Mount) bool { return o.Path == m.Path }
		i := slices.IndexFunc(p.mounts, at)
		if i < 0 || !reflect.DeepEqual(p.mounts[i], m) {
			c.Mounts = append(c.Mounts, m)
		}
		mirror = mirror && (i < 0 || reflect.DeepEqual(p.mounts[i], m))
	}
	if !mirror { // it has something else there
		for _, m := range p.mounts {
			if !slices.ContainsFunc(c.Mounts, func(o graph.Mount) bool { return o.Path == m.Path }) {
				c.Mounts = append(c.Mounts, m)
			}
		}
	}
	return userContainer{Name: s.Name, container: p.container(list, s.Name, &c), MirrorVolumeMounts: mirror}
}

func (p *pod) mapping(pairs []graph.Pair) map[string]text {
	if len(pairs) == 0 {
		return nil
	}
	m := make(map[string]text, len(pairs))
	for _, pair := range pairs {
		m[pair.Name] = p.fill(pair.Value)
	}
	return m
}

func (p *pod) retry(r *graph.Retry) *retryStrategy {
	if r == nil {
		return nil
	}
	out := &retryStrategy{Limit: p.fill(r.Limit), RetryPolicy: r.Policy, Expression: text(r.When)}
	if len(r.Wait) > 0 {
		out.Backoff = &backoff{Duration: p.fill(r.Wait), Factor: r.Factor, MaxDuration: p.fill(r.MaxTime), Cap: p.fill(r.MaxWait)}
	}
	return out
}

// The annotations and the label that tell the cache how old a result may be: Kubeflow Pipelines', and Argosy's own.
const (
	staleness = "pipelines.kubeflow.org/max_cache_staleness"
	caching   = "pipelines.kubeflow.org/enable_caching"
	cacheKey  = "argosy.dev/cache-key"
)

// note returns the notes with one more.
func note(notes map[string]text, key, value string) map[string]text {
	notes = maps.Clone(notes)
	if notes == nil {
		notes = map[string]text{}
	}
	notes[key] = text(value)
	return notes
}

func (p *pod) cache(c *graph.Cache) error {
	if c == nil {
		return nil
	}
	if c.Off {
		p.t.Metadata.Annotations = note(p.t.Metadata.Annotations, staleness, "P0D")
		p.t.Metadata.Labels = note(p.t.Metadata.Labels, caching, "false")
		return nil
	}
	if c.MaxAge != "" {
		d, err := time.ParseDuration(c.MaxAge)
		if err != nil {
			return fmt.Errorf("the age of the cache: %w", err)
		}
		p.t.Metadata.Annotations = note(p.t.Metadata.Annotations, staleness, fmt.Sprintf("PT%dS", int64(d/time.Second)))
	}
	if len(c.Key) > 0 {
		p.t.Metadata.Annotations = note(p.t.Metadata.Annotations, cacheKey, string(p.fill(c.Key)))
	}
	return nil
}

func (p *pod) affinity(a *graph.Affinity) *affinity {
	if a == nil {
		return nil
	}
	out := &affinity{}
	if len(a.Nodes)+len(a.PreferNodes) > 0 {
		out.Nodes = &nodeAffinity{}
		if len(a.Nodes) > 0 {
			out.Nodes.Required = &nodeSelector{}
		}
		for _, t := range a.Nodes {
			out.Nodes.Required.Terms = append(out.Nodes.Required.Terms, p.labels(t.Labels))
		}
		for _, t := range a.PreferNodes {
			out.Nodes.Preferred = append(out.Nodes.Preferred, weighedNodeTerm{t.Weight, p.labels(t.Labels)})
		}
	}
	out.Pods = p.podAffinity(a.Pods, a.PreferPods)
	out.Avoid = p.podAffinity(a.AvoidPods, a.ShunPods)
	return out
}

func (p *pod) podAffinity(must, wish []graph.PodTerm) *podAffinity {
	if len(must)+len(wish) == 0 {
		return nil
	}
	out := &podAffinity{}
	for _, t := range must {
		out.Required = append(out.Required, podTerm{p.labels(t.Labels), t.Topology})
	}
	for _, t := range wish {
		out.Preferred = append(out.Preferred, weighedPodTerm{t.Weight, podTerm{p.labels(t.Labels), t.Topology}})
	}
	return out
}

func (p *pod) labels(rs []graph.Requirement) labelTerm {
	var t labelTerm
	for _, r := range rs {
		t.Expressions = append(t.Expressions, requirement{r.Key, r.Operator, all(r.Values, p.fill)})
	}
	return t
}

// seconds writes a duration as a number of seconds: now, or as an expression for when it is known.
func seconds(d graph.Text, where func(graph.Ref) source) (any, error) {
	if s, ok := d.Constant(); ok {
		t, err := time.ParseDuration(s)
		if err != nil {
			return nil, fmt.Errorf("the timeout: %w", err)
		}
		return int64(t / time.Second), nil
	}
	return tagged("int(duration(" + operand(d, where) + ").Seconds())"), nil
}

// finish writes the patch of the pod: the user's, and that of resources known late.
func (p *pod) finish(users graph.Text) error {
	if len(p.patch) == 0 {
		p.t.PodSpecPatch = p.fill(users)
		return nil
	}
	if len(users) > 0 {
		more, err := users.Object()
		if err != nil {
			return fmt.Errorf("the patch of the pod must be a JSON object, since resources are values too: %w", err)
		}
		merge(p.patch, more)
	}
	patch, err := users.Fill(p.patch, func(r graph.Ref) string { return string(p.fill(graph.Text{{Ref: &r}})) })
	p.t.PodSpecPatch = text(patch)
	return err
}

// merge puts what is in more into m, lists by the names of their elements.
func merge(m, more map[string]any) {
	for key, v := range more {
		switch v := v.(type) {
		case map[string]any:
			if inner, ok := m[key].(map[string]any); ok {
				merge(inner, v)
				continue
			}
		case []any:
			if list, ok := m[key].([]any); ok {
				m[key] = mergeLists(list, v)
				continue
			}
		}
		m[key] = v
	}
}

func mergeLists(list, more []any) []any {
	for _, element := range more {
		e, ok := element.(map[string]any)
		i := slices.IndexFunc(list, func(o any) bool {
			other, isMap := o.(map[string]any)
			return ok && isMap && e["name"] != nil && other["name"] == e["name"]
		})
		if i < 0 {
			list = append(list, element)
			continue
		}
		merge(list[i].(map[string]any), e)
	}
	return list
}
