package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
)

var update = flag.Bool("update", false, "write the golden file anew")

func TestGolden(t *testing.T) {
	t.Parallel()
	manifest, err := compiler.Compile(EKSBenchmark())
	require.NoError(t, err)
	const golden = "testdata/eks_benchmark.yaml"
	if *update {
		require.NoError(t, os.WriteFile(golden, manifest, 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), string(manifest))
}

// The programs of the steps, one after the other, with one rank in place of mpirun.
func TestPrograms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	python := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", args...)
		cmd.Env = append(os.Environ(), "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	require.Equal(t, "600 images in 2 files\n", python("dataset.py", in("dataset"), "600", in("experiment.py"), experimentProgram))
	out := python(in("experiment.py"), in("dataset"), "4", "20")
	require.Regexp(t, `^10\timages/sec: [0-9.]+\n20\timages/sec: [0-9.]+\n$`, out)
	require.Regexp(t, `^1\timages/sec: [0-9.]+\n$`, python(in("experiment.py"), in("dataset"), "1", "1"))

	require.NoError(t, os.Mkdir(in("shared"), 0o755))
	log := "[1,0]<stdout>:10\timages/sec: 90.0\n[1,1]<stdout>:10\timages/sec: 99.0\n[1,0]<stdout>:20\timages/sec: 100.5\n"
	require.NoError(t, os.WriteFile(in("shared/2-workers.log"), []byte(log), 0o600))
	said := "status: Failed\nworkers\timages/sec\n1\tno result\n2\t199.5\n"
	require.Equal(t, said, python("results.py", in("shared"), in("out"), "Failed", "[1,2]"))
	require.FileExists(t, in("out/2-workers.log"))
	require.Contains(t, python("results.py", in("none"), in("empty"), "Error", "[4]"), "4\tno result")
}
