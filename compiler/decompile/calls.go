package decompile

import (
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// call is the scope of a template that a task runs: its inputs are the task's arguments, or defaults.
func (r *raiser) call(j job, t *object, s *scope) *scope {
	given, files := r.arguments(j, s)
	inner := &scope{inputs: map[string]graph.Text{}, files: map[string]file{}, tasks: map[string]outputs{}, at: t.node, path: t.path}
	inputs := t.object("inputs")
	if inputs == nil {
		return inner
	}
	for _, p := range inputs.list("parameters") {
		name := p.text("name")
		v, ok := given[name]
		if own := p.get("value"); !ok && own != nil {
			v, ok = r.text(inner.within(p), own.Value), true
		}
		if own := p.get("default"); !ok && own != nil {
			v, ok = graph.Text{{Text: own.Value}}, true
		}
		if !ok {
			p.fault("the task %s gives no value for it", j.name)
		}
		p.get("description")
		inner.inputs[name] = v
		p.finish()
	}
	for _, a := range inputs.list("artifacts") {
		name := a.text("name")
		f, ok := files[name]
		if own, located := (steps{r}).located(inner.within(a), a); !ok && located {
			f, ok = own, true
		}
		if inner.files[name] = f; !ok {
			a.fault("the task %s gives no artifact for it", j.name)
		}
		a.get("path")
		a.finish()
	}
	inputs.finish()
	return inner
}

// arguments reads what a task passes to its template.
func (r *raiser) arguments(j job, s *scope) (map[string]graph.Text, map[string]file) {
	given, files := map[string]graph.Text{}, map[string]file{}
	arguments := j.object.object("arguments")
	if arguments == nil {
		return given, files
	}
	for _, p := range arguments.list("parameters") {
		given[p.text("name")] = r.text(s.within(p), p.text("value"))
		p.finish()
	}
	for _, a := range arguments.list("artifacts") {
		name, here := a.text("name"), s.within(a)
		if from := a.text("from"); from != "" {
			if f, ok := r.artifact(here, from); ok {
				files[name] = f
			} else {
				a.fault("%s: %s", from, here.why(strings.Trim(from, "{} ")))
			}
			a.finish()
			continue
		}
		if f, ok := (steps{r}).located(here, a); ok {
			files[name] = f
		} else {
			a.fault("it is not said where the artifact comes from")
		}
		a.finish()
	}
	arguments.finish()
	return given, files
}

// exports reads what a template of tasks hands out.
func (r *raiser) exports(t *object, inside *scope) outputs {
	out := outputs{params: map[string]graph.Text{}, files: map[string]file{}}
	o := t.object("outputs")
	if o == nil {
		return out
	}
	for _, p := range o.list("parameters") {
		out.params[p.text("name")] = r.exported(p, inside.within(p))
		p.finish()
	}
	for _, a := range o.list("artifacts") {
		from, here := a.text("from"), inside.within(a)
		if f, ok := r.artifact(here, from); ok && from != "" {
			out.files[a.text("name")] = f
		} else {
			a.fault("%s: %s", from, here.why(strings.Trim(from, "{} ")))
		}
		a.finish()
	}
	o.finish()
	return out
}

// exported reads an output of a template of tasks: a value of one of them.
func (r *raiser) exported(p *object, s *scope) graph.Text {
	from := p.object("valueFrom")
	if from == nil {
		p.fault("an output of several steps that has no valueFrom cannot be expressed in the DSL")
		return nil
	}
	defer from.finish()
	if text := from.text("expression"); text != "" {
		v, ok := r.expression(s, text)
		if !ok {
			p.fault("the expression %s cannot be expressed in the DSL", text)
		}
		return v
	}
	return r.text(s, from.text("parameter"))
}
