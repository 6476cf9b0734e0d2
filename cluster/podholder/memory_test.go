package podholder

import (
	"bufio"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const (
	held  = 40 << 20 // what the programs below have, bytes
	limit = 60 << 20 // less than two of it
)

// family starts a program that says when its family is there.
func family(t *testing.T, program string) (pid int) {
	t.Helper()
	cmd := exec.Command("perl", "-e", `$| = 1; my $held = "a"; $held x= $ARGV[0]; `+program, strconv.Itoa(held))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, unix.Kill(-cmd.Process.Pid, unix.SIGKILL))
		_ = cmd.Wait() // it was killed
	})
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return cmd.Process.Pid
}

// A program that starts another (vfork, posix_spawn) shares all of its memory with the new process until that becomes the other
// program, which takes a while on a busy machine.
func TestMemoryOfOneThatStartsAnother(t *testing.T) {
	t.Parallel()
	pid := family(t, `syscall(`+strconv.Itoa(unix.SYS_CLONE)+`, `+strconv.Itoa(unix.CLONE_VM|unix.CLONE_VFORK|int(unix.SIGCHLD))+`, 0, 0, 0, 0) or syswrite STDOUT, "up\n"; sleep 1000`)
	require.Len(t, descendants(pid), 1)
	sum := memoryOf(pid, held)
	require.GreaterOrEqual(t, sum, int64(held))
	require.Less(t, sum, int64(limit))
	require.True(t, usesMore(pid, held))
}

// Copies of a process come and go while their memory is added up.
func TestMemoryOfOneThatForks(t *testing.T) {
	t.Parallel()
	pid := family(t, `print "up\n"; while (1) { for (1..7) { fork or exit } for (1..7) { wait } }`)
	for range 1000 {
		require.False(t, usesMore(pid, limit))
	}
}
