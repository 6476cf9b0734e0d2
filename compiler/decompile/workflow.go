package decompile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// The annotations that the compiler writes by itself, or that only say who compiled when.
var ownAnnotations = []string{
	"pipelines.kubeflow.org/pipeline_spec", "argosy.dev/sdk_version", "pipelines.kubeflow.org/kfp_sdk_version", "pipelines.kubeflow.org/pipeline_compilation_time",
}

// ownLabels are those of Kubeflow Pipelines' compiler.
var ownLabels = []string{"pipelines.kubeflow.org/kfp_sdk_version"}

// spec is what the annotation pipeline_spec says.
type spec struct {
	Name, Description string
	Inputs            []struct{ Name, Type, Description string }
}

// workflow writes the function of the pipeline and returns its name.
func (d *decompiler) workflow(wf *object) string {
	if k := wf.text("kind"); k != "Workflow" {
		wf.fault("it is of kind %q: it must be a Workflow", k)
		return ""
	}
	wf.get("apiVersion")
	var about spec
	var options []string
	name := d.metadata(wf.object("metadata"), &about, &options)
	s := wf.object("spec")
	wf.get("status")
	wf.finish()
	if s == nil {
		wf.fault("it has no spec")
		return ""
	}
	for _, t := range s.list("templates") {
		d.templates[t.text("name")] = t
	}
	options = append(d.settings(s), options...)
	if about.Description != "" {
		options = append([]string{"dsl.Description(" + literal(about.Description) + ")"}, options...)
	}
	function := d.identifier(name + " pipeline")
	d.used["p"], d.used["dsl"], d.used["json"], d.used["time"], d.used["compiler"], d.used["object"] = true, true, true, true, true, true

	// Written twice: the first time tells which variables are used, where, and with which types.
	var params, claims []string
	entry, exit := s.text("entrypoint"), s.text("onExit")
	arguments, claimList := s.object("arguments"), s.list("volumeClaimTemplates")
	s.finish()
	faults := len(d.faults)
	first := maps.Clone(d.used)
	body := ""
	for range 2 {
		d.used, d.steps, d.declared, d.faults = maps.Clone(first), map[string]bool{}, nil, d.faults[:faults]
		d.defined, d.around, d.closures = map[string][]int{}, nil, 0
		params, claims = d.parameters(arguments, about), d.newClaims(claimList)
		d.out.Reset()
		d.root(entry, exit)
		body = d.out.String()
	}
	d.out.Reset()
	fmt.Fprintf(&d.out, "// %s is the pipeline %s.\nfunc %s() *dsl.Pipeline {\n", function, strings.Join(strings.Fields(name), " "), function)
	fmt.Fprintf(&d.out, "p := dsl.New(%s)\n", strings.Join(append([]string{literal(name)}, options...), ",\n"))
	d.out.WriteString(strings.Join(append(params, claims...), ""))
	for _, line := range d.declared {
		d.out.WriteString(line)
	}
	d.out.WriteString("\n" + body + "return p\n}\n")
	return function
}

func (d *decompiler) metadata(m *object, about *spec, options *[]string) string {
	if m == nil {
		return "pipeline"
	}
	name := strings.TrimSuffix(m.text("generateName"), "-")
	if n := m.text("name"); n != "" {
		name = n
	}
	m.get("namespace")
	var annotations, labels [][2]string
	for _, a := range m.pairs("annotations") {
		if a[0] == ownAnnotations[0] && json.Unmarshal([]byte(a[1]), about) == nil && about.Name != "" {
			name = about.Name
		}
		if !slices.Contains(ownAnnotations, a[0]) {
			annotations = append(annotations, a)
		}
	}
	for _, l := range m.pairs("labels") {
		if !slices.Contains(ownLabels, l[0]) {
			labels = append(labels, l)
		}
	}
	m.finish()
	s := &scope{at: m.node, path: m.path}
	*options = append(*options, d.mapping("dsl.Labels", s, labels)...)
	*options = append(*options, d.mapping("dsl.Annotations", s, annotations)...)
	if name == "" {
		name = "pipeline"
	}
	return name
}

