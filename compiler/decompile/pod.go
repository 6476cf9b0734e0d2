package decompile

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// cacheKey is the annotation of steps with a cache key. Earlier compilers had Argo keep their outputs, in cacheConfigMap.
const (
	cacheKey       = "argosy.dev/cache-key"
	cacheConfigMap = "argosy-cache"
)

// options writes what a template asks of the cluster.
func (d *decompiler) options(t *object, s *scope) []string {
	here := &scope{inputs: s.inputs, outputs: s.outputs, at: t.node, path: t.path}
	var options []string
	add := func(format string, args ...any) { options = append(options, fmt.Sprintf(format, args...)) }
	if m := t.object("metadata"); m != nil {
		options = append(options, d.mapping("dsl.Labels", here, m.pairs("labels"))...)
		var annotations [][2]string
		for _, a := range m.pairs("annotations") {
			if a[0] == cacheKey {
				add("dsl.CacheKey(%s)", d.value(here, a[1]))
				continue
			}
			annotations = append(annotations, a)
		}
		options = append(options, d.mapping("dsl.Annotations", here, annotations)...)
		m.finish()
	}
	options = append(options, d.mapping("dsl.NodeSelector", here, t.pairs("nodeSelector"))...)
	for _, tol := range t.list("tolerations") {
		add("dsl.Tolerate(%s)", d.toleration(tol, here))
	}
	if a := t.object("affinity"); a != nil {
		add("dsl.Near(dsl.Affinity{%s})", d.affinity(a, here))
	}
	for _, field := range []struct{ key, option string }{
		{"serviceAccountName", "ServiceAccount"}, {"priorityClassName", "Priority"}, {"schedulerName", "Scheduler"}, {"podSpecPatch", "PodSpecPatch"},
	} {
		if v := t.text(field.key); v != "" {
			add("dsl.%s(%s)", field.option, d.value(here, v))
		}
	}
	if v := t.text("activeDeadlineSeconds"); v != "" {
		add("dsl.Timeout(%s)", d.timeout(t, here, v))
	}
	if r := t.object("retryStrategy"); r != nil {
		add("dsl.Retries(dsl.Retry{%s})", d.retry(r, here))
	}
	if m := t.object("memoize"); m != nil {
		options = append(options, d.memoize(m, here)...)
	}
	for _, kind := range []struct{ key, option string }{{"initContainers", "InitContainer"}, {"sidecars", "Sidecar"}} {
		for _, c := range t.list(kind.key) {
			name := c.text("name")
			code, more := d.container(c, s, nil)
			add("dsl.%s(%s)", kind.option, strings.Join(append([]string{fmt.Sprintf("%q, dsl.Container{\n%s}", name, code)}, more...), ", "))
		}
	}
	return options
}

func (d *decompiler) toleration(t *object, s *scope) string {
	var fields []string
	if k := t.text("key"); k != "" {
		fields = append(fields, fmt.Sprintf("Key: %q", k))
	}
	operator, value := t.text("operator"), t.get("value")
	switch {
	case value != nil:
		fields = append(fields, "Value: "+d.value(s, value.Value))
	case operator != "Exists":
		fields = append(fields, `Value: dsl.Lit("")`)
	}
	if e := t.text("effect"); e != "" {
		fields = append(fields, fmt.Sprintf("Effect: %q", e))
	}
	if n := t.number("tolerationSeconds"); n != "" {
		fields = append(fields, "For: "+n+" * time.Second")
	}
	t.finish()
	return "dsl.Toleration{" + strings.Join(fields, ", ") + "}"
}

// The names that Kubernetes has for what must be and what is wished for.
const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

func (d *decompiler) affinity(a *object, s *scope) string {
	var fields []string
	add := func(name, kind string, terms []string) {
		if len(terms) > 0 {
			fields = append(fields, fmt.Sprintf("%s: []dsl.%s{%s}", name, kind, strings.Join(terms, ", ")))
		}
	}
	if n := a.object("nodeAffinity"); n != nil {
		var must, wish []string
		if r := n.object(required); r != nil {
			for _, term := range r.list("nodeSelectorTerms") {
				must = append(must, "{"+d.requirements(term, s)+"}")
			}
			r.finish()
		}
		for _, w := range n.list(preferred) {
			if term := w.object("preference"); term != nil {
				wish = append(wish, fmt.Sprintf("{Weight: %s, %s}", w.number("weight"), d.requirements(term, s)))
			}
			w.finish()
		}
		n.finish()
		add("Nodes", "NodeTerm", must)
		add("PreferNodes", "NodeTerm", wish)
	}
	for _, kind := range []struct{ key, must, wish string }{{"podAffinity", "Pods", "PreferPods"}, {"podAntiAffinity", "AvoidPods", "ShunPods"}} {
		n := a.object(kind.key)
		if n == nil {
			continue
		}
		var must, wish []string
		for _, term := range n.list(required) {
			must = append(must, "{"+d.podTerm(term, s)+"}")
		}
		for _, w := range n.list(preferred) {
			if term := w.object("podAffinityTerm"); term != nil {
				wish = append(wish, fmt.Sprintf("{Weight: %s, %s}", w.number("weight"), d.podTerm(term, s)))
			}
			w.finish()
		}
		n.finish()
		add(kind.must, "PodTerm", must)
		add(kind.wish, "PodTerm", wish)
	}
	a.finish()
	return strings.Join(fields, ",\n")
}

