package stacks_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/launcher/stacks"
)

// Answers of real programs. faulthandler prints the innermost frame first, and the thread that took the signal last.
const (
	stuck = `=== rank=1 pid=14076 how=faulthandler python3 /job/train.py
Thread 0x00007efd02e366c0 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 320 in wait
  File "/job/train.py", line 9 in <lambda>
    threading.Event().wait()
  File "/usr/lib/python3.11/threading.py", line 975 in run

Current thread 0x00007efd030f1040 (most recent call first):
  File "/job/train.py", line 6 in stuck
    time.sleep(0.1)
  File "/job/train.py", line 10 in <module>
    stuck()
`
	barrier = `=== rank=0 pid=14070 how=faulthandler python3 /job/train.py
Current thread 0x00007efd030f1040 (most recent call first):
  File "/job/train.py", line 13 in <module>
    MPI.COMM_WORLD.Barrier()
`
	// https://github.com/benfred/py-spy
	pySpy = `=== rank=2 pid=3817 how=py-spy python3 refit_from_trainer.py
Process 3817: python3 refit_from_trainer.py
Python v3.12.3 (/usr/bin/python3.12)

Thread 3817 (active): "MainThread"
    broadcast (torch/distributed/distributed_c10d.py:3781)
    _stream_weights (refit_from_trainer.py:276)
    main (refit_from_trainer.py:413)
Thread 99 (idle): "Thread-1 (_read_thread)"
    _recv_msg (torch/_inductor/compile_worker/subproc_pool.py:55)
`
	gdb = `=== rank=3 pid=14100 how=gdb ./solver
Thread 2 (Thread 0x7efd02e366c0 (LWP 14115) "solver"):
#0  0x00007efd031fb8ec in clone3 () at ../sysdeps/unix/sysv/linux/x86_64/clone3.S:81
Thread 1 (Thread 0x7efd030f1040 (LWP 14100) "solver"):
#0  0x00007efd031c1545 in epoll_wait () from /lib/x86_64-linux-gnu/libc.so.6
#1  0x00007efd03182cff in PMPI_Allreduce () from /lib/x86_64-linux-gnu/libmpi.so.40
#2  0x0000560000001169 in step (n=5) at solver.c:41
#3  0x00007efd0311924a in __libc_start_call_main (main=main@entry=0x627ca0, argc=argc@entry=2) at ../sysdeps/nptl/libc_start_call_main.h:58
`
	mute = "=== rank=4 pid=7 how=none ./solver\nsleeps in futex_wait_queue\n"
)

func TestRead(t *testing.T) {
	t.Parallel()
	all := stacks.Read(stuck + barrier + pySpy + gdb + mute)
	require.Len(t, all, 5)
	for i, want := range []string{
		"stuck (train.py:6: time.sleep(0.1))",
		"<module> (train.py:13: MPI.COMM_WORLD.Barrier())",
		"_stream_weights (refit_from_trainer.py:276)",
		"step (solver.c:41)",
		"",
	} {
		require.Equal(t, want, all[i].Where())
	}
	require.Equal(t, []int{1, 0, 2, 3, 4}, []int{all[0].Rank, all[1].Rank, all[2].Rank, all[3].Rank, all[4].Rank})
	require.Equal(t, "python3 /job/train.py", all[0].Program)
	require.Equal(t, 14076, all[0].PID)
	require.Len(t, all[0].Lines, 11)
	require.Equal(t, stacks.Unranked, stacks.Read("=== rank= pid=7 how=none x\n")[0].Rank)
	stripped := stacks.Read(strings.ReplaceAll(gdb, " at solver.c:41", ""))
	sleep := stacks.Read("=== rank=0 pid=2 how=gdb sleep 1000\nThread 1 (Thread 0x7fc20fd1a740 (LWP 2) \"sleep\"):\n" +
		"#0  __GI___clock_nanosleep (clock_id=clock_id@entry=0, req=0x7fff069d0090) at ../sysdeps/unix/sysv/linux/clock_nanosleep.c:71\n" +
		"#1  0x00005647c786f4af in ?? ()\n#2  0x00007fc20fd44305 in __libc_start_main_impl (main=0x5647c786b370, argc=2) at ../csu/libc-start.c:360\n")
	require.Equal(t, "__GI___clock_nanosleep (clock_nanosleep.c:71)", sleep[0].Where())
	require.Equal(t, "PMPI_Allreduce (libmpi.so.40)", stripped[0].Where(), "without the program's own lines")
}

// The rank that does not wait for others is the one that they wait for; where all wait, the one that is elsewhere.
func TestGroups(t *testing.T) {
	t.Parallel()
	groups := stacks.Groups(stacks.Read(barrier + stuck + mute))
	require.Len(t, groups, 2)
	require.False(t, groups[0].Waits)
	require.Equal(t, 1, groups[0].Stacks[0].Rank)
	require.True(t, groups[1].Waits)

	// The same line of a program, which a library makes wait on one rank alone.
	const ready = "=== rank=0 pid=1 how=faulthandler python3\nCurrent thread 0x1 (most recent call first):\n  File \"/usr/lib/python3.11/threading.py\", line 622 in wait\n  File \"<string>\", line 1 in <module>\n"
	const busy = "=== rank=1 pid=1 how=faulthandler python3\nCurrent thread 0x1 (most recent call first):\n  File \"<string>\", line 1 in <module>\n"
	groups = stacks.Groups(stacks.Read(ready + busy))
	require.Len(t, groups, 2)
	require.Equal(t, 1, groups[0].Stacks[0].Rank)

	elsewhere := strings.Replace(barrier, "rank=0", "rank=5", 1)
	groups = stacks.Groups(stacks.Read(gdb + strings.Replace(gdb, "rank=3", "rank=2", 1) + elsewhere))
	require.Equal(t, 5, groups[0].Stacks[0].Rank)
	require.Len(t, groups[1].Stacks, 2)
}

// A program in Python leaves the file that its stacks go to, and still reads the sitecustomize of its image.
func TestPrepare(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := strings.ReplaceAll(stacks.Prepare(), "/tmp/.argosy-stacks", dir+"/stacks") + "\nexec \"$@\""
	own := `import sys; sys.flags_of_mine = "kept"`
	program := `import os, signal, sys
os.kill(os.getpid(), signal.SIGUSR2)
print(sys.flags_of_mine)
print(open(os.path.join(sys.argv[1], str(os.getpid()))).read())
`
	write := exec.CommandContext(t.Context(), "sh", "-c", `mkdir "$0/image" && printf %s "$1" >"$0/image/sitecustomize.py"`, dir, own)
	require.NoError(t, write.Run())
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", "/usr/bin/python3", "-c", program, filepath.Join(dir, "stacks"))
	cmd.Env = []string{"PATH=/usr/bin:/bin", "PYTHONPATH=" + filepath.Join(dir, "image")}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "kept\nCurrent thread 0x")
	require.Contains(t, string(out), `File "<string>", line 2 in <module>`)
}
