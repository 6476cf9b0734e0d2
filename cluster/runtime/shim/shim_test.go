package shim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	ctr "github.com/argosy-ml/argosy/cluster/runtime/container"
	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
)

// The tests run in namespaces like the node's sandbox, which the test program makes by starting itself again.
const (
	podinitEnv = "ARGOSY_TEST_PODINIT"
	scratchEnv = "ARGOSY_TEST_SCRATCH"
)

func TestMain(m *testing.M) {
	if os.Getenv(podinitEnv) == "" {
		os.Exit(outside())
	}
	err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err == nil {
		err = unix.Mount("proc", "/proc", "proc", 0, "")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func outside() int {
	// Not below /tmp: containers have a /tmp of their own.
	dir, err := os.MkdirTemp("/var/tmp", "argosy-holder")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	podinit := filepath.Join(dir, "argosy-podinit")
	build := exec.Command("go", "build", "-trimpath", "-o", podinit, "../../cmd/argosy-podinit")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s\n", err, out)
		return 1
	}
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), podinitEnv+"="+podinit, scratchEnv+"="+dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	if err := cmd.Run(); err != nil {
		return max(1, cmd.ProcessState.ExitCode())
	}
	return 0
}

// testPod is a pod's folder with a holder.
type testPod struct {
	*Holder
	t   testing.TB
	dir string
}

func startPod(t testing.TB) *testPod {
	t.Helper()
	// A path that is too long for a socket's.
	dir := filepath.Join(os.Getenv(scratchEnv), strings.ReplaceAll(t.Name(), "/", "-"), strings.Repeat("long", 30))
	require.NoError(t, os.MkdirAll(dir, 0o755))
	h, err := Start(os.Getenv(podinitEnv), dir, "the-pod", true)
	require.NoError(t, err)
	t.Cleanup(h.Kill)
	return &testPod{h, t, dir}
}

func (p *testPod) spec(args ...string) *ctr.Spec {
	scratch := filepath.Join(p.dir, "containers", "c")
	require.NoError(p.t, os.RemoveAll(scratch))
	require.NoError(p.t, os.MkdirAll(scratch, 0o755))
	layers, err := ctr.Host{}.Layers(scratch, slog.New(slog.DiscardHandler))
	require.NoError(p.t, err)
	return &ctr.Spec{
		Process: ctr.Process{Args: args, Env: []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "MINE=yes"}, FakeOwners: ctr.SingleID()},
		Scratch: scratch, Layers: layers,
	}
}

func (p *testPod) run(cmd Command, args ...string) *Container {
	p.t.Helper()
	c, err := p.Run(p.t.Context(), "c", 0, cmd, p.spec(args...))
	require.NoError(p.t, err)
	return c
}

func (p *testPod) life() podlog.Life {
	return podlog.Life{Folder: filepath.Join(p.dir, LogFolder, "c")}
}

// said is what the container has said so far.
func (p *testPod) said() string {
	b, err := os.ReadFile(p.life().Segment(0))
	require.NoError(p.t, err)
	var text strings.Builder
	for line := range strings.Lines(string(b)) {
		e, err := podlog.ParseEntry([]byte(strings.TrimSuffix(line, "\n")))
		require.NoError(p.t, err)
		text.Write(e.Text)
		if e.Whole {
			text.WriteByte('\n')
		}
	}
	return text.String()
}

func TestRun(t *testing.T) {
	t.Parallel()
	p := startPod(t)
	before := time.Now()
	c := p.run(Command{}, "sh", "-c", "hostname; echo wrong >&2; read x || echo no input; exit 7")
	require.WithinRange(t, c.Started, before, time.Now())
	exit, err := c.Wait()
	require.NoError(t, err)
	require.Equal(t, 7, exit.Code)
	require.True(t, exit.Started.Equal(c.Started))
	require.False(t, exit.Finished.Before(exit.Started))
	written, err := p.life().ReadExit()
	require.NoError(t, err)
	require.Equal(t, 7, written.Code)
	require.Equal(t, "the-pod\nwrong\nno input\n", p.said(), "in the order it was said")
}

func TestRunOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	p := startPod(t)
	c := p.run(Command{}, "no-such-program")
	require.True(t, c.Started.IsZero())
	exit, err := c.Wait()
	require.NoError(t, err)
	require.Equal(t, ctr.ExitNotStarted, exit.Code)
	require.Contains(t, exit.Fault, "no-such-program")
	require.True(t, p.life().Over(), "a kubelet that comes later finds it out too")
}

// Two kubelets ask for the same life: the first died before it got the answer.
func TestRunTwice(t *testing.T) {
	t.Parallel()
	p := startPod(t)
	first := p.run(Command{}, "sh", "-c", "echo once; exit 4")
	second := p.run(Command{}, "sh", "-c", "echo twice")
	for _, c := range []*Container{first, second} {
		exit, err := c.Wait()
		require.NoError(t, err)
		require.Equal(t, 4, exit.Code)
	}
	require.Equal(t, "once\n", p.said())
}

// A second kubelet finds the holder, and what an earlier one started.
func TestFind(t *testing.T) {
	t.Parallel()
	p := startPod(t)
	first := p.run(Command{Stdin: true}, "sh", "-c", "echo up; read x; exit 3")
	h, err := Find(p.dir)
	require.NoError(t, err)
	c, err := h.Watch("c", 0)
	require.NoError(t, err)
	require.True(t, c.Started.Equal(first.Started))
	_, err = h.Watch("c", 1)
	require.ErrorContains(t, err, "is in life 0, not 1")
	_, err = h.Watch("other", 0)
	require.ErrorContains(t, err, `container "other" was never started`)
	stdin, done, err := h.Stdin("c")
	require.NoError(t, err)
	_, err = stdin.WriteString("go on\n")
	require.NoError(t, errors.Join(err, stdin.Close(), done.Close()))
	for _, each := range []*Container{first, c} {
		exit, err := each.Wait()
		require.NoError(t, err)
		require.Equal(t, 3, exit.Code)
	}
	h.Kill()
	<-p.Gone()
	_, err = Find(p.dir)
	require.ErrorContains(t, err, "does not answer")
}

// What a holder holds next has the network of the pod before, and nothing else of it.
func TestRenew(t *testing.T) {
	t.Parallel()
	p := startPod(t)
	namespaces := func(h *Holder) (network, ipc string) {
		t.Helper()
		for kind, to := range map[string]*string{"net": &network, "ipc": &ipc} {
			ns, err := h.Namespace(kind)
			require.NoError(t, err)
			*to, err = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", ns.Fd()))
			require.NoError(t, errors.Join(err, ns.Close()))
		}
		return network, ipc
	}
	goOn := func(pod *testPod, c *Container) {
		t.Helper()
		stdin, done, err := pod.Stdin("c")
		require.NoError(t, err)
		_, err = stdin.WriteString("go on\n")
		require.NoError(t, errors.Join(err, stdin.Close(), done.Close()))
		exit, err := c.Wait()
		require.NoError(t, err)
		require.Zero(t, exit.Code)
	}
	const remember = "readlink /proc/self/ns/net; readlink /proc/self/ns/ipc; ipcmk -M 64 >/dev/null; ipcs -m | grep -c 0x; hostname"
	first := p.run(Command{Stdin: true}, "sh", "-c", remember+"; read x")
	elsewhere := filepath.Join(filepath.Dir(p.dir), "elsewhere")
	require.NoError(t, os.MkdirAll(elsewhere, 0o755)) // a test may be run again
	_, err := p.Renew(elsewhere)
	require.ErrorContains(t, err, `container "c" is not over`)
	network, ipc := namespaces(p.Holder)
	goOn(p, first)
	require.Equal(t, network+"\n"+ipc+"\n1\nthe-pod\n", p.said())

	h, err := p.Renew(elsewhere)
	require.NoError(t, err)
	<-p.Gone()
	next := &testPod{h, t, elsewhere}
	next.Name("another")
	nextNetwork, nextIPC := namespaces(h)
	require.Equal(t, network, nextNetwork)
	require.NotEqual(t, ipc, nextIPC)
	c := next.run(Command{Stdin: true}, "sh", "-c", remember+"; read x")

	require.Error(t, p.Signal("c", syscall.SIGKILL, false), "what the pod before is told does not reach it")
	_, err = p.Watch("c", 0)
	require.ErrorContains(t, err, "does not answer")
	_, err = Find(p.dir)
	require.ErrorContains(t, err, "does not answer")
	p.Kill()
	_, err = next.Watch("c", 1)
	require.ErrorContains(t, err, "is in life 0, not 1", "the next kubelet finds it")
	goOn(next, c)
	require.Equal(t, nextNetwork+"\n"+nextIPC+"\n1\nanother\n", next.said())
	next.Kill()
}

