package decompile

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// step raises a template that runs a container or a script.
func (r steps) step(called string, t *object, s *scope) (graph.Node, outputs) {
	n := graph.Node{Name: r.name(called), Kind: "Container", Container: &graph.Container{}, Pod: &graph.Pod{}}
	out := outputs{params: map[string]graph.Text{}, files: map[string]file{}}
	s = s.within(t)
	t.get("name")
	t.get("inputs")
	c, script := t.object("container"), t.object("script")
	switch {
	case t.has("resource"):
		r.resource(n, t, s, out)
		return n, out
	case c == nil && script == nil:
		r.refuseKind(t)
		return n, out
	case script != nil:
		c = script
	}
	volumes := pods(r).volumesOf(t, s)
	r.container(n.Container, c, s, volumes)
	if script != nil {
		here := s.within(c)
		here.env = map[string]bool{} // Argo's executor reads it
		n.Container.Source = r.text(here, script.text("source"))
		if len(n.Container.Args) > 0 {
			c.fault("a script with args cannot be expressed in the DSL, where a script is given them behind its name")
		}
		if len(n.Container.Command) == 0 {
			c.fault("a script without a command, its interpreter, cannot be expressed in the DSL")
		}
	}
	c.finish()
	r.filesOf(n.Container, t, s)
	r.outputs(n, t, s, out)
	pods(r).pod(n, t, s, volumes)
	t.fits(n)
	if n.Pod.Sidecars == nil && n.Pod.InitContainers == nil && isZero(*n.Pod) {
		n.Pod = nil
	}
	t.finish()
	return n, out
}

func isZero(p graph.Pod) bool {
	text, err := json.Marshal(p)
	return err == nil && string(text) == "{}"
}

// refuseKind says what a template is that the DSL has not.
func (r steps) refuseKind(t *object) {
	for _, kind := range []struct{ key, what string }{
		{"suspend", "a step that waits for somebody"},
		{"http", "a step that asks a web server"},
		{"data", "a step that lists files"},
		{"containerSet", "a step of several containers in an order"},
		{"plugin", "a step of a plugin of Argo's"},
	} {
		for i := 0; i+1 < len(t.node.Content); i += 2 {
			if k := t.node.Content[i]; k.Value == kind.key {
				r.fault(k, joinPath(t.path, kind.key), "%s cannot be expressed in the DSL: its steps run containers, scripts and functions", kind.what)
				return
			}
		}
	}
	t.fault("it runs nothing")
}

// withEnv is a scope in which Kubernetes reads the variables of a container. The empty name stands for all there may be.
func withEnv(s *scope, c *object) *scope {
	inner := *s
	inner.env = map[string]bool{"": c.has("envFrom")}
	for _, e := range c.list("env") {
		inner.env[e.text("name")] = true
	}
	return &inner
}

// container reads the fields that the step's own container and those beside it have in common.
func (r steps) container(out *graph.Container, c *object, s *scope, volumes map[string]graph.Volume) {
	plain := s.within(c)
	plain.env = nil
	here := withEnv(plain, c)
	c.get("name")
	out.Image = r.text(plain, c.text("image"))
	out.ImagePullPolicy = c.word("imagePullPolicy", "Always", "IfNotPresent", "Never")
	for _, text := range c.texts("command") {
		out.Command = append(out.Command, r.text(here, text))
	}
	for _, text := range c.texts("args") {
		out.Args = append(out.Args, r.text(here, text))
	}
	out.WorkingDir = r.optional(plain, c, "workingDir")
	for _, e := range c.list("env") {
		here.env[e.text("name")] = false
	}
	for _, e := range c.list("env") {
		v := r.variable(e, here)
		if value, _ := v.Value.Constant(); v.Name != brace {
			out.Env = append(out.Env, v)
		} else if value != "{" {
			e.fault("the variable %s is one of the compiler's, which holds a {", brace)
		}
		here.env[e.text("name")] = true
	}
	slices.SortStableFunc(out.Env, func(a, b graph.EnvVar) int { return strings.Compare(a.Name, b.Name) })
	r.checkEnv(c, out.Env)
	for _, from := range c.list("envFrom") {
		if ref := from.object("secretRef"); ref != nil {
			out.EnvFrom = append(out.EnvFrom, graph.EnvFrom{Secret: ref.text("name")})
			ref.finish()
		}
		if ref := from.object("configMapRef"); ref != nil {
			out.EnvFrom = append(out.EnvFrom, graph.EnvFrom{ConfigMap: ref.text("name")})
			ref.finish()
		}
		if !from.has("secretRef") && !from.has("configMapRef") {
			from.fault("it names neither a secret nor a config map")
		}
		from.finish()
	}
	if res := c.object("resources"); res != nil {
		out.Requests = r.quantities(plain, res, "requests")
		out.Limits = r.quantities(plain, res, "limits")
		res.finish()
	}
	for _, m := range c.list("volumeMounts") {
		r.mount(out, m, plain, volumes)
	}
}

// checkEnv refuses variables whose order means something: the DSL sorts them by name.
func (r steps) checkEnv(c *object, env []graph.EnvVar) {
	for i, e := range env {
		if i > 0 && env[i-1].Name == e.Name {
			c.fault("the variable %s is set twice", e.Name)
		}
		for _, ref := range e.Value.Refs() {
			if j := slices.IndexFunc(env, func(o graph.EnvVar) bool { return o.Name == ref.Env && ref.Env != "" }); j > i {
				c.fault("the variable %s is made of %s, which comes after it: the DSL sorts variables by name", e.Name, ref.Env)
			}
		}
	}
}

