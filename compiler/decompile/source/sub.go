package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// subCode is what is known of a sub-pipeline's function.
type subCode struct {
	*graph.Sub
	name, inType, outType string
	outFields, outTypes   map[string]string // by the outputs' names
	inTypes               map[string]string
	hasStep, hasAfter     bool
}

func (s *subCode) inputType(name string) string { return s.inTypes[name] }

// nameSubs chooses the names and types of the sub-pipelines' functions.
func (w subPipelines) nameSubs() {
	for i := range w.g.Subs {
		s := &w.g.Subs[i]
		called := exported(s.Name)
		code := &subCode{
			Sub: s, name: w.ids.variable(s.Name), outFields: map[string]string{}, outTypes: map[string]string{}, inTypes: map[string]string{},
		}
		local := strings.ToLower(called[:1]) + called[1:]
		code.inType, code.outType = w.ids.free(local+"In"), w.ids.free(local+"Out")
		fields := newNames(nil)
		w.bodies[s.Name].subIn = map[string]string{}
		for _, in := range s.Inputs {
			w.bodies[s.Name].subIn[in.Name] = fields.exported(in.Name)
			code.inTypes[in.Name] = valueType(in)
		}
		fields = newNames([]string{"Step"})
		for _, o := range s.Outputs {
			code.outFields[o.Name] = fields.exported(o.Name)
			code.outTypes[o.Name] = valueType(o.SubInput)
		}
		w.subs[s.Name] = code
	}
}

// valueType is the type of an input or output. Files of all kinds are alike there.
func valueType(in graph.SubInput) string {
	if in.File {
		return "dsl.File[any]"
	}
	if in.Type == graph.List {
		return "dsl.Value[[]any]"
	}
	return "dsl.Value[" + scalarType(in.Type) + "]"
}

// all writes the functions of the sub-pipelines, those first that others call.
func (w subPipelines) all() {
	const open, done = 1, 2
	state := map[string]int{}
	var order []string
	early := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		state[name] = open
		for _, p := range w.bodies[name].order {
			if p.Call == nil {
				continue
			}
			switch state[p.Call.Sub] {
			case open:
				early[p.Call.Sub] = true
			case 0:
				visit(p.Call.Sub)
			}
		}
		state[name] = done
		order = append(order, name)
	}
	for _, s := range w.g.Subs {
		if state[s.Name] == 0 {
			visit(s.Name)
		}
	}
	for _, name := range order {
		w.subTypes(w.subs[name])
	}
	for _, name := range order {
		if s := w.subs[name]; early[name] {
			w.printf("var %s func%s\n", s.name, s.signature())
		}
	}
	for _, name := range order {
		w.subFunction(w.subs[name], early[name])
	}
}

func (s *subCode) signature() string {
	if s.hasAfter {
		return fmt.Sprintf("(in %s, after ...dsl.Handle) %s", s.inType, s.outType)
	}
	return fmt.Sprintf("(in %s) %s", s.inType, s.outType)
}

func (w subPipelines) subTypes(s *subCode) {
	w.printf("\ntype %s struct {\n", s.inType)
	for _, in := range s.Inputs {
		w.printf("%s\n", structField(w.bodies[s.Name].subIn[in.Name], in.Name, s.inTypes[in.Name]))
	}
	w.printf("}\ntype %s struct {\n", s.outType)
	if s.hasStep {
		w.printf("*dsl.Step\n")
	}
	for _, o := range s.Outputs {
		w.printf("%s\n", structField(s.outFields[o.Name], o.Name, s.outTypes[o.Name]))
	}
	w.printf("}\n")
}

// plainField are names that a field's own name says already.
var plainField = regexp.MustCompile(`^([a-z][a-z0-9]+(-[a-z][a-z0-9]+)*|[a-z])$`)

func structField(field, name, goType string) string {
	if plainField.MatchString(name) && exported(name) == field {
		return field + " " + goType
	}
	return fmt.Sprintf("%s %s `dsl:%q`", field, goType, name)
}

func (w subPipelines) subFunction(s *subCode, early bool) {
	assign := ":="
	if early {
		assign = "="
	}
	after := ""
	if s.hasAfter {
		after = ", after..."
	}
	w.printf("\n%s %s func%s {\nreturn dsl.Sub(p, %q, in, func(in %s) %s {\n", s.name, assign, s.signature(), s.Name, s.inType, s.outType)
	outer := w.in
	w.in = w.bodies[s.Name]
	w.nodes(s.Nodes)
	var fields []string
	for _, o := range s.Outputs {
		code := ""
		if o.File {
			code, _ = w.ref(*o.From[0].Ref)
			code = w.convertFile(code, *o.From[0].Ref, s.outTypes[o.Name])
		} else {
			goType := strings.TrimSuffix(strings.TrimPrefix(s.outTypes[o.Name], "dsl.Value["), "]")
			code = w.as(o.From, goType)
		}
		fields = append(fields, s.outFields[o.Name]+": "+code)
	}
	w.in = outer
	w.printf("return %s{%s}\n}%s)\n}\n", s.outType, lines(fields), after)
}

func (w subPipelines) convertFile(code string, r graph.Ref, goType string) string {
	if _, have := w.ref(r); have != goType {
		return goType + "(" + code + ")"
	}
	return code
}

// call writes the call of a sub-pipeline.
func (w subPipelines) call(p *place) string {
	s := w.subs[p.Call.Sub]
	var fields []string
	for _, a := range p.Call.Args {
		i := slices.IndexFunc(s.Inputs, func(in graph.SubInput) bool { return in.Name == a.Name })
		if i < 0 {
			continue
		}
		goType, code := s.inTypes[a.Name], ""
		switch {
		case a.Import != nil:
			code = w.imported(a.Import, "any")
		case s.Inputs[i].File:
			code, _ = w.ref(*a.Value[0].Ref)
			code = w.convertFile(code, *a.Value[0].Ref, goType)
		default:
			code = w.as(a.Value, strings.TrimSuffix(strings.TrimPrefix(goType, "dsl.Value["), "]"))
		}
		fields = append(fields, w.bodies[s.Name].subIn[a.Name]+": "+code)
	}
	call := fmt.Sprintf("%s(%s{%s}", s.name, s.inType, lines(fields))
	for _, h := range w.handles(p) {
		call += ", " + h
	}
	return call + ")"
}
