package decompile_test

import (
	"flag"
	"fmt"
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
	"github.com/argosy-ml/argosy/server/engine/manifest/meaning"
	"github.com/argosy-ml/argosy/server/pipeline/pkgfile"
)

var keep = flag.Bool("keep", false, "keep the programs that were made")

// build compiles the pipelines from their Go source, in one program, and returns the workflows by their order.
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

// The packages that others wrote, and what is said of those that cannot be expressed.
var foreign = []string{"testdata/*.yaml", "../../test/e2e/testdata/kfp/*.yaml", "../../test/e2e/testdata/kfp/corpus/*.yaml"}

var inexpressible = map[string]string{
	"v2.yaml":            "it is of kind",
	"v2-compatible.yaml": "v2-compatible mode",
}

// Packages by other authors come back as programs that mean the same. The test prints a table with the result for each package.
func TestForeignPackages(t *testing.T) {
	t.Parallel()
	type row struct {
		file  string
		text  []byte
		equal string
	}
	var rows []row
	var graphs []*graph.Pipeline
	var refused strings.Builder
	for _, pattern := range foreign {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			g, err := decompile.Raise(text)
			if want, ok := inexpressible[filepath.Base(file)]; ok {
				require.ErrorContains(t, err, want, file)
				first, _, _ := strings.Cut(err.Error(), "\n")
				fmt.Fprintf(&refused, "%-24s refused: %s\n", filepath.Base(file), first)
				continue
			}
			require.NoError(t, err, file)
			graphs, rows = append(graphs, g), append(rows, row{file: file, text: text})
		}
	}
	for i, again := range build(t, graphs) {
		rows[i].equal = "yes"
		if diff := differing(t, rows[i].text, again); diff != "" {
			t.Errorf("%s: -package +again:\n%s\nby way of\n%s", rows[i].file, diff, again)
			rows[i].equal = "no"
		}
		require.Empty(t, manifest.Lint(again), rows[i].file)
	}
	t.Logf("%-24s decompiled  compiles  equal", "package")
	for _, r := range rows {
		t.Logf("%-24s %-11s %-9s %s", filepath.Base(r.file), "yes", "yes", r.equal)
	}
	t.Log(refused.String())
}

// differing is what two workflows do that the other does not.
func differing(t *testing.T, a, b []byte) string {
	t.Helper()
	want, err := meaning.Of(a)
	require.NoError(t, err, "%s", a)
	got, err := meaning.Of(b)
	require.NoError(t, err, "%s", b)
	return cmp.Diff(only(want, got), only(got, want)) + cmp.Diff(want.Settings, got.Settings)
}

// only is what a does and b does not, one line after the other.
func only(a, b *meaning.Meaning) []string {
	var lines []string
	for i, steps := range [][]meaning.Step{a.Steps, a.Exit} {
		own, others := meaning.Bag(steps), meaning.Bag([][]meaning.Step{b.Steps, b.Exit}[i])
		for _, step := range slices.Sorted(maps.Keys(own)) {
			if n := own[step]; n != others[step] {
				lines = append(append(lines, fmt.Sprintf("%d times", n)), strings.Split(step, "\n")...)
			}
		}
	}
	return lines
}