func (r steps) pairs(s *scope, o *object, key string, but ...string) []graph.Pair {
	var pairs []graph.Pair
	for _, p := range o.pairs(key) {
		if slices.Contains(but, p[0]) {
			continue
		}
		pairs = append(pairs, graph.Pair{Name: p[0], Value: r.text(s, p[1])})
	}
	sortPairs(pairs)
	return pairs
}

// quantity is the form of quantities that the DSL takes.
var quantity = regexp.MustCompile(`^([0-9]+\.?[0-9]*|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][0-9]+)?$`)

func (r steps) quantities(s *scope, o *object, key string) []graph.Pair {
	pairs := r.pairs(s, o, key)
	for _, p := range pairs {
		if text, ok := p.Value.Constant(); ok && !quantity.MatchString(text) {
			o.fault("%s of %s is %q: it must be a quantity such as 500m, 2 or 10Gi", key, p.Name, text)
		}
	}
	return pairs
}

func (r steps) variable(e *object, s *scope) graph.EnvVar {
	out := graph.EnvVar{Name: e.text("name")}
	from := e.object("valueFrom")
	if from == nil {
		out.Value = r.text(s.within(e), e.text("value"))
		e.finish()
		return out
	}
	key := func(o *object) *graph.KeyRef {
		k := &graph.KeyRef{Name: o.text("name"), Key: o.text("key")}
		o.finish()
		return k
	}
	if ref := from.object("secretKeyRef"); ref != nil {
		out.Secret = key(ref)
	}
	if ref := from.object("configMapKeyRef"); ref != nil {
		out.ConfigMap = key(ref)
	}
	if ref := from.object("fieldRef"); ref != nil {
		out.FieldRef = ref.text("fieldPath")
		if v := ref.text("apiVersion"); v != "" && v != "v1" {
			ref.fault("apiVersion %s cannot be expressed in the DSL", v)
		}
		if out.FieldRef == "" {
			ref.fault("it names no field")
		}
		ref.finish()
	}
	from.finish()
	e.finish()
	return out
}

func (r steps) mount(out *graph.Container, m *object, s *scope, volumes map[string]graph.Volume) {
	volume, ok := volumes[m.text("name")]
	if !ok {
		m.fault("its volume is not one of the template's or the workflow's, which the DSL needs")
	}
	out.Mounts = append(out.Mounts, graph.Mount{
		Path: m.text("mountPath"), ReadOnly: m.text("readOnly") == "true", SubPath: r.optional(s.within(m), m, "subPath"), Volume: volume,
	})
	m.finish()
}

// outputs reads what a step leaves.
func (r steps) outputs(n graph.Node, t *object, s *scope, out outputs) {
	o := t.object("outputs")
	if o == nil {
		return
	}
	kinds := r.kinds(n.Name, t)
	c := n.Container
	for _, p := range o.list("parameters") {
		g := graph.Output{Name: p.text("name")}
		g.Type = kinds[g.Name]
		from := p.object("valueFrom")
		if from == nil || !from.has("path") {
			p.fault("an output that is not a file cannot be expressed in the DSL")
			continue
		}
		if g.Path = from.text("path"); !absolute(g.Path) {
			from.fault("its path is %q: it must be an absolute path in the container", g.Path)
		}
		if text := from.text("default"); from.given("default") {
			constant, ok := variables(text, map[string]bool{}).Constant()
			if !ok {
				p.fault("a default with variables cannot be expressed in the DSL")
			}
			g.Default = &constant
		}
		from.finish()
		p.finish()
		c.Outputs = append(c.Outputs, g)
		out.params[g.Name] = refText(graph.Ref{Step: n.Name, Output: g.Name})
	}
	for _, a := range o.list("artifacts") {
		g := graph.Artifact{Name: a.text("name"), Path: a.text("path"), Optional: a.text("optional") == "true"}
		if g.Kind = kinds[g.Name]; !absolute(g.Path) {
			a.fault("its path is %q: it must be an absolute path in the container", g.Path)
		}
		again := r.store(t, a, s.within(a), c.Artifacts, g)
		a.finish()
		if again {
			continue
		}
		c.Artifacts = append(c.Artifacts, g)
		ref := graph.Ref{Step: n.Name, Output: g.Name, File: true}
		out.files[g.Name] = file{ref: &ref, optional: g.Optional}
		r.mayBeCollected(ref)
	}
	o.finish()
}

// componentSpec is what the annotation of the same name says of a step.
type componentSpec struct {
	Name    string
	Outputs []struct {
		Name string
		Type any
	}
}

const componentAnnotation = "pipelines.kubeflow.org/component_spec"

// kinds are the types of a step's outputs, where the step says them. Kubeflow Pipelines' SDKs put the step's name before
// those of the outputs.
func (r steps) kinds(step string, t *object) map[string]graph.Type {
	kinds := map[string]graph.Type{}
	for _, a := range t.object("metadata").pairs("annotations") {
		var spec componentSpec
		if a[0] != componentAnnotation || json.Unmarshal([]byte(a[1]), &spec) != nil {
			continue
		}
		for _, o := range spec.Outputs {
			word, ok := o.Type.(string)
			if !ok {
				continue
			}
			kinds[o.Name] = graph.Type(word)
			kinds[step+"-"+slug(o.Name)] = graph.Type(word)
		}
	}
	for name, kind := range kinds {
		if !typeName.MatchString(string(kind)) {
			delete(kinds, name)
		}
	}
	return kinds
}

func slug(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') }), "-")
}
