package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// step writes a step that runs a container, and its outputs.
func (w steps) step(p *place) {
	c := p.Container
	inline, at := w.files(c)
	artifacts := slices.Clone(c.Artifacts)
	artifacts = slices.DeleteFunc(artifacts, func(a graph.Artifact) bool { return w.isOutput(p.Name, a) })
	options := slices.Concat(w.after(p), w.containerOptions(c), at, w.podOptions(p.Node))
	call := fmt.Sprintf("dsl.Run(p, %q, %s", p.Name, w.container(c, artifacts, inline))
	if c.Resource != nil {
		call = fmt.Sprintf("dsl.Manage(p, %q, %s", p.Name, w.resource(c.Resource))
	}
	for _, o := range options {
		call += ",\n" + o
	}
	if comment := describe(c); comment != "" {
		w.printf("%s\n", comment)
	}
	w.define(variable{sub: w.in.name, step: p.Name}, call+")")
	step := w.vars[variable{sub: w.in.name, step: p.Name}].name
	for _, o := range c.Outputs {
		v := variable{sub: w.in.name, step: p.Name, output: o.Name}
		goType := strings.TrimPrefix(w.vars[v].goType, "dsl.Value")
		code := fmt.Sprintf("dsl.Output%s(%s, %q, %q", goType, step, o.Name, o.Path)
		if c.Resource != nil {
			code = fmt.Sprintf("dsl.FieldOutput%s(%s, %q, %q", goType, step, o.Name, o.JSONPath)
		}
		if o.Default != nil {
			code += ", dsl.Default(" + literal(*o.Default) + ")"
		}
		w.define(v, code+")")
	}
	for _, a := range c.Artifacts {
		if w.isOutput(p.Name, a) {
			v := variable{sub: w.in.name, step: p.Name, output: a.Name, file: true}
			goType := strings.TrimPrefix(w.vars[v].goType, "dsl.File")
			w.define(v, fmt.Sprintf("dsl.OutputFile%s(%s, %q, %q)", goType, step, a.Name, a.Path))
		}
	}
}

// resource writes a dsl.Resource.
func (w steps) resource(r *graph.Resource) string {
	var b strings.Builder
	field := func(format string, args ...any) { fmt.Fprintf(&b, format+",\n", args...) }
	field("Action: %q", r.Action)
	if r.MergeStrategy != "" {
		field("MergeStrategy: %q", r.MergeStrategy)
	}
	field("Manifest: %s", w.value(r.Manifest))
	if len(r.SuccessCondition) > 0 {
		field("SuccessCondition: %s", w.value(r.SuccessCondition))
	}
	if len(r.FailureCondition) > 0 {
		field("FailureCondition: %s", w.value(r.FailureCondition))
	}
	if len(r.Flags) > 0 {
		parts := make([]string, len(r.Flags))
		for i, flag := range r.Flags {
			parts[i] = w.word(flag)
		}
		field("Flags: dsl.Args(%s)", lines(parts))
	}
	if r.Owned {
		field("Owned: true")
	}
	return "dsl.Resource{\n" + b.String() + "}"
}

// isOutput reports whether other steps use an artifact or its kind is stated.
func (w steps) isOutput(step string, a graph.Artifact) bool {
	d := w.vars[variable{sub: w.in.name, step: step, output: a.Name, file: true}]
	return !a.Optional && (a.Kind != "" || d != nil && d.used)
}

// kept are the artifacts with a stated kind.
func kept(n graph.Node) []graph.Artifact {
	return slices.DeleteFunc(slices.Clone(n.Container.Artifacts), func(a graph.Artifact) bool { return a.Kind == "" || a.Optional })
}

// describe says of a step that runs a function of a program what that means.
func describe(c *graph.Container) string {
	if len(c.Command) != 4 {
		return ""
	}
	if word, _ := c.Command[1].Constant(); word != "argosy-func" {
		return ""
	}
	name, _ := c.Command[3].Constant()
	if !typeName.MatchString(camel(name)) {
		return ""
	}
	return fmt.Sprintf("// The Go function %s, whose program the image holds; the package does not hold its source.", camel(name))
}

