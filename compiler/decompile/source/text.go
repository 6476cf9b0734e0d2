package source

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// ref is a reference in Go, and its type there.
func (w *writer) ref(r graph.Ref) (code, goType string) {
	switch {
	case r.Env != "":
		return fmt.Sprintf("dsl.EnvOf(%q)", r.Env), "dsl.Value[string]"
	case r.Variable != "":
		return fmt.Sprintf("dsl.Argo(%q)", r.Variable), "dsl.Value[string]"
	case r.Field != "":
		goType := scalarType(r.FieldType)
		return fmt.Sprintf("dsl.Field[%s](%s, %q)", goType, w.vars[variable{loop: r.Loop}].name, r.Field), "dsl.Value[" + goType + "]"
	case r.Param != "" || r.Loop != "":
		d := w.vars[variable{param: r.Param, loop: r.Loop}]
		return d.name, "dsl.Value[" + d.goType + "]"
	case r.Input != "":
		return "in." + w.in.subIn[r.Input], w.subs[w.in.name].inputType(r.Input)
	}
	v, ok := w.variable(r)
	if !ok {
		return "nil", "" // the DSL never records such a graph
	}
	d := w.vars[v]
	code, goType = d.name, d.goType
	p := w.in.places[r.Step]
	switch {
	case p.job != nil:
		code, goType = d.name+".JobName", "dsl.Value[string]"
		switch r.Output {
		case "world-size":
			code, goType = d.name+".WorldSize", "dsl.Value[int]"
		case "environment":
			code = d.name + ".Environment"
		}
	case p.Call != nil:
		sub := w.subs[p.Call.Sub]
		code, goType = d.name+"."+sub.outFields[r.Output], sub.outTypes[r.Output]
	}
	for range r.Collected {
		collect := "dsl.Collect("
		if r.File {
			collect = "dsl.CollectFiles("
		}
		code = collect + code + ")"
		before, inner, _ := strings.Cut(strings.TrimSuffix(goType, "]"), "[")
		goType = before + "[[]" + inner + "]"
	}
	return code, goType
}

// as is a text as a Value of the type.
func (w *writer) as(t graph.Text, goType string) string {
	if text, ok := t.Constant(); ok {
		if goType == "string" {
			return "dsl.Lit(" + literal(text) + ")"
		}
		return w.constantAs(text, goType)
	}
	code, have := w.formatted(t)
	if have != "dsl.Value["+goType+"]" {
		code = "dsl.Value[" + goType + "](" + code + ")"
	}
	return code
}

// constantAs writes a constant as a Value of the type, converted from a string if the constant has another type.
func (w *writer) constantAs(text, goType string) string {
	t := graph.String
	switch goType {
	case "int":
		t = graph.Integer
	case "float64":
		t = graph.Float
	case "bool":
		t = graph.Bool
	case "time.Duration":
		if d, err := time.ParseDuration(text); err == nil && d.String() == text {
			return "dsl.Lit(" + duration(text) + ")"
		}
	}
	switch _, list := composite(goType, text); {
	case t != graph.String && isText(t, text):
		return "dsl.Lit(" + constant(goType, text) + ")"
	case list:
		return "dsl.Lit(" + constant(goType, text) + ")"
	}
	return "dsl.Value[" + goType + "](dsl.Lit(" + literal(text) + "))"
}

// isText says whether a constant of the type, written in Go as it is, becomes the text.
func isText(t graph.Type, text string) bool {
	var out any
	switch t {
	case graph.Integer:
		out = new(int)
	case graph.Float:
		out = new(float64)
	default:
		out = new(bool)
	}
	return decode(text, out) == nil && encode(out) == text
}

// formatted writes a text with values in it as Go.
func (w *writer) formatted(t graph.Text) (code, goType string) {
	if len(t) == 1 && t[0].Ref != nil {
		return w.ref(*t[0].Ref)
	}
	var layout strings.Builder
	var args []string
	for _, p := range t {
		if p.Ref == nil {
			layout.WriteString(strings.ReplaceAll(p.Text, "%", "%%"))
			continue
		}
		layout.WriteString("%v")
		arg, _ := w.ref(*p.Ref)
		args = append(args, arg)
	}
	return "dsl.Sprintf(" + literal(layout.String()) + ", " + strings.Join(args, ", ") + ")", "dsl.Value[string]"
}

// value is a text as a dsl.Value[string].
func (w *writer) value(t graph.Text) string { return w.as(t, "string") }

// word is a text as an argument of dsl.Args.
func (w *writer) word(t graph.Text) string {
	if text, ok := t.Constant(); ok {
		return literal(text)
	}
	code, _ := w.formatted(t)
	return code
}

func (w *writer) pairs(pairs []graph.Pair) string {
	parts := make([]string, len(pairs))
	for i, p := range pairs {
		parts[i] = fmt.Sprintf("%q: %s", p.Name, w.value(p.Value))
	}
	return "map[string]dsl.Value[string]{" + lines(parts) + "}"
}

