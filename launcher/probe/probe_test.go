package probe_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/launcher/probe"
)

func facts(ranks int, log string) map[string]string {
	var r probe.Reader
	for line := range strings.Lines(log) {
		r.Line([]byte(strings.TrimSuffix(line, "\n")))
	}
	return r.Facts(ranks)
}

// The bandwidth is that of the largest message, not the average over all sizes.
func TestReader(t *testing.T) {
	t.Parallel()
	// Two ranks of nccl-tests 2.18.0 with Open MPI, without the tags of mpirun.
	nccl, err := os.ReadFile("testdata/nccl-tests.log")
	require.NoError(t, err)
	// Built without MPI, each of its processes is a job of one rank: busbw is 0.
	// https://github.com/NVIDIA/nccl-tests/issues/127
	const apart = probe.Mark + "all-reduce of nccl-tests\n" +
		probe.Mark + "#  Rank  0 Group  0 Pid    52 on        lab device  0 [0x02] NVIDIA H100 80GB HBM3\n" +
		probe.Mark + "   134217728      33554432     float     sum      -1    96.10 1396.70    0.00       0     0.16  857000    0.00       0\n"
	for name, tc := range map[string]struct {
		log  string
		want map[string]string
	}{
		"nccl-tests":  {string(nccl), map[string]string{probe.Bandwidth: "2.3 GB/s", probe.Measured: "all-reduce of 128 MiB, nccl-tests"}},
		"without MPI": {apart, map[string]string{probe.Measured: "none: nccl-tests ran on 1 of 2 ranks"}},
		"crash": {
			probe.Mark + "all-reduce of mpi4py\n" + probe.Mark + "#  Rank  0 Pid 1 on a\n" + probe.Mark + "#  Rank  1 Pid 1 on b\n" + probe.Mark + "MemoryError\n",
			map[string]string{probe.Measured: "none: mpi4py failed: MemoryError"},
		},
		"no program": {probe.Mark + "no bandwidth: one rank has no other to exchange data with\n", map[string]string{probe.Measured: "none: one rank has no other to exchange data with"}},
		"no probe":   {"   134217728      33554432     float     sum      -1  58458.9    2.30    2.30       0\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, facts(2, tc.log))
		})
	}
}

// What is measured is what the image has: mpi4py, or a compiler for MPI; without either the probe says so.
func TestCommand(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ranks int
		tools map[string]string
		want  string
	}{
		"mpi4py": {
			2,
			map[string]string{"mpirun": openMPI, "python3": "shift; case $1 in 'import mpi4py') ;; *) echo \"#  Rank  0 Pid 1 on a\"; echo \"#  Rank  1 Pid 1 on b\"; echo '  33554432  8388608  float  sum  -1  100.0  0.335  0.335' ;; esac"},
			"all-reduce of 32 MiB, mpi4py",
		},
		"C": {
			2,
			map[string]string{"mpirun": openMPI, "python3": "exit 1", "python": "exit 1", "mpicc": "case $1 in -E) ;; *) printf '#!/bin/sh\\necho \"#  Rank  0 on a\"\\necho \"#  Rank  1 on b\"\\necho \" 65536 16384 float sum -1 100.0 0.655 0.655\"\\n' >\"$3\"; chmod +x \"$3\" ;; esac"},
			"all-reduce of 64 KiB, MPI in C",
		},
		"nothing":   {2, map[string]string{"mpirun": openMPI, "python3": "exit 1", "python": "exit 1", "mpicc": "exit 1"}, "none: the image has neither nccl-tests with a GPU, mpi4py nor mpicc"},
		"one rank":  {1, map[string]string{"mpirun": openMPI}, "none: one rank has no other to exchange data with"},
		"other MPI": {2, map[string]string{"mpirun": "echo HYDRA build details:"}, "none: it is measured with Open MPI"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for tool, text := range tc.tools {
				require.NoError(t, os.WriteFile(filepath.Join(dir, tool), []byte("#!/bin/sh\n"+text+"\n"), 0o755)) //nolint:gosec // a program
			}
			args := probe.Command(tc.ranks)
			cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
			cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "TMPDIR=" + dir}
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			require.Equal(t, tc.want, facts(tc.ranks, string(out))[probe.Measured], string(out))
		})
	}
}

// openMPI is an mpirun that runs the program once, as the first rank.
const openMPI = `[ "$1" != --version ] || { echo "mpirun (Open MPI) 4.1.4"; exit; }
shift 2
exec "$@"`