func (d *decompiler) podTerm(t *object, s *scope) string {
	labels := ""
	if l := t.object("labelSelector"); l != nil {
		labels = d.requirements(l, s) + ", "
	}
	code := fmt.Sprintf("%sTopology: %q", labels, t.text("topologyKey"))
	t.finish()
	return code
}

func (d *decompiler) requirements(t *object, s *scope) string {
	var list []string
	for _, r := range t.list("matchExpressions") {
		code := fmt.Sprintf("{Key: %q, Operator: %q", r.text("key"), r.text("operator"))
		if values := r.texts("values"); len(values) > 0 {
			texts := make([]string, len(values))
			for i, v := range values {
				texts[i] = d.value(s, v)
			}
			code += ", Values: []dsl.Value[string]{" + strings.Join(texts, ", ") + "}"
		}
		r.finish()
		list = append(list, code+"}")
	}
	for _, l := range t.pairs("matchLabels") {
		list = append(list, fmt.Sprintf("{Key: %q, Values: []dsl.Value[string]{%s}}", l[0], d.value(s, l[1])))
	}
	t.finish()
	return "Labels: []dsl.Requirement{" + strings.Join(list, ", ") + "}"
}

// timeout is a number of seconds, or the expression that the compiler writes for a duration that is known late.
func (d *decompiler) timeout(t *object, s *scope, text string) string {
	if _, err := strconv.Atoi(text); err == nil {
		return "dsl.Lit(" + text + " * time.Second)"
	}
	if m := durationCall.FindStringSubmatch(strings.TrimSuffix(strings.TrimPrefix(text, "{{="), "}}")); m != nil {
		if v, ok := d.reference(s, path(m[1])); ok {
			return d.as(v, "time.Duration")
		}
	}
	t.fault("activeDeadlineSeconds: %s cannot be expressed in the DSL", text)
	return "dsl.Lit(time.Second)"
}

// duration is a time as Argo writes it: a number of seconds, or a duration of Go.
func (d *decompiler) duration(s *scope, text string) string {
	if _, err := strconv.Atoi(text); err == nil {
		return "dsl.Lit(" + text + " * time.Second)"
	}
	return d.as(value{kind: "string", pieces: d.pieces(s, text, false)}, "time.Duration")
}

func (d *decompiler) retry(r *object, s *scope) string {
	limit := r.text("limit")
	fields := []string{"Limit: " + d.as(value{kind: "string", pieces: d.pieces(s, limit, false)}, "int")}
	if n, err := strconv.Atoi(limit); err == nil {
		fields[0] = fmt.Sprintf("Limit: dsl.Lit(%d)", n)
	}
	if limit == "" {
		r.fault("a retry without a limit cannot be expressed in the DSL")
	}
	if p := r.text("retryPolicy"); p != "" {
		fields = append(fields, fmt.Sprintf("Policy: %q", p))
	}
	if e := r.text("expression"); e != "" {
		fields = append(fields, "When: "+literal(e))
	}
	if b := r.object("backoff"); b != nil {
		var parts []string
		for _, f := range []struct{ key, field string }{{"duration", "Wait"}, {"cap", "MaxWait"}, {"maxDuration", "MaxTime"}} {
			if v := b.text(f.key); v != "" {
				parts = append(parts, f.field+": "+d.duration(s, v))
			}
		}
		if f := b.number("factor"); f != "" && f != "2" {
			parts = append(parts, "Factor: "+f)
		}
		b.finish()
		fields = append(fields, "Backoff: dsl.Backoff{"+strings.Join(parts, ", ")+"}")
	}
	r.finish()
	return strings.Join(fields, ", ")
}

func (d *decompiler) memoize(m *object, s *scope) []string {
	options := []string{"dsl.CacheKey(" + d.value(s, m.text("key")) + ")"}
	if age := m.text("maxAge"); age != "" && age != "87600h" {
		t, err := time.ParseDuration(age)
		if err != nil {
			m.fault("maxAge: %v", err)
		}
		options = append(options, fmt.Sprintf("dsl.CacheFor(%d * time.Second)", int64(t.Seconds())))
	}
	if c := m.object("cache"); c != nil {
		if name := c.object("configMap"); name != nil {
			if n := name.text("name"); n != cacheConfigMap {
				name.fault("a cache in config map %s cannot be expressed in the DSL: it uses %s", n, cacheConfigMap)
			}
			name.finish()
		}
		c.finish()
	}
	m.finish()
	return options
}