func TestExecInContainer(t *testing.T) {
	t.Parallel()
	p := startPod(t)
	c := p.run(Command{}, "sh", "-c", "echo up; sleep 1000")
	r, w, err := os.Pipe()
	require.NoError(t, err)
	code, err := p.Exec(t.Context(), "c", []string{"sh", "-c", "echo $MINE $(hostname) $(cat /proc/self/oom_score_adj); exit 9"}, Stdio{Out: w})
	require.NoError(t, errors.Join(err, w.Close()))
	require.Equal(t, 9, code)
	out, err := io.ReadAll(r)
	require.NoError(t, errors.Join(err, r.Close()))
	require.Equal(t, "yes the-pod 500\n", string(out))
	_, err = p.Exec(t.Context(), "c", []string{"no-such-program"}, Stdio{})
	require.ErrorContains(t, err, "no-such-program")

	// All that the command started in its session ends with the context.
	ctx, cancel := context.WithCancel(t.Context())
	r, w, err = os.Pipe()
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := p.Exec(ctx, "c", []string{"sh", "-c", "sleep 2000 & echo up; wait"}, Stdio{Out: w})
		ended <- err
		_ = w.Close()
	}()
	_, err = io.ReadFull(r, make([]byte, len("up\n")))
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	_, err = io.Copy(io.Discard, r) // until the other end is closed everywhere
	require.NoError(t, errors.Join(err, r.Close()))

	require.NoError(t, p.Signal("c", syscall.SIGTERM, true), "the shell has no handler, so it is killed")
	exit, err := c.Wait()
	require.NoError(t, err)
	require.Equal(t, 137, exit.Code)
	require.Equal(t, int(syscall.SIGKILL), exit.Signal)
	require.NoError(t, p.Signal("c", syscall.SIGTERM, false), "it is gone, which is no error")
	_, err = p.Exec(t.Context(), "c", []string{"true"}, Stdio{})
	require.ErrorContains(t, err, "not running")
}

// A command that joins a container has no more than the container's own, and no less.
func TestCommandsAreLikeTheirContainer(t *testing.T) {
	t.Parallel()
	const look = "(ulimit -Sn; ulimit -Hn; grep -E '^(Cap|NoNewPrivs|Seccomp:|Uid|Gid|Groups)' /proc/self/status) > "
	users := []*ctr.User{nil}
	if !ctr.SingleID() {
		users = append(users, &ctr.User{UID: 1234, GID: new(uint32), Groups: []uint32{5}})
	}
	for _, user := range users {
		for _, confined := range []bool{false, true} {
			p := startPod(t)
			spec := p.spec("sh", "-c", look+"/tmp/new; mv /tmp/new /tmp/container; sleep 1000")
			spec.User, spec.Seccomp, spec.NoNewPrivileges = user, confined, confined
			_, err := p.Run(t.Context(), "c", 0, Command{}, spec)
			require.NoError(t, err)
			r, w, err := os.Pipe()
			require.NoError(t, err)
			code, err := p.Exec(t.Context(), "c", []string{
				"sh", "-c", look + "/tmp/command; until test -e /tmp/container; do sleep 0.01; done; diff /tmp/container /tmp/command",
			}, Stdio{Out: w})
			require.NoError(t, errors.Join(err, w.Close()))
			out, err := io.ReadAll(r)
			require.NoError(t, errors.Join(err, r.Close()))
			require.Empty(t, string(out))
			require.Zero(t, code)
			p.Kill()
		}
	}
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	p := startPod(t)
	c := p.run(Command{Stdin: true, TTY: true}, "sh", "-c", "tty; read x; echo heard $x; exit 2")
	stdin, done, err := p.Stdin("c")
	require.NoError(t, err)
	_, err = stdin.WriteString("me\n")
	require.NoError(t, err)
	exit, err := c.Wait()
	require.NoError(t, errors.Join(err, stdin.Close(), done.Close()))
	require.Equal(t, 2, exit.Code)
	require.Contains(t, p.said(), "/dev/pts/0\r\n")
	require.Contains(t, p.said(), "heard me\r\n")
}

