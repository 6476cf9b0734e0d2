package decompile

import (
	"fmt"
	"strconv"
	"strings"
)

// step writes a container template as a step. It returns its variable and its outputs.
func (d *decompiler) step(name string, t *object, s *scope, after []string) (string, map[string]value) {
	unique := name
	for i := 2; d.steps[unique]; i++ {
		unique = name + "-" + strconv.Itoa(i)
	}
	d.steps[unique] = true
	variable := d.variable(unique)
	c := t.object("container")
	if c == nil {
		t.fault("it runs no container: of what steps run, only containers can be expressed in the DSL")
		return "", nil
	}
	t.get("name")
	after = append(after, d.pending...)
	d.pending = nil
	code, options := d.container(c, s, d.volumes(t, s))
	artifacts, lines, outputs := d.outputs(t.object("outputs"), variable)
	if artifacts != "" {
		code += "Artifacts: []dsl.Artifact{" + artifacts + "},\n"
	}
	options = append(options, d.options(t, s)...)
	for i, h := range after {
		d.use(h)
		if i == 0 {
			options = append(options, "dsl.After("+strings.Join(after, ", ")+")")
		}
	}
	t.get("inputs") // they are in the scope already
	t.finish()
	call := fmt.Sprintf("dsl.Run(p, %q, dsl.Container{\n%s}", unique, code)
	for _, o := range options {
		call += ",\n" + o
	}
	if len(lines) > 0 {
		d.uses[variable] = true
	}
	d.out.WriteString(d.define(variable, call+")", "*dsl.Step"))
	for _, l := range lines {
		d.out.WriteString(l)
	}
	if d.firstStep == "" {
		d.firstStep = variable
	}
	return variable, outputs
}

// outputs reads what a container leaves.
func (d *decompiler) outputs(o *object, step string) (artifacts string, lines []string, values map[string]value) {
	values = map[string]value{}
	if o == nil {
		return "", nil, values
	}
	for _, p := range o.list("parameters") {
		name, from := p.text("name"), p.object("valueFrom")
		if from == nil || !from.has("path") {
			p.fault("an output that is no file cannot be expressed in the DSL")
			continue
		}
		variable := d.variable(step + " " + name)
		kind := d.kind(variable, "string")
		code := fmt.Sprintf("dsl.Output[%s](%s, %q, %q", kind, step, name, from.text("path"))
		if def := from.get("default"); def != nil {
			code += ", dsl.Default(" + literal(def.Value) + ")"
		}
		from.finish()
		p.finish()
		lines = append(lines, d.define(variable, code+")", "dsl.Value["+kind+"]"))
		values[name] = value{code: variable, kind: kind, variable: variable}
	}
	var list []string
	for _, a := range o.list("artifacts") {
		code := fmt.Sprintf("{Name: %q, Path: %q", a.text("name"), a.text("path"))
		if a.text("optional") == "true" {
			code += ", Optional: true"
		}
		a.finish()
		list = append(list, code+"}")
	}
	o.finish()
	return strings.Join(list, ", "), lines, values
}

// container writes the fields of a dsl.Container, and the options for the rest.
func (d *decompiler) container(c *object, s *scope, volumes map[string]string) (code string, options []string) {
	here := &scope{inputs: s.inputs, outputs: s.outputs, at: c.node, path: c.path}
	var b strings.Builder
	c.get("name")
	fmt.Fprintf(&b, "Image: %s,\n", d.value(here, c.text("image")))
	if p := c.text("imagePullPolicy"); p != "" {
		fmt.Fprintf(&b, "ImagePullPolicy: %q,\n", p)
	}
	if list := c.texts("command"); list != nil {
		fmt.Fprintf(&b, "Command: %s,\n", d.args(here, list))
	}
	if list := c.texts("args"); list != nil {
		fmt.Fprintf(&b, "Args: %s,\n", d.args(here, list))
	}
	if w := c.text("workingDir"); w != "" {
		fmt.Fprintf(&b, "WorkingDir: %s,\n", d.value(here, w))
	}
	if env := d.env(c, here); env != "" {
		fmt.Fprintf(&b, "Env: dsl.Env{\n%s},\n", env)
	}
	for _, from := range c.list("envFrom") {
		for key, option := range map[string]string{"secretRef": "dsl.SecretEnv", "configMapRef": "dsl.ConfigMapEnv"} {
			if ref := from.object(key); ref != nil {
				options = append(options, fmt.Sprintf("%s(%q)", option, ref.text("name")))
				ref.finish()
			}
		}
		from.finish()
	}
	if r := c.object("resources"); r != nil {
		for _, kind := range []struct{ key, option string }{{"requests", "dsl.Requests"}, {"limits", "dsl.Limits"}} {
			if pairs := r.pairs(kind.key); len(pairs) > 0 {
				options = append(options, kind.option+"("+d.resources(here, pairs)+")")
			}
		}
		r.finish()
	}
	options = append(options, d.mounts(c, here, volumes)...)
	if c.text("mirrorVolumeMounts") == "false" {
		c.fault("mirrorVolumeMounts: false cannot be expressed in the DSL: containers beside a step see its volumes")
	}
	c.finish()
	return b.String(), options
}

