package decompile

import (
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// callSub raises a task that runs a template of tasks as a call of a sub-pipeline, which is raised at its first call.
func (r *raiser) callSub(j job, t *object, s *scope) (graph.Node, outputs) {
	template := j.text("template")
	i, known := r.subs[template]
	if !known {
		i = len(r.g.Subs)
		r.subs[template] = i
		r.g.Subs = append(r.g.Subs, graph.Sub{Name: r.subName(template, j.name)})
	}
	name := r.g.Subs[i].Name
	n := graph.Node{Name: r.free(name), Kind: "Call", Call: &graph.Call{Sub: name}}
	if !known {
		r.raiseSub(i, t)
	}
	r.pass(n.Call, i, r.call(j, t, s))
	return n, r.returned(t, n.Name)
}

// subName makes a name for a sub-pipeline, which is also that of its first call. The compiler adds a number to that of
// the template where another has it.
func (r *raiser) subName(template, call string) string {
	if number, ok := strings.CutPrefix(template, call+"-"); ok && strings.Trim(number, "0123456789") == "" {
		template = call
	}
	names := r.names
	r.names = map[string]bool{}
	for _, sub := range r.g.Subs {
		r.names[sub.Name] = true
	}
	defer func() { r.names = names }()
	return r.name(template)
}

// raiseSub raises the body of a sub-pipeline, in which names are free again.
func (r *raiser) raiseSub(i int, t *object) {
	names, sub, around := r.names, r.sub, r.around
	r.names, r.sub, r.around = map[string]bool{}, r.g.Subs[i].Name, nil
	defer func() { r.names, r.sub, r.around = names, sub, around }()
	s := &scope{inputs: map[string]graph.Text{}, files: map[string]file{}, tasks: map[string]outputs{}, at: t.node, path: t.path}
	if in := t.object("inputs"); in != nil {
		for _, p := range in.list("parameters") {
			name := p.text("name")
			s.inputs[name] = refText(graph.Ref{Input: name})
			r.g.Subs[i].Inputs = append(r.g.Subs[i].Inputs, graph.SubInput{Name: name, Type: graph.String})
		}
		for _, a := range in.list("artifacts") {
			name := a.text("name")
			s.files[name] = file{ref: &graph.Ref{Input: name, File: true}}
			r.g.Subs[i].Inputs = append(r.g.Subs[i].Inputs, graph.SubInput{Name: name, Type: "Artifact", File: true})
		}
	}
	nodes := tasks{r}.nodes(t, s)
	r.g.Subs[i].Nodes = nodes
	out := r.exports(t, s)
	o := t.object("outputs")
	for _, p := range o.list("parameters") {
		name := p.text("name")
		r.g.Subs[i].Outputs = append(r.g.Subs[i].Outputs, graph.SubOutput{SubInput: graph.SubInput{Name: name}, From: out.params[name]})
	}
	for _, a := range o.list("artifacts") {
		name := a.text("name")
		f := out.files[name]
		if f.ref == nil {
			a.fault("only a file that a step leaves, or one that is given to the sub-pipeline, can be handed out in the DSL")
			continue
		}
		r.g.Subs[i].Outputs = append(r.g.Subs[i].Outputs, graph.SubOutput{
			SubInput: graph.SubInput{Name: name, Type: "Artifact", File: true}, From: graph.Text{{Ref: f.ref}},
		})
	}
}

// pass gives a call its arguments.
func (r *raiser) pass(c *graph.Call, sub int, s *scope) {
	for _, in := range r.g.Subs[sub].Inputs {
		arg := graph.Arg{Name: in.Name, Value: s.inputs[in.Name]}
		if in.File {
			f := s.files[in.Name]
			if arg.Import = f.imported; f.ref != nil {
				arg.Value = graph.Text{{Ref: f.ref}}
			}
		}
		c.Args = append(c.Args, arg)
	}
}

// returned are the outputs of a call, which may be read before the sub-pipeline that calls itself is raised.
func (r *raiser) returned(t *object, call string) outputs {
	out := outputs{params: map[string]graph.Text{}, files: map[string]file{}}
	o := t.object("outputs")
	for _, p := range o.list("parameters") {
		out.params[p.text("name")] = refText(graph.Ref{Step: call, Output: p.text("name")})
	}
	for _, a := range o.list("artifacts") {
		out.files[a.text("name")] = file{ref: &graph.Ref{Step: call, Output: a.text("name"), File: true}}
	}
	return out
}