// container writes a dsl.Container.
func (w steps) container(c *graph.Container, artifacts []graph.Artifact, inline map[string]string) string {
	words := func(texts []graph.Text) string {
		parts := make([]string, len(texts))
		for i, t := range texts {
			parts[i] = w.wordWith(t, inline)
		}
		return "dsl.Args(" + lines(parts) + ")"
	}
	if source, ok := c.Source.Constant(); ok && source != "" && len(c.Command) == 1 && c.ImagePullPolicy == "" && len(c.WorkingDir)+len(c.Env)+len(artifacts) == 0 {
		if interpreter, ok := c.Command[0].Constant(); ok {
			parts := []string{w.value(c.Image), literal(interpreter), literal(source)}
			for _, t := range c.Args {
				parts = append(parts, w.wordWith(t, inline))
			}
			return "dsl.Script(" + strings.Join(parts, ", ") + ")"
		}
	}
	var b strings.Builder
	field := func(format string, args ...any) { fmt.Fprintf(&b, format+",\n", args...) }
	field("Image: %s", w.value(c.Image))
	if c.ImagePullPolicy != "" {
		field("ImagePullPolicy: %q", c.ImagePullPolicy)
	}
	if len(c.Command) > 0 {
		field("Command: %s", words(c.Command))
	}
	if len(c.Source) > 0 {
		field("Source: %s", w.value(c.Source))
	}
	if len(c.Args) > 0 {
		field("Args: %s", words(c.Args))
	}
	if len(c.WorkingDir) > 0 {
		field("WorkingDir: %s", w.value(c.WorkingDir))
	}
	if len(c.Env) > 0 {
		parts := make([]string, len(c.Env))
		for i, e := range c.Env {
			parts[i] = fmt.Sprintf("%q: %s", e.Name, w.variableOf(e, inline))
		}
		field("Env: dsl.Env{%s}", lines(parts))
	}
	if len(artifacts) > 0 {
		parts := make([]string, len(artifacts))
		for i, a := range artifacts {
			parts[i] = fmt.Sprintf("{Name: %q, Path: %q", a.Name, a.Path)
			if a.Optional {
				parts[i] += ", Optional: true"
			}
			parts[i] += "}"
		}
		field("Artifacts: []dsl.Artifact{%s}", lines(parts))
	}
	return "dsl.Container{\n" + b.String() + "}"
}

// variableOf is the value of an environment variable.
func (w steps) variableOf(e graph.EnvVar, inline map[string]string) string {
	switch {
	case e.FieldRef != "":
		return fmt.Sprintf("dsl.FieldRef(%q)", e.FieldRef)
	case e.Secret != nil:
		return fmt.Sprintf("dsl.Secret(%q, %q)", e.Secret.Name, e.Secret.Key)
	case e.ConfigMap != nil:
		return fmt.Sprintf("dsl.ConfigMap(%q, %q)", e.ConfigMap.Name, e.ConfigMap.Key)
	}
	if parts := cutFiles(e.Value, inline); hasFile(parts) {
		return w.join(parts, true)
	}
	return w.value(e.Value)
}

// containerOptions are those that a step's own container and those beside it have in common.
func (w steps) containerOptions(c *graph.Container) []string {
	var options []string
	if len(c.Requests) > 0 {
		options = append(options, "dsl.Requests("+w.resources(c.Requests)+")")
	}
	limits := slices.Clone(c.Limits)
	var gpus []string
	for _, vendor := range []struct{ resource, name string }{{"nvidia.com/gpu", ""}, {"amd.com/gpu", ", dsl.AMD"}, {"gpu.intel.com/i915", ", dsl.Intel"}} {
		i := slices.IndexFunc(limits, func(p graph.Pair) bool { return p.Name == vendor.resource })
		if i < 0 {
			continue
		}
		if text, ok := limits[i].Value.Constant(); ok && !isText(graph.Integer, text) {
			continue
		}
		gpus = append(gpus, "dsl.GPUs("+w.as(limits[i].Value, "int")+vendor.name+")")
		limits = slices.Delete(limits, i, i+1)
	}
	if len(limits) > 0 {
		options = append(options, "dsl.Limits("+w.resources(limits)+")")
	}
	options = append(options, gpus...)
	for _, from := range c.EnvFrom {
		if from.Secret != "" {
			options = append(options, fmt.Sprintf("dsl.SecretEnv(%q)", from.Secret))
		} else {
			options = append(options, fmt.Sprintf("dsl.ConfigMapEnv(%q)", from.ConfigMap))
		}
	}
	for _, m := range c.Mounts {
		options = append(options, fmt.Sprintf("dsl.Mount(%q, %s)", m.Path, w.volume(m)))
	}
	return options
}

func (w steps) volume(m graph.Mount) string {
	v, code := m.Volume, ""
	switch {
	case v.RunClaim != "":
		code = w.vars[variable{claim: v.RunClaim}].name
	case len(v.Claim) > 0:
		code = "dsl.Claim(" + w.value(v.Claim) + ")"
	case len(v.Secret) > 0:
		code = "dsl.SecretFiles(" + w.value(v.Secret) + ")"
	case len(v.ConfigMap) > 0:
		code = "dsl.ConfigMapFiles(" + w.value(v.ConfigMap) + ")"
	case len(v.HostPath) > 0:
		code = "dsl.HostPath(" + w.value(v.HostPath) + ")"
	case v.Scratch == "memory":
		code = fmt.Sprintf("dsl.SharedMemory(%q)", v.Size)
	default:
		code = fmt.Sprintf("dsl.Scratch(%q)", v.Size)
	}
	if m.ReadOnly {
		code += ".ReadOnly()"
	}
	if len(m.SubPath) > 0 {
		code += ".SubPath(" + w.value(m.SubPath) + ")"
	}
	return code
}

func (w steps) resources(pairs []graph.Pair) string {
	var fields []string
	var others []graph.Pair
	for _, p := range pairs {
		field := map[string]string{"cpu": "CPU", "memory": "Memory", "ephemeral-storage": "Storage"}[p.Name]
		if field == "" {
			others = append(others, p)
			continue
		}
		fields = append(fields, field+": "+w.value(p.Value))
	}
	if len(others) > 0 {
		fields = append(fields, "Others: "+w.pairs(others))
	}
	return "dsl.Resources{" + strings.Join(fields, ", ") + "}"
}