// mapping writes an option that takes a mapping; none when there is nothing in it.
func (d *decompiler) mapping(option string, s *scope, pairs [][2]string) []string {
	if len(pairs) == 0 {
		return nil
	}
	return []string{option + "(" + d.valueMap(s, pairs) + ")"}
}

func (d *decompiler) valueMap(s *scope, pairs [][2]string) string {
	var b strings.Builder
	b.WriteString("map[string]dsl.Value[string]{")
	for i, p := range pairs {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q: %s", p[0], d.value(s, p[1]))
	}
	return b.String() + "}"
}

func (d *decompiler) settings(s *object) []string {
	var options []string
	if a := s.text("serviceAccountName"); a != "" && a != "pipeline-runner" {
		options = append(options, fmt.Sprintf("dsl.ServiceAccount(dsl.Lit(%q))", a))
	}
	if n := s.number("parallelism"); n != "" && n != "0" {
		options = append(options, "dsl.Parallelism("+n+")")
	}
	if n := s.number("activeDeadlineSeconds"); n != "" {
		options = append(options, "dsl.Timeout(dsl.Lit("+n+" * time.Second))")
	}
	if ttl := s.object("ttlStrategy"); ttl != nil {
		times := [2]string{"0", "0"}
		for i, key := range []string{"secondsAfterSuccess", "secondsAfterFailure"} {
			if n := ttl.number(key); n != "" {
				times[i] = n + "*time.Second"
			}
		}
		ttl.finish()
		options = append(options, fmt.Sprintf("dsl.TTL(%s, %s)", times[0], times[1]))
	}
	var secrets []string
	for _, secret := range s.list("imagePullSecrets") {
		secrets = append(secrets, strconv.Quote(secret.text("name")))
		secret.finish()
	}
	if len(secrets) > 0 {
		options = append(options, "dsl.ImagePullSecrets("+strings.Join(secrets, ", ")+")")
	}
	return options
}

// parameters declares the workflow's parameters.
func (d *decompiler) parameters(arguments *object, about spec) []string {
	d.params = map[string]value{}
	if arguments == nil {
		return nil
	}
	var lines []string
	for _, p := range arguments.list("parameters") {
		name, kind, help := p.text("name"), "String", p.text("description")
		for _, input := range about.Inputs {
			if input.Name == name {
				kind = input.Type
				if help == "" {
					help = input.Description
				}
			}
		}
		code, goType := constant(kind, p.text("value"))
		call := fmt.Sprintf("dsl.Param(p, %q, %s", name, code)
		if !p.has("value") {
			goType = map[string]string{"Integer": "int", "Float": "float64", "Bool": "bool", "JsonArray": "json.RawMessage", "JsonObject": "object"}[kind]
			if goType == "" {
				goType = "string"
			}
			call = fmt.Sprintf("dsl.Required[%s](p, %q", goType, name)
		}
		if help != "" {
			call += ", dsl.Help(" + literal(help) + ")"
		}
		if choices := p.texts("enum"); len(choices) > 0 {
			for i, c := range choices {
				if choices[i], _ = constant(kind, c); kind == "String" {
					choices[i] = literal(c)
				}
			}
			call += ", dsl.Choices(" + strings.Join(choices, ", ") + ")"
		}
		p.finish()
		v := d.variable(name)
		d.params[name] = value{code: v, kind: goType, variable: v}
		lines = append(lines, d.define(v, call+")", ""))
	}
	arguments.finish()
	return lines
}

