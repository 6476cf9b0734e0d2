package shim

import (
	"bufio"
	"os/exec"
	"strconv"
	"testing"
	"time"

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
	u := usage{pid: pid}
	sum := u.memory(u.family(), held)
	require.GreaterOrEqual(t, sum, int64(held))
	require.Less(t, sum, int64(limit))
	require.True(t, u.exceeds(held))
}

// Copies of a process come and go while their memory is added up: they end, or become other programs.
func TestMemoryOfOneThatForks(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]string{"copies": "exit", "programs": `do { exec "true"; exit }`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pid := family(t, `print "up\n"; while (1) { for (1..7) { fork or `+then+` } for (1..7) { wait } }`)
			for range 500 {
				require.False(t, usage{pid: pid}.exceeds(limit))
			}
		})
	}
}

// What lies in files in memory counts, whether a process has mapped it or not.
func TestMemoryOfFilesWithoutAName(t *testing.T) {
	t.Parallel()
	const parent = 1 << 20 // more than the program itself has
	for name, program := range map[string]string{
		"memfd, written":   `my $name = "x"; my $fd = syscall(` + strconv.Itoa(unix.SYS_MEMFD_CREATE) + `, $name, 0); open(my $f, ">&=", $fd) or die $!; print $f $held; $f->flush; undef $held; syswrite STDOUT, "up\n"; sleep 1000`,
		"System V":         `my $id = shmget(0, length $held, 0600 | 01000) // die; shmwrite($id, $held, 0, length $held); undef $held; my $p = syscall(` + strconv.Itoa(unix.SYS_SHMAT) + `, $id, 0, 0); shmctl($id, 0, 0); my $x = unpack "P" . ` + strconv.Itoa(held) + `, pack "J", $p; undef $x; syswrite STDOUT, "up\n"; sleep 1000`,
		"memfd, inherited": `my $name = "x"; my $fd = syscall(` + strconv.Itoa(unix.SYS_MEMFD_CREATE) + `, $name, 0); $^F = 1000; open(my $f, ">&=", $fd) or die $!; print $f $held; $f->flush; undef $held; fork; fork; syswrite STDOUT, "up\n"; sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pid := family(t, program)
			require.Eventually(t, func() bool {
				u := usage{pid: pid}
				sum := u.memory(u.family(), parent)
				return sum >= held && sum < 2*held
			}, 5*time.Minute, 10*time.Millisecond)
			require.True(t, usage{pid: pid}.exceeds(held-1))
		})
	}
}

func TestProcessesAreCounted(t *testing.T) {
	t.Parallel()
	pid := family(t, `for (1..9) { fork or do { sleep 1000; exit } } print "up\n"; sleep 1000`)
	require.Equal(t, 10, usage{pid: pid}.processes(100))
	require.Greater(t, usage{pid: pid}.processes(4), 4)
}

func TestRemovedFilesAreFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pid := family(t, `unless (fork) { open my $f, ">", "`+dir+`/f"; print $f $held; $f->flush; unlink "`+dir+`/f"; open my $g, ">", "`+dir+`/kept (deleted)"; print $g "x"; syswrite STDOUT, "up\n"; sleep 1000 } sleep 1000`)
	all := nameless(pid)
	require.Len(t, all, 1)
	require.Equal(t, dir+"/f", all[0].Path)
	require.GreaterOrEqual(t, all[0].Bytes, int64(held))
}
