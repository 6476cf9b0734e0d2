package compiler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// choice adds the template for an If with several branches: a task for each, one of them at most runs, and
// outputs that take the values of the one that ran.
func (l *lowering) choice(name string, n graph.Node) ([]graph.Ref, error) {
	at := len(l.templates)
	l.templates = append(l.templates, template{Name: name})
	var needs []graph.Ref
	need := func(refs []graph.Ref) {
		for _, r := range refs {
			if !l.builtIn(r) && !slices.Contains(needs, r) {
				needs = append(needs, r)
			}
		}
	}
	var tasks []task
	var asked []string // the conditions of the branches so far, each negated
	for i, b := range n.If.Branches() {
		t := task{Name: fmt.Sprintf("branch-%d", i+1)}
		t.Template = l.unique(name + "-" + t.Name)
		conditions := slices.Clone(asked)
		if b.Cond != nil {
			need(b.Cond.Left.Refs())
			own := condition(*b.Cond, l.source)
			conditions = append(conditions, own)
			asked = append(asked, "!("+own+")")
		}
		t.When = tagged(conjunction(conditions))
		var exports []export
		for _, m := range n.If.Outputs {
			if from := m.From[i]; from != nil {
				exports = append(exports, export{m.Name, graph.Text{{Ref: from}}, m.File})
			}
		}
		inner, err := l.dag(t.Template, b.Nodes, exports, nil)
		if err != nil {
			return nil, err
		}
		t.Arguments = l.arguments(inner, l.source)
		need(inner)
		tasks = append(tasks, t)
	}
	t := &l.templates[at]
	t.DAG = &dag{Tasks: tasks}
	for _, m := range n.If.Outputs {
		need(m.Otherwise.Refs())
		t.Outputs.merge(m, l.source)
	}
	t.Inputs = l.declare(needs)
	return needs, nil
}

func conjunction(conditions []string) string {
	if len(conditions) == 1 {
		return conditions[0]
	}
	out := make([]string, len(conditions))
	for i, c := range conditions {
		if out[i] = c; !strings.HasPrefix(c, "!(") {
			out[i] = "(" + c + ")"
		}
	}
	return strings.Join(out, " && ")
}

// merge adds an output that is that of the branch which was run.
func (p *parameters) merge(m graph.Merge, where func(graph.Ref) source) {
	section := section(graph.Ref{File: m.File})
	last := "" // what is left when no branch before was run
	if len(m.Otherwise) > 0 {
		last = operand(m.Otherwise, where)
	}
	for i, from := range slices.Backward(m.From) {
		task := fmt.Sprintf("tasks.branch-%d", i+1)
		value := member(task + ".outputs." + section + "." + m.Name)
		switch {
		case from == nil:
		case last == "":
			last = value
		default:
			last = member(task+".status") + ` == "Succeeded" ? ` + value + " : " + last
		}
	}
	if m.File {
		p.Artifacts = append(p.Artifacts, artifact{Name: m.Name, FromExpression: text(last)})
	} else {
		p.Parameters = append(p.Parameters, parameter{Name: m.Name, ValueFrom: &valueFrom{Expression: last}})
	}
}

// export adds an output of a DAG.
func (p *parameters) export(e export, where func(graph.Ref) source) {
	var from source
	if refs := e.from.Refs(); len(refs) == 1 && len(e.from) == 1 && refs[0].Variable == "" {
		from = where(refs[0])
	} else {
		from.expression = operand(e.from, where)
	}
	switch {
	case e.file:
		p.Artifacts = append(p.Artifacts, artifact{Name: e.name, From: from.tag()})
	case from.expression != "":
		p.Parameters = append(p.Parameters, parameter{Name: e.name, ValueFrom: &valueFrom{Expression: from.expression}})
	default:
		p.Parameters = append(p.Parameters, parameter{Name: e.name, ValueFrom: &valueFrom{Parameter: string(from.tag())}})
	}
}