// lines are parts with commas between them, on lines of their own where they are long.
func lines(parts []string) string {
	one := strings.Join(parts, ", ")
	if len(parts) < 2 || len(one) < 100 && !strings.Contains(one, "\n") {
		return one
	}
	return "\n" + strings.Join(parts, ",\n") + ",\n"
}

// typeParams chooses the types of parameters: of lists by the loops that go through them, of times by their use.
func (w *writer) typeParams() {
	times := map[string]bool{}
	wanted := map[string]string{}
	w.visit(func(n graph.Node) {
		if n.Each != nil && len(n.Each.Items) == 1 && n.Each.Items[0].Ref != nil {
			wanted[n.Each.Items[0].Ref.Param] = "[]" + scalarType(n.Each.Item)
		}
		for _, t := range durations(n) {
			if len(t) == 1 && t[0].Ref != nil {
				times[t[0].Ref.Param] = true
			}
		}
	})
	for _, p := range w.g.Params {
		goType := typeOfConstant(p.Type, p.Default, wanted[p.Name])
		if p.Required && p.Type == graph.List {
			if goType = wanted[p.Name]; goType == "" {
				goType = "[]any"
			}
		}
		if p.Required && p.Type == graph.Object {
			goType = "map[string]any"
		}
		if p.Type == graph.String && times[p.Name] {
			texts := append(slices.Clone(p.Choices), p.Default)
			if p.Required {
				texts = p.Choices
			}
			if !slices.ContainsFunc(texts, func(text string) bool { d, err := time.ParseDuration(text); return err != nil || d.String() != text }) {
				goType = "time.Duration"
			}
		}
		w.paramTypes[p.Name] = goType
		for _, c := range p.Choices {
			if (p.Type == graph.List || p.Type == graph.Object) && constant(goType, c) == literal(c) {
				w.paramTypes[p.Name] = typeOfConstant(p.Type, "", "") // such as hold any text
			}
		}
	}
}

// visit calls f for all nodes, whatever they stand in.
func (w *writer) visit(f func(graph.Node)) {
	var visit func([]graph.Node)
	visit = func(nodes []graph.Node) {
		for _, n := range nodes {
			f(n)
			visit(n.Children())
		}
	}
	visit(w.g.Nodes)
	visit(w.g.Exit)
	for _, s := range w.g.Subs {
		visit(s.Nodes)
	}
}

// durations are the texts of a node that are times.
func durations(n graph.Node) []graph.Text {
	var texts []graph.Text
	if n.Pod != nil {
		texts = append(texts, n.Pod.Timeout)
		if r := n.Pod.Retry; r != nil {
			texts = append(texts, r.Wait, r.MaxWait, r.MaxTime)
		}
	}
	if n.Container != nil && jobOf(n) != nil {
		for _, arg := range n.Container.Args {
			for _, flag := range []string{"--pending-timeout=", "--running-timeout=", "--silence-timeout=", "--ttl-after-finished="} {
				if value, ok := cut(arg, flag); ok {
					texts = append(texts, value)
				}
			}
		}
	}
	return texts
}

// listType is the type of a value; where it is a list, that which a loop over it wants.
func (w *writer) listType(step, output string, t graph.Type) string {
	if t != graph.List {
		return scalarType(t)
	}
	goType := "[]any"
	for _, p := range w.in.order {
		if p.Each == nil || len(p.Each.Items) != 1 {
			continue
		}
		if r := p.Each.Items[0].Ref; r != nil && r.Step == step && r.Output == output && r.Collected == 0 {
			goType = "[]" + scalarType(p.Each.Item)
		}
	}
	return goType
}

// fileType is the K of a file.
func (w *writer) fileType(r graph.Ref, depth int) string {
	const most = 20 // sub-pipelines may call themselves
	p := w.in.places[r.Step]
	switch {
	case r.Input != "" && w.subs[w.in.name] != nil:
		inner := w.subs[w.in.name].inputType(r.Input)
		return strings.TrimSuffix(strings.TrimPrefix(inner, "dsl.File["), "]")
	case p == nil || depth > most:
	case p.Container != nil:
		for _, a := range p.Container.Artifacts {
			if a.Name == r.Output {
				return w.kinds.goType(a.Kind)
			}
		}
	case p.If != nil:
		for _, m := range p.If.Outputs {
			for _, from := range m.From {
				if m.Name == r.Output && from != nil {
					return w.fileType(*from, depth+1)
				}
			}
		}
	case p.Call != nil:
		if goType := w.subs[p.Call.Sub].outTypes[r.Output]; goType != "" {
			return strings.TrimSuffix(strings.TrimPrefix(goType, "dsl.File["), "]")
		}
	}
	return "any"
}
