package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// nodes writes steps and groups in their order.
func (w *writer) nodes(nodes []graph.Node) {
	for _, n := range nodes {
		p := w.in.places[n.Name]
		w.predeclare(p)
		switch {
		case p.job != nil:
			w.define(variable{sub: w.in.name, step: n.Name}, steps{w}.jobStep(p))
		case n.Container != nil:
			steps{w}.step(p)
		case n.Call != nil:
			w.define(variable{sub: w.in.name, step: n.Name}, subPipelines{w}.call(p))
		case n.Each != nil:
			w.each(p)
		case n.If != nil:
			w.condition(p)
		}
	}
}

// predeclare declares the variables that are set in a group and used after it.
func (w *writer) predeclare(p *place) {
	for _, inner := range p.inside {
		w.predeclareOf(inner, p.blocks)
	}
}

func (w *writer) predeclareOf(p *place, outside []string) {
	own := []variable{{}}
	switch {
	case p.job != nil:
	case p.Container != nil:
		for _, o := range p.Container.Outputs {
			own = append(own, variable{output: o.Name})
		}
		for _, a := range p.Container.Artifacts {
			own = append(own, variable{output: a.Name, file: true})
		}
	case p.If != nil:
		for _, m := range p.If.Outputs {
			own = append(own, variable{output: m.Name, file: m.File})
		}
	}
	for _, v := range own {
		v.sub, v.step = w.in.name, p.Name
		if d := w.vars[v]; d != nil && d.escapes && slices.Equal(d.outside, outside) {
			w.printf("var %s %s\n", d.name, d.goType)
		}
	}
}

func (w *writer) each(p *place) {
	item := w.vars[variable{loop: p.Name}]
	w.printf("dsl.Each(p, %s, func(%s dsl.Value[%s]) any {\n", w.items(p.Each, item.goType), item.name, item.goType)
	w.nodes(p.Each.Nodes)
	w.printf("return nil\n})\n")
}

// items is what a loop goes through.
func (w *writer) items(e *graph.Each, itemType string) string {
	text, constantItems := e.Items.Constant()
	if !constantItems {
		return w.as(e.Items, "[]"+itemType)
	}
	if code, ok := composite("[]"+itemType, text); ok {
		return "dsl.Lit(" + code + ")"
	}
	if code, ok := composite("[]json.RawMessage", text); ok {
		return "dsl.Value[[]" + itemType + "](dsl.Lit(" + code + "))"
	}
	return "dsl.Value[[]" + itemType + "](dsl.Lit(" + literal(text) + "))"
}

// condition writes an If with all its branches, and the values that they give.
func (w *writer) condition(p *place) {
	for i, b := range p.If.Branches() {
		switch {
		case i == 0:
			w.printf("p.If(%s, func() {\n", w.question(*b.Cond))
		case b.Cond != nil:
			w.printf("}).ElseIf(%s, func() {\n", w.question(*b.Cond))
		default:
			w.printf("}).Else(func() {\n")
		}
		w.nodes(b.Nodes)
	}
	w.printf("})\n")
	for _, m := range p.If.Outputs {
		v := variable{sub: w.in.name, step: p.Name, output: m.Name, file: m.File}
		w.define(v, w.oneOf(m, w.vars[v].goType))
	}
}

// oneOf merges the values of branches. All of its arguments are of one type.
func (w *writer) oneOf(m graph.Merge, goType string) string {
	var args []string
	add := func(code, have string) {
		if have != goType {
			code = goType + "(" + code + ")"
		}
		args = append(args, code)
	}
	for _, from := range m.From {
		if from != nil {
			code, have := w.ref(*from)
			add(code, have)
		}
	}
	if len(m.Otherwise) > 0 {
		if m.File {
			code, have := w.ref(*m.Otherwise[0].Ref)
			add(code, have)
		} else {
			args = append(args, w.as(m.Otherwise, strings.TrimSuffix(strings.TrimPrefix(goType, "dsl.Value["), "]")))
		}
	}
	return "dsl.OneOf(" + strings.Join(args, ", ") + ")"
}

var comparers = map[string]string{"==": "Eq", "!=": "Ne", "<": "Lt", "<=": "Le", ">": "Gt", ">=": "Ge"}

// question writes a condition.
func (w *writer) question(c graph.Cond) string {
	goType := scalarType(c.Type)
	if len(c.Left) == 1 && c.Left[0].Ref != nil {
		if _, have := w.ref(*c.Left[0].Ref); goType == "int" && have == "dsl.Value[float64]" {
			goType = "float64" // the constant is the same text
		}
	}
	right := literal(c.Right)
	if goType != "string" {
		right = c.Right
	}
	return fmt.Sprintf("dsl.%s(%s, %s)", comparers[c.Op], w.as(c.Left, goType), right)
}

// after is the option that makes a step wait for what its values do not say.
func (w *writer) after(p *place) []string {
	handles := w.handles(p)
	if len(handles) == 0 {
		return nil
	}
	return []string{"dsl.After(" + strings.Join(handles, ", ") + ")"}
}

func (w *writer) handles(p *place) []string {
	var handles []string
	for _, name := range append(slices.Clone(p.extra), p.passed...) {
		leaf := w.in.places[name].first()
		if leaf == nil {
			continue
		}
		handle := w.vars[variable{sub: w.in.name, step: leaf.Name}].name
		if leaf.job != nil || leaf.Call != nil {
			handle += ".Step"
		}
		if !slices.Contains(handles, handle) {
			handles = append(handles, handle)
		}
	}
	return handles
}
