package decompile_test

import (
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/compiler/decompile"
	"github.com/argosy-ml/argosy/compiler/decompile/source"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

var keep = flag.Bool("keep", false, "keep the programs that were made")

// build compiles the pipelines by way of their Go source, in one program, and returns the workflows by their order.
func build(t *testing.T, graphs []*graph.Pipeline) [][]byte {
	t.Helper()
	text, err := source.Program(graphs...)
	require.NoError(t, err)
	again, err := source.Program(graphs...)
	require.NoError(t, err)
	require.Equal(t, string(text), string(again), "the same graphs give the same source")
	// Within the module, so that the program finds the SDK.
	dir, err := os.MkdirTemp(".", ".program-*")
	require.NoError(t, err)
	if !*keep {
		t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), text, 0o644))
	var workflows [][]byte
	out := t.TempDir()
	require.NoError(t, compiler.RunDir(t.Context(), dir, []string{"-o", out}, io.Discard), "%s", text)
	for _, g := range graphs {
		file := filepath.Join(out, packageName(g.Name))
		workflows = append(workflows, unpacked(t, file))
	}
	return workflows
}

func goldens(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	texts := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		texts[strings.TrimSuffix(filepath.Base(file), ".yaml")] = text
	}
	return texts
}

// The graph of each golden compiles to the golden, to the byte.
func TestGraphsOfGoldens(t *testing.T) {
	t.Parallel()
	for name, text := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, err := decompile.Raise(text)
			require.NoError(t, err)
			again, err := compiler.CompileGraph(g)
			require.NoError(t, err)
			if diff := cmp.Diff(string(text), string(again)); diff != "" {
				t.Errorf("-golden +again:\n%s", diff)
			}
		})
	}
}

// The Go source of each golden, built and run, compiles to the golden, to the byte.
func TestProgramsOfGoldens(t *testing.T) {
	t.Parallel()
	texts := goldens(t)
	names := slices.Sorted(maps.Keys(texts))
	var graphs []*graph.Pipeline
	for _, name := range names {
		g, err := decompile.Raise(texts[name])
		require.NoError(t, err, name)
		graphs = append(graphs, g)
	}
	for i, again := range build(t, graphs) {
		if diff := cmp.Diff(string(texts[names[i]]), string(again)); diff != "" {
			t.Errorf("%s: -golden +again:\n%s", names[i], diff)
		}
	}
}
