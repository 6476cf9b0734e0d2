package decompile_test

import (
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/compiler/decompile"
	"github.com/argosy-ml/argosy/compiler/decompile/source"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
	"github.com/argosy-ml/argosy/server/engine/manifest"
	"github.com/argosy-ml/argosy/server/pipeline/pkgfile"
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
	packages, err := filepath.Glob(filepath.Join(out, "*.tar.gz"))
	require.NoError(t, err)
	require.Len(t, packages, len(graphs))
	byGraph := map[string][]byte{}
	for _, file := range packages {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		text, err := pkgfile.Read(file, data)
		require.NoError(t, err)
		byGraph[generateName.FindString(string(text))] = text
	}
	for _, g := range graphs {
		direct, err := compiler.CompileGraph(g)
		require.NoError(t, err)
		workflow := byGraph[generateName.FindString(string(direct))]
		require.NotNil(t, workflow, g.Name)
		workflows = append(workflows, workflow)
	}
	return workflows
}

var generateName = regexp.MustCompile(`(?m)^  generateName: (.*)$`)

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

// What others wrote comes back as what does the same.
func TestForeignPackages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	more, err := filepath.Glob("../../test/e2e/testdata/kfp/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, more)
	files = append(files, more...)
	var graphs []*graph.Pipeline
	var texts [][]byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		g, err := decompile.Raise(text)
		require.NoError(t, err, file)
		graphs, texts = append(graphs, g), append(texts, text)
	}
	for i, again := range build(t, graphs) {
		want, got := unfold(t, texts[i]), unfold(t, again)
		if diff := cmp.Diff(differing(want, got), differing(got, want)); diff != "" {
			t.Errorf("%s: -package +again:\n%s\nby way of\n%s", files[i], diff, again)
		}
		require.Equal(t, want, got)
		require.Empty(t, manifest.Lint(again), files[i])
	}
}