func TestContainersEndWithTheirHolder(t *testing.T) {
	t.Parallel()
	p := startPod(t)
	c := p.run(Command{}, "sh", "-c", "sleep 1000 & sleep 1000")
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", p.process.pid, p.process.pid))
	require.NoError(t, err)
	child, err := strconv.Atoi(strings.TrimSpace(string(children)))
	require.NoError(t, err)
	ended, err := unix.PidfdOpen(child, 0)
	require.NoError(t, err)
	defer func() { _ = unix.Close(ended) }()
	p.Kill()
	_, err = c.Wait()
	require.ErrorContains(t, err, "the pod's holder is gone")
	require.False(t, p.life().Over(), "nobody saw the end")
	require.True(t, hasEnded(t, ended))
}

// hasEnded waits until a process, known by a descriptor, has ended.
func hasEnded(t *testing.T, pidfd int) bool {
	t.Helper()
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, int((5 * time.Minute).Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			require.NoError(t, err)
			return n == 1
		}
	}
}

// A container among others of its pod takes along what it left running, however soon it ended itself.
func TestSharedContainersLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	p := startPod(t)
	const mark = "98765"
	for life := range 20 {
		c, err := p.Run(t.Context(), "c", life, Command{Shared: true}, p.spec("sh", "-c", "sleep "+mark+" & exit 4"))
		require.NoError(t, err)
		exit, err := c.Wait()
		require.NoError(t, err)
		require.Equal(t, 4, exit.Code)
	}
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, file := range commands {
		b, err := os.ReadFile(file)
		if err != nil || string(b) != "sleep\x00"+mark+"\x00" {
			continue // gone, or another test's
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		require.NoError(t, err)
		if ended, err := unix.PidfdOpen(pid, 0); err == nil {
			require.True(t, hasEnded(t, ended), "process %d was left", pid)
			require.NoError(t, unix.Close(ended))
		}
	}
}

func TestKilledForMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.False(t, killedForMemory(dir))
	write := func(kills string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "memory.events"), []byte("low 0\noom 3\noom_kill "+kills+"\noom_group_kill 0\n"), 0o600))
	}
	write("0")
	require.False(t, killedForMemory(dir))
	write("2")
	require.True(t, killedForMemory(dir))
}

// BenchmarkPod is what a pod of one container costs: its holder, the container, its end.
func BenchmarkPod(b *testing.B) {
	dir := filepath.Join(os.Getenv(scratchEnv), "bench")
	require.NoError(b, os.MkdirAll(dir, 0o755))
	p := &testPod{t: b, dir: dir}
	spec := p.spec("/bin/true")
	var parts [4]time.Duration
	n := 0
	for b.Loop() {
		n++
		at := time.Now()
		lap := func(part int) {
			parts[part] += time.Since(at)
			at = time.Now()
		}
		h, err := Start(os.Getenv(podinitEnv), dir, "bench", true)
		require.NoError(b, err)
		lap(0)
		spec.Scratch = filepath.Join(dir, "containers", fmt.Sprint(n))
		require.NoError(b, os.MkdirAll(spec.Scratch, 0o755))
		c, err := h.Run(b.Context(), "c", n, Command{}, spec)
		require.NoError(b, err)
		lap(1)
		_, err = c.Wait()
		require.NoError(b, err)
		lap(2)
		h.Kill()
		lap(3)
	}
	for i, name := range []string{"start", "run", "wait", "kill"} {
		b.ReportMetric(float64(parts[i].Microseconds())/float64(n), "us-"+name)
	}
}

// What a command costs that joins a container.
func BenchmarkExec(b *testing.B) {
	p := startPod(b)
	_, err := p.Run(b.Context(), "c", 0, Command{}, p.spec("sleep", "1000"))
	require.NoError(b, err)
	for b.Loop() {
		code, err := p.Exec(b.Context(), "c", []string{"true"}, Stdio{})
		require.NoError(b, err)
		require.Zero(b, code)
	}
}
