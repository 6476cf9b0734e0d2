package compiler

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/dsl"
)

func pipeline(name string) func() *dsl.Pipeline {
	return func() *dsl.Pipeline {
		p := dsl.New(name)
		dsl.Run(p, "step", dsl.Container{Image: dsl.Lit("alpine:3.22")})
		return p
	}
}

func wrong() *dsl.Pipeline {
	p := dsl.New("wrong")
	dsl.Run(p, "one", dsl.Container{})
	dsl.Run(p, "two", dsl.Container{})
	return p
}

func TestMainCompiles(t *testing.T) {
	t.Parallel()
	call := func(args []string, pipelines ...func() *dsl.Pipeline) (code int, stdout, stderr string) {
		var out, errs bytes.Buffer
		code = run(t.Context(), append([]string{"prog"}, args...), &out, &errs, pipelines)
		return code, out.String(), errs.String()
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "p.tar.gz")

	code, stdout, stderr := call([]string{"-o", file}, pipeline("One"))
	require.Zero(t, code, stderr)
	require.Empty(t, stdout+stderr)
	packed, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotEmpty(t, packed)

	code, stdout, _ = call([]string{"-o", "-", "--pipeline", "two"}, pipeline("One"), pipeline("two"))
	require.Zero(t, code)
	require.Contains(t, stdout, "generateName: two-\n")

	all := filepath.Join(dir, "all") + "/"
	code, _, stderr = call([]string{"-o", all}, pipeline("One"), pipeline("two"))
	require.Zero(t, code, stderr)
	for _, name := range []string{"one.tar.gz", "two.tar.gz"} {
		info, err := os.Stat(all + name)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o644), info.Mode())
	}

	for _, test := range []struct {
		args      string
		pipelines []func() *dsl.Pipeline
		code      int
		want      string
	}{
		{"", []func() *dsl.Pipeline{pipeline("a")}, 2, "say where to write"},
		{"-o x.yaml y", []func() *dsl.Pipeline{pipeline("a")}, 2, `unexpected argument "y"`},
		{"-x", []func() *dsl.Pipeline{pipeline("a")}, 2, "not defined: -x"},
		{"-h", nil, 0, "name of the pipeline"},
		{"-o -", nil, 1, "the program has no pipelines"},
		{"-o -", []func() *dsl.Pipeline{nil}, 1, "function 1 is nil"},
		{"-o -", []func() *dsl.Pipeline{pipeline("a"), func() *dsl.Pipeline { return nil }}, 1, "function 2 returned no pipeline"},
		{"-o -", []func() *dsl.Pipeline{pipeline("a"), pipeline("b")}, 2, "choose one with --pipeline, or give a folder with -o DIR/ for all: a, b"},
		{"-o - --pipeline c", []func() *dsl.Pipeline{pipeline("a"), pipeline("b")}, 2, `there is no pipeline "c": the program has a, b`},
		{"-o " + dir, []func() *dsl.Pipeline{pipeline("a"), pipeline("A")}, 1, `pipelines "a" and "A" would be written to the same file`},
		{"-o " + dir + "/p.tar", []func() *dsl.Pipeline{pipeline("a")}, 2, "cannot tell the form"},
		{"-o " + dir + "/none/p.yaml", []func() *dsl.Pipeline{pipeline("a")}, 1, "writing the package"},
		{"-o -", []func() *dsl.Pipeline{wrong}, 1, "main_test.go:25: step one: Image is not set"},
		{"-o -", []func() *dsl.Pipeline{wrong}, 1, "main_test.go:26: step two: Image is not set"},
	} {
		code, stdout, stderr := call(strings.Fields(test.args), test.pipelines...)
		require.Equal(t, test.code, code, "%s: %s", test.args, stderr)
		require.Contains(t, stderr, test.want)
		require.Empty(t, stdout)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, left, "no half-written files stay")
}

func TestSanitize(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"mpi-run":                 "mpi-run",
		"pipeline to run mpi job": "pipeline-to-run-mpi-job",
		"  A__b.c!  ":             "a-b-c",
		"分布式训练":                   "pipeline",
		"训练 v2":                   "v2",
		strings.Repeat("ab-", 40): strings.Repeat("ab-", 16) + "ab",
	} {
		require.Equal(t, want, sanitize(name))
	}
}