func (d *decompiler) env(c *object, s *scope) string {
	var b strings.Builder
	for _, e := range c.list("env") {
		name, from := e.text("name"), e.object("valueFrom")
		code := d.written(d.pieces(s, e.text("value"), true))
		if from != nil {
			code = d.envSource(from)
		}
		e.finish()
		fmt.Fprintf(&b, "%q: %s,\n", name, code)
	}
	return b.String()
}

func (d *decompiler) envSource(from *object) string {
	code := ""
	for _, ref := range []struct{ key, option string }{{"secretKeyRef", "dsl.Secret"}, {"configMapKeyRef", "dsl.ConfigMap"}} {
		if r := from.object(ref.key); r != nil {
			code = fmt.Sprintf("%s(%q, %q)", ref.option, r.text("name"), r.text("key"))
			r.finish()
		}
	}
	if r := from.object("fieldRef"); r != nil {
		code = fmt.Sprintf("dsl.FieldRef(%q)", r.text("fieldPath"))
		if v := r.text("apiVersion"); v != "" && v != "v1" {
			r.fault("apiVersion %s cannot be expressed in the DSL", v)
		}
		r.finish()
	}
	from.finish()
	return code
}

func (d *decompiler) resources(s *scope, pairs [][2]string) string {
	var fields []string
	var others [][2]string
	for _, p := range pairs {
		field := map[string]string{"cpu": "CPU", "memory": "Memory", "ephemeral-storage": "Storage"}[p[0]]
		if field == "" {
			others = append(others, p)
			continue
		}
		fields = append(fields, field+": "+d.value(s, p[1]))
	}
	if len(others) > 0 {
		fields = append(fields, "Others: "+d.valueMap(s, others))
	}
	return "dsl.Resources{" + strings.Join(fields, ", ") + "}"
}

// volumes are those of a pod as Go, by their names.
func (d *decompiler) volumes(t *object, s *scope) map[string]string {
	here := &scope{inputs: s.inputs, outputs: s.outputs, at: t.node, path: t.path}
	volumes := map[string]string{}
	for name, variable := range d.claims {
		volumes[name] = variable
	}
	for _, v := range t.list("volumes") {
		name := v.text("name")
		for _, kind := range []struct{ key, field, option string }{
			{"persistentVolumeClaim", "claimName", "dsl.Claim"},
			{"secret", "secretName", "dsl.SecretFiles"},
			{"configMap", "name", "dsl.ConfigMapFiles"},
			{"hostPath", "path", "dsl.HostPath"},
		} {
			if source := v.object(kind.key); source != nil {
				volumes[name] = kind.option + "(" + d.value(here, source.text(kind.field)) + ")"
				source.finish()
			}
		}
		if n := v.node; volumes[name] == "" {
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == "emptyDir" {
					volumes[name] = d.scratch(&object{node: n.Content[i+1], path: v.path + ".emptyDir", all: d})
					v.read = append(v.read, "emptyDir")
				}
			}
		}
		v.finish()
	}
	return volumes
}

func (d *decompiler) scratch(e *object) string {
	option, size := "dsl.Scratch", e.text("sizeLimit")
	switch m := e.text("medium"); m {
	case "":
	case "Memory":
		option = "dsl.SharedMemory"
	default:
		e.fault("medium %s cannot be expressed in the DSL", m)
	}
	e.finish()
	return fmt.Sprintf("%s(%q)", option, size)
}

func (d *decompiler) mounts(c *object, s *scope, volumes map[string]string) []string {
	var options []string
	for _, m := range c.list("volumeMounts") {
		volume, ok := volumes[m.text("name")]
		if !ok {
			m.fault("its volume is not one of the template's, which the DSL needs")
			continue
		}
		d.use(volume)
		if m.text("readOnly") == "true" {
			volume += ".ReadOnly()"
		}
		if sub := m.text("subPath"); sub != "" {
			volume += ".SubPath(" + d.value(s, sub) + ")"
		}
		options = append(options, fmt.Sprintf("dsl.Mount(%q, %s)", m.text("mountPath"), volume))
		m.finish()
	}
	return options
}
