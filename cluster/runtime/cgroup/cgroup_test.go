package cgroup

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeGroup is a folder of ordinary files that stands for a control group: it shows what is written where, not what the kernel
// makes of it. TestKernel shows that, where the kernel lets us.
func fakeGroup(t *testing.T, controllers string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"cgroup.type": "domain\n", "cgroup.controllers": controllers, "cgroup.procs": "11\n12\n", "cgroup.subtree_control": "",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

func content(t *testing.T, elem ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elem...))
	require.NoError(t, err)
	return string(b)
}

func TestClaimOfFakeGroup(t *testing.T) {
	t.Parallel()
	own := fakeGroup(t, "cpuset cpu io memory pids\n")
	tree, err := claim(own, "1")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(own, "argosy.pods.1"), tree.Dir())
	require.Equal(t, "12", content(t, own, rest, "cgroup.procs"), "each process is moved, the last one last")
	require.Equal(t, "+cpu +memory +pids", content(t, own, "cgroup.subtree_control"))
	require.Equal(t, "+cpu +memory", content(t, tree.Dir(), "cgroup.subtree_control"), "what it is not given it cannot hand down")
	require.False(t, tree.Counts())

	// A second cluster that was started from the first one's rest uses the same group.
	other, err := claim(filepath.Join(own, rest), "2")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(own, "argosy.pods.2"), other.Dir())
}

func TestRootKeepsItsProcesses(t *testing.T) {
	t.Parallel()
	own := fakeGroup(t, "cpu memory\n")
	require.NoError(t, os.Remove(filepath.Join(own, "cgroup.type")))
	_, err := claim(own, "1")
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Join(own, rest))
}

func TestClaimRefused(t *testing.T) {
	t.Parallel()
	_, err := claim(fakeGroup(t, "cpu pids\n"), "1")
	require.ErrorContains(t, err, "not given the controller memory")
	own := fakeGroup(t, "cpu memory\n")
	require.NoError(t, os.Remove(filepath.Join(own, "cgroup.procs")))
	_, err = claim(own, "1")
	require.ErrorContains(t, err, "not delegated to this user")
	_, err = Unified("3:cpu:/a\n")
	require.Error(t, err)
	path, err := Unified("3:cpu:/a\n0::/user.slice/me.scope\n")
	require.NoError(t, err)
	require.Equal(t, "/user.slice/me.scope", path)
}

func TestLimitsOfFakeGroup(t *testing.T) {
	t.Parallel()
	tree := Open(t.TempDir())
	dir, err := tree.Make("pod.main.0", Limits{MilliCPU: 1500, Request: 1000, Memory: 1 << 30})
	require.NoError(t, err)
	require.Equal(t, "150000 100000", content(t, dir, "cpu.max"))
	require.Equal(t, "39", content(t, dir, "cpu.weight"))
	require.Equal(t, "1073741824", content(t, dir, "memory.max"))
	require.Equal(t, "1", content(t, dir, "memory.oom.group"))
	require.Equal(t, "0", content(t, dir, "memory.swap.max"))

	require.NoFileExists(t, filepath.Join(dir, "pids.max"), "the tree is not given that controller")

	counting := Open(fakeGroup(t, "cpu memory pids\n"))
	dir, err = counting.Make("pod.main.0", Limits{Processes: 100})
	require.NoError(t, err)
	require.Equal(t, "100", content(t, dir, "pids.max"))

	small, err := tree.Make("small", Limits{MilliCPU: 1})
	require.NoError(t, err)
	require.Equal(t, "1000 100000", content(t, small, "cpu.max"), "the kernel's least")
	require.NoFileExists(t, filepath.Join(small, "memory.max"))
	none, err := tree.Make("none", Limits{})
	require.NoError(t, err)
	files, err := os.ReadDir(none)
	require.NoError(t, err)
	require.Empty(t, files)
	tree.Remove("none")
	require.NoDirExists(t, none)
	_, err = tree.Make("../escape", Limits{})
	require.Error(t, err)
}

func TestHandOverOfFakeGroup(t *testing.T) {
	t.Parallel()
	dir := fakeGroup(t, "cpu memory\n")
	group, err := Open(dir).HandOver(os.Getuid(), os.Getgid())
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, maker), group)
	_, err = Open(dir).HandOver(os.Getuid(), os.Getgid())
	require.NoError(t, err, "after a restart")
}

func TestWeight(t *testing.T) {
	t.Parallel()
	for milli, want := range map[int64]int64{1: 1, 2: 1, 100: 4, 1000: 39, 4000: 157, 1_000_000: 10000} {
		require.Equal(t, want, weight(milli), milli)
	}
}

// The kernel ends what takes more memory than its group has, and holds back what takes more time. That can be seen only where the
// machine has groups of version 2 and delegates one to the user of the tests; cluster/test/kernel makes such a machine.
func TestKernel(t *testing.T) {
	tree, err := Claim(strconv.Itoa(os.Getpid()))
	if err != nil {
		t.Skip("no control groups: ", err)
	}
	t.Cleanup(func() { require.NoError(t, tree.Clear()) })
	run := func(group string, limits Limits, name string, arg ...string) (dir string, err error) {
		dir, err = tree.Make(group, limits)
		require.NoError(t, err)
		folder, err := os.Open(dir)
		require.NoError(t, err)
		defer folder.Close()
		cmd := exec.Command(name, arg...)
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(folder.Fd())}
		return dir, cmd.Run()
	}

	// It works until it is held back, and gives up after far more than it may do at a stretch.
	dir, err := run("busy", Limits{MilliCPU: 100}, "sh", "-c", `for i in $(seq 1000); do grep -q "nr_throttled [1-9]" cpu.stat && exit; done; exit 1`)
	require.NoError(t, err, "%s", content(t, dir, "cpu.stat"))

	dir, err = run("greedy", Limits{Memory: 32 << 20}, "tail", "/dev/zero") // it waits for the end of the line
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, syscall.SIGKILL, exit.Sys().(syscall.WaitStatus).Signal())
	require.NotContains(t, content(t, dir, "memory.events"), "oom_kill 0")
	tree.Remove("greedy")
	_, err = os.Stat(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// handedOver has this program start a process in a group of its own as another user, from the group that it was started in.
const handedOver = "ARGOSY_TEST_TREE"

// Root hands a tree over to a user who can write to nothing else: to make groups of it and start processes there takes no more.
func TestKernelHandedOver(t *testing.T) {
	if dir := os.Getenv(handedOver); dir != "" {
		tree := Open(dir)
		group, err := tree.Make("theirs", Limits{Memory: 32 << 20, Processes: 10})
		require.NoError(t, err)
		folder, err := os.Open(group)
		require.NoError(t, err)
		defer folder.Close()
		cmd := exec.Command("cat", "/proc/self/cgroup")
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(folder.Fd())}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "/theirs\n")
		tree.Remove("theirs")
		require.NoDirExists(t, group)
		return
	}
	tree, err := Claim(strconv.Itoa(os.Getpid()) + "h")
	if err != nil || os.Getuid() != 0 {
		t.Skip("no control groups that root could hand over: ", err)
	}
	t.Cleanup(func() { require.NoError(t, tree.Clear()) })
	const other = 1000
	path, err := tree.HandOver(other, other)
	require.NoError(t, err)
	group, err := os.Open(path)
	require.NoError(t, err)
	defer group.Close()
	cmd := exec.Command("/proc/self/exe", "-test.run", "^TestKernelHandedOver$")
	cmd.Env, cmd.Dir = append(os.Environ(), handedOver+"="+tree.Dir()), "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd()), Credential: &syscall.Credential{Uid: other, Gid: other}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