func (d *decompiler) newClaims(list []*object) []string {
	d.claims = map[string]string{}
	var lines []string
	for _, c := range list {
		metadata, s := c.object("metadata"), c.object("spec")
		if metadata == nil || s == nil {
			c.fault("it has no metadata or no spec")
			continue
		}
		name, options := metadata.text("name"), ""
		if class := s.text("storageClassName"); class != "" {
			options += fmt.Sprintf(", dsl.StorageClass(%q)", class)
		}
		switch modes := s.texts("accessModes"); {
		case slices.Equal(modes, []string{"ReadWriteMany"}):
			options += ", dsl.ReadWriteMany()"
		case !slices.Equal(modes, []string{"ReadWriteOnce"}):
			s.fault("access modes %v cannot be expressed in the DSL", modes)
		}
		size := ""
		if r := s.object("resources"); r != nil {
			if requests := r.object("requests"); requests != nil {
				size = requests.text("storage")
				requests.finish()
			}
			r.finish()
		}
		metadata.finish()
		s.finish()
		c.finish()
		v := d.variable(name)
		d.claims[name] = v
		lines = append(lines, d.define(v, fmt.Sprintf("p.NewClaim(%q, %q%s)", name, size, options), ""))
	}
	return lines
}

// root writes the steps of the entry point and of the exit handler.
func (d *decompiler) root(entry, exit string) {
	inputs := func() *scope { return &scope{inputs: d.params, outputs: map[string]map[string]value{}} }
	d.template(entry, inputs())
	if exit != "" {
		d.out.WriteString("p.OnExit(func() {\n")
		d.enter()
		d.template(exit, inputs())
		d.leave()
		d.out.WriteString("})\n")
	}
}

// template writes what a template runs, where it is not a task of another.
func (d *decompiler) template(name string, s *scope) {
	t := d.templates[name]
	if t == nil {
		d.faults = append(d.faults, &Fault{Path: "spec", Message: fmt.Sprintf("there is no template %q", name)})
		return
	}
	s.at, s.path = t.node, t.path
	if t.has("dag") || t.has("steps") {
		d.tasks(t, s)
		return
	}
	d.step(name, t, s, nil)
}

// variable makes a name of Go for a name of the workflow.
func (d *decompiler) variable(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	var b strings.Builder
	for i, w := range words {
		if i == 0 {
			b.WriteString(strings.ToLower(w[:1]) + w[1:])
			continue
		}
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return d.free(b.String())
}

// identifier makes the name of an exported function.
func (d *decompiler) identifier(name string) string {
	v := d.variable(name)
	delete(d.used, v)
	return d.free(strings.ToUpper(v[:1]) + v[1:])
}

var keywords = strings.Fields("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var any bool string int error nil true false len cap new make append copy main init")

func (d *decompiler) free(name string) string {
	if name == "" || !unicode.IsLetter([]rune(name)[0]) || !isASCII(name) {
		name = "v" + strings.Map(func(r rune) rune {
			if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
				return r
			}
			return -1
		}, name)
	}
	candidate := name
	for i := 2; d.used[candidate] || slices.Contains(keywords, candidate); i++ {
		candidate = name + strconv.Itoa(i)
	}
	d.used[candidate] = true
	return candidate
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// jsonOf writes a YAML value as JSON, with the digits that its numbers have.
func jsonOf(n *yaml.Node) (string, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	var parts []string
	switch n.Kind {
	case yaml.SequenceNode:
		for _, e := range n.Content {
			part, err := jsonOf(e)
			if err != nil {
				return "", err
			}
			parts = append(parts, part)
		}
		return "[" + strings.Join(parts, ",") + "]", nil
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			part, err := jsonOf(n.Content[i+1])
			if err != nil {
				return "", err
			}
			k, err := json.Marshal(n.Content[i].Value)
			if err != nil {
				return "", err
			}
			parts = append(parts, string(k)+":"+part)
		}
		return "{" + strings.Join(parts, ",") + "}", nil
	}
	if n.Tag == "!!int" || n.Tag == "!!float" {
		if json.Valid([]byte(n.Value)) {
			return n.Value, nil
		}
	}
	var v any = n.Value
	if n.Tag != "!!str" {
		if err := n.Decode(&v); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(v)
	return string(text), err
}
