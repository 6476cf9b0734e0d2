package compiler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/compiler/decompile"
	"github.com/argosy-ml/argosy/compiler/decompile/source"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Whatever steps, conditions and loops are put together, decompiling gives a graph that compiles to the same bytes.
func TestRandomPipelinesComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := randomPipeline(t)
		manifest, err := compiler.Compile(p)
		require.NoError(t, err)
		g, err := decompile.Raise(manifest)
		require.NoError(t, err, "%s", manifest)
		again, err := compiler.CompileGraph(g)
		require.NoError(t, err)
		require.Equal(t, string(manifest), string(again))
		_, err = source.Program(g)
		require.NoError(t, err)
		recorded, err := p.Graph()
		require.NoError(t, err)
		require.Equal(t, wordsOf(recorded), wordsOf(g), "each step is given what it was, whatever template it shares")
	})
}

// wordsOf are the commands, arguments, variables and files of all steps, by the steps' names.
func wordsOf(g *graph.Pipeline) map[string][]string {
	out := map[string][]string{}
	add := func(key string, t graph.Text) {
		var b strings.Builder
		for _, p := range t {
			if b.WriteString(p.Text); p.Ref != nil {
				fmt.Fprintf(&b, "<%+v>", *p.Ref)
			}
		}
		out[key] = append(out[key], b.String())
	}
	var visit func(sub string, nodes []graph.Node)
	visit = func(sub string, nodes []graph.Node) {
		for _, n := range nodes {
			visit(sub, n.Children())
			if n.Container == nil {
				continue
			}
			key := sub + "/" + n.Name
			for _, t := range slices.Concat(n.Container.Command, n.Container.Args) {
				add(key, t)
			}
			for _, e := range n.Container.Env {
				add(key+" "+e.Name, e.Value)
			}
			for _, f := range n.Container.Files {
				add(key+" "+f.Path, f.From)
			}
		}
	}
	visit("", g.Nodes)
	visit("", g.Exit)
	for _, sub := range g.Subs {
		visit(sub.Name, sub.Nodes)
	}
	return out
}
