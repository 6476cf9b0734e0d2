package compiler_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Argo accepts every graph made by hand that the compiler accepts. The compiler refuses the others and never panics.
func TestGraphsByHandAreRefusedOrValid(t *testing.T) {
	t.Parallel()
	recorded := map[string][]byte{}
	for name, build := range goldens {
		g, err := build().Graph()
		require.NoError(t, err)
		recorded[name], err = json.Marshal(g)
		require.NoError(t, err)
	}
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range recorded {
			if !yield(name) {
				return
			}
		}
	})
	refused, taken := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var g graph.Pipeline
		require.NoError(t, json.Unmarshal(recorded[rapid.SampledFrom(names).Draw(t, "graph")], &g))
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			tear(t, &g)
		}
		manifest, err := compiler.CompileGraph(&g)
		if err != nil {
			refused++
			return
		}
		taken++
		validate(t, manifest)
	})
	require.Positive(t, refused)
	require.Positive(t, taken)
}

// tear changes something of a graph's structure.
func tear(t *rapid.T, g *graph.Pipeline) {
	var lists []*[]graph.Node
	var walk func(*[]graph.Node)
	walk = func(nodes *[]graph.Node) {
		lists = append(lists, nodes)
		for i := range *nodes {
			switch n := &(*nodes)[i]; {
			case n.If != nil:
				walk(&n.If.Nodes)
				walk(&n.If.Else)
			case n.Each != nil:
				walk(&n.Each.Nodes)
			}
		}
	}
	walk(&g.Nodes)
	walk(&g.Exit)
	for i := range g.Subs {
		walk(&g.Subs[i].Nodes)
	}
	var nodes []*graph.Node
	var refs []*graph.Ref
	for _, list := range lists {
		for i := range *list {
			n := &(*list)[i]
			nodes = append(nodes, n)
			for _, text := range n.Texts() {
				for j := range text {
					if text[j].Ref != nil {
						refs = append(refs, text[j].Ref)
					}
				}
			}
		}
	}
	if len(nodes) == 0 {
		return
	}
	list := rapid.SampledFrom(lists).Draw(t, "list")
	node, other := rapid.SampledFrom(nodes).Draw(t, "node"), rapid.SampledFrom(nodes).Draw(t, "other")
	switch change := rapid.IntRange(0, 7).Draw(t, "change"); {
	case change == 0:
		node.After = append(node.After, other.Name)
	case change == 1:
		node.After = nil
	case change == 2:
		node.Name = other.Name
	case change == 3:
		*list = append(*list, clone(t, *other))
	case change == 4 && len(*list) > 0:
		*list = slices.Delete(slices.Clone(*list), 0, 1)
	case change == 5 && len(refs) > 0:
		*rapid.SampledFrom(refs).Draw(t, "ref") = *rapid.SampledFrom(refs).Draw(t, "instead")
	case change == 6 && len(refs) > 0:
		r := rapid.SampledFrom(refs).Draw(t, "ref")
		switch rapid.IntRange(0, 3).Draw(t, "how") {
		case 0:
			r.Collected += rapid.IntRange(-1, 2).Draw(t, "collected")
		case 1:
			r.File = !r.File
		case 2:
			r.Output += "x"
		case 3:
			*r = graph.Ref{}
		}
	case change == 7 && node.Call != nil && len(node.Call.Args) > 0:
		node.Call.Args = node.Call.Args[1:]
	}
}

// clone is a node that shares nothing with the other.
func clone(t *rapid.T, n graph.Node) (out graph.Node) {
	data, err := json.Marshal(n)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}
