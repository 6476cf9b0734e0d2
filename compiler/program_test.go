package compiler_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
)

func TestCompileDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var stdout bytes.Buffer
	require.NoError(t, compiler.CompileDir(t.Context(), "testdata/programs/two", "-", "two", &stdout))
	require.Contains(t, stdout.String(), "generateName: two-\n")

	require.NoError(t, compiler.CompileDir(t.Context(), "testdata/programs/two", dir, "", &stdout))
	for _, name := range []string{"one", "two"} {
		packed, err := os.ReadFile(filepath.Join(dir, name+".tar.gz"))
		require.NoError(t, err)
		validate(t, unpack(t, name, packed))
	}

	stdout.Reset()
	require.NoError(t, compiler.CompileDir(t.Context(), "testdata/programs/selfcheck", "-", "", &stdout))
	validate(t, stdout.Bytes())

	file := filepath.Join(dir, "mpi_run.tar.gz")
	for range 2 { // the second time over the file of the first
		require.NoError(t, compiler.CompileDir(t.Context(), "../samples/mpi_run", file, "", &stdout))
	}
	packed, err := os.ReadFile(file)
	require.NoError(t, err)
	validate(t, unpack(t, file, packed))
}

func TestCompileDirSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o644))
	empty := t.TempDir()
	out := filepath.Join(t.TempDir(), "p.yaml")
	for _, test := range []struct{ dir, want string }{
		{"testdata/programs/none", "reading the pipeline program: stat testdata/programs/none: no such file or directory"},
		{"testdata/programs/two/main.go", "testdata/programs/two/main.go is a file: give the folder that holds the pipeline program"},
		{"testdata/programs/broken", "testdata/programs/broken/main.go:3:15: undefined: undefined"},
		{"testdata/programs/library", "testdata/programs/library is package library: a pipeline program is a package main that calls compiler.Main"},
		{"testdata/programs/silent", "the program in testdata/programs/silent wrote no pipeline: its main must call compiler.Main"},
		{"testdata/programs/faulty", `testdata/programs/faulty/main.go:11: step one: Image is not set: it is the container image to run, as in dsl.Lit("alpine:3.22")` +
			"\n" + `testdata/programs/faulty/main.go:12: step "Two": the name must hold only lower-case letters, digits and -, begin with a letter, end with a letter or digit, and have at most 50 characters`},
		{"testdata/programs/two", "the program has several pipelines: choose one with --pipeline, or give a folder with -o DIR/ for all: one, two"},
		{outside, outside + " is in no Go module: run there\n\tgo mod init pipelines\n\tgo get github.com/argosy-ml/argosy"},
		{empty, empty + " is in no Go module: run there\n\tgo mod init pipelines\n\tgo get github.com/argosy-ml/argosy"},
	} {
		require.EqualError(t, compiler.CompileDir(t.Context(), test.dir, out, "", os.Stdout), test.want)
		require.NoFileExists(t, out)
	}
}

func TestCompileDirStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, compiler.CompileDir(ctx, "testdata/programs/two", "-", "", os.Stdout), context.Canceled)
}

// Programs by authors who have not read the manual: the compiler reports every mistake at its line, all at once.
func TestFaultsOfOddPipelines(t *testing.T) {
	t.Parallel()
	err := compiler.RunDir(t.Context(), "testdata/programs/odd", []string{"--validate"}, os.Stdout)
	var refused *compiler.ProgramError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 1, refused.Code)
	const file = "testdata/programs/odd/faults.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(refused.Text+"\n"), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), refused.Text+"\n")
}
