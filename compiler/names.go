package compiler

import (
	"fmt"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// declare returns the inputs that carry the references. Where an artifact goes the template itself says.
func (l *lowering) declare(needs []graph.Ref) parameters {
	var in parameters
	for _, r := range needs {
		if r.File {
			in.Artifacts = append(in.Artifacts, artifact{Name: l.input(r)})
		} else {
			in.Parameters = append(in.Parameters, parameter{Name: l.input(r)})
		}
	}
	return in
}

// input returns the name of the input that carries a reference, which is the same in all templates.
func (l *lowering) input(r graph.Ref) string {
	if isOwn(r) {
		return r.Input
	}
	if name, ok := l.inputs[r]; ok {
		return name
	}
	var name string
	switch {
	case r.Input != "":
		name = r.Input
	case r.Step != "":
		name = r.Step + "-" + r.Output
		for range r.Collected {
			name += "-list"
		}
	case r.Call:
		name = "call"
	case r.Index:
		name = r.Loop + "-index"
	case r.Field != "":
		name = r.Loop + "-item-" + r.Field
	default:
		name = r.Loop + "-item"
	}
	name = free(name, l.inputUsed)
	l.inputs[r] = name
	return name
}

// unique returns a name for a template.
func (s *shared) unique(name string) string { return free(name, s.taken) }

// free returns name, or name-2, name-3 and so on where it is taken, and takes it.
func free(name string, taken map[string]bool) string {
	candidate := name
	for i := 2; taken[candidate]; i++ {
		candidate = fmt.Sprintf("%s-%d", name, i)
	}
	taken[candidate] = true
	return candidate
}
