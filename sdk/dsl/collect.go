package dsl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Collect returns the list of an output's values over all iterations of Each, in the order of the items. In nested loops each Collect
// leaves one loop.
func Collect[T any](v Value[T]) Value[[]T] {
	if !v.IsSet() {
		return valueOf[[]T](faulty(caller(), "Collect: the value is not set"))
	}
	return valueOf[[]T](collect(v.recorded()))
}

// CollectFiles is Collect for files: a folder with the step's files from each iteration, named 00000, 00001 and so on in the order of the
// items. In nested loops each CollectFiles leaves one loop, and the folder contains folders. The files are stored one by one, without an
// archive, so their content is kept, and modes and links are lost.
func CollectFiles[K any](f File[K]) File[[]K] {
	var out File[[]K]
	if !f.IsSet() {
		out.set(faulty(caller(), "CollectFiles: the file is not set"))
	} else {
		out.set(collect(f.recorded()))
	}
	return out
}

func collect(t text) text {
	if len(t.faults) > 0 {
		return t
	}
	single := t.single()
	if single == nil || single.producer == nil {
		return faulty(caller(), "Collect: only an output of a step can be collected")
	}
	r := *single
	if r.File && r.Collected == 0 {
		if err := r.producer.placed(r.Output); err != nil {
			return faulty(caller(), "Collect: %s: %v", r.describe(), err)
		}
	}
	if r.scope.kind != eachScope {
		return faulty(caller(), "Collect: %s is in %s, not in an Each", r.describe(), r.scope.describe())
	}
	r.Collected++
	r.producer = r.scope.owner
	r.scope = r.producer.scope
	return reference(r)
}

// placed says why an output of n that is a file cannot be put where the files of all passes lie. Argo knows no lists of
// files, so each pass must write its own there, which is for a step to do.
func (n *node) placed(output string) error {
	switch {
	case n.Call != nil:
		return errors.New("files that a sub-pipeline returns cannot be collected, since each pass of the loop must leave its file in its own place, which only a step in the loop can: collect what a step there makes of it, such as a copy")
	case n.Container != nil:
		if n.Pod != nil && n.Pod.Cache != nil && !n.Pod.Cache.Off {
			return fmt.Errorf("step %s takes its outputs from an earlier run, where they lie elsewhere: leave CacheKey and CacheFor out, or add NoCache", n.Name)
		}
		return nil
	}
	i := slices.IndexFunc(n.If.Outputs, func(m graph.Merge) bool { return m.Name == output })
	if len(n.If.Outputs[i].Otherwise) > 0 {
		return errors.New("OneOf has a file from outside of the If, which cannot be collected, since no step of this pass leaves it: give every branch a step that leaves one, such as a copy")
	}
	branches, _ := n.branches()
	for j, from := range n.If.Outputs[i].From {
		k := slices.IndexFunc(branches[j].nodes, func(o *node) bool { return o.Name == from.Step })
		if err := branches[j].nodes[k].placed(from.Output); err != nil {
			return err
		}
	}
	return nil
}
