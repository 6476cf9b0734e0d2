package test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A job that hangs fails with the rank that the others wait for, and the line of its program where it is. The stacks are in the log of each rank.
func TestLauncherFindsTheRankThatHangs(t *testing.T) {
	t.Parallel()
	const program = `
import time
from mpi4py import MPI
world = MPI.COMM_WORLD
def prepare(rank):
    if rank == 1:
        while True:
            time.sleep(0.1)  # for ever
prepare(world.Get_rank())
world.Barrier()
`
	c := shared(t)
	l := c.launcher(t, "mpijob", "echo '"+program+"' >train.py; mpirun sh -c 'echo \"$0\" >train.py; exec /usr/bin/python3 train.py' \"`cat train.py`\"", "--workers=2", "--silence-timeout=10s").start(t)
	said := l.ends(t, 1)
	end := l.output(t, "termination")
	require.Regexp(t, `it hangs: no rank has printed anything for .+; rank 1 on step-\S+-worker-1 \(\S+\) hangs in prepare \(train\.py:8: time\.sleep\(0\.1\)  # for ever\); `+
		`rank 0 on step-\S+-worker-0 \(\S+\) waits in <module> \(train\.py:10: world\.Barrier\(\)\)`, end, said)
	require.Contains(t, end, "line 8 in prepare\n    time.sleep(0.1)  # for ever\n")
	require.Contains(t, said, "[1,1]<stderr>:argosy: stacks of process ")
	require.Empty(t, l.jobs(t.Context(), t), "it holds nothing any more")
}

// Programs without Python are looked at with gdb, and those of other kinds of jobs are found by their pods.
func TestLauncherFindsTheProgramThatHangs(t *testing.T) {
	t.Parallel()
	const wait = "case $RANK in 0) exec /usr/bin/python3 -c 'import threading; threading.Event().wait()' ;; *) exec /usr/bin/python3 -c 'import time; time.sleep(1e9)' ;; esac"
	for kind, j := range map[string]struct {
		script, want string
		args         []string
	}{
		"pytorchjob": {wait, `; rank 1 on step-\S+-worker-0 \(\S+\) hangs in <module> \(<string>:1\); rank 0 on step-\S+-master-0 \(\S+\) waits in <module>`, []string{"--workers=2"}},
		"job":        {"exec sleep 100000", `; rank 0 on step-\S+ \(\S+\) hangs in \S*nanosleep`, nil},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := shared(t).launcher(t, kind, j.script, append(j.args, "--silence-timeout=10s")...).start(t)
			said := l.ends(t, 1)
			require.Regexp(t, j.want, l.output(t, "termination"), said)
		})
	}
}
