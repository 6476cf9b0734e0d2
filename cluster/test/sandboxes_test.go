package test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// spares are the holders that wait for a pod, by process.
func (c *cluster) spares(t *testing.T) (pids []int) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, path := range paths {
		b, err := os.ReadFile(path)
		args := strings.Split(string(b), "\x00")
		if err != nil || len(args) < 3 || filepath.Base(args[0]) != "argosy-podinit" || strings.TrimSpace(args[2]) != "spare" {
			continue
		}
		if dir, err := os.Readlink(filepath.Join(filepath.Dir(path), "cwd")); err != nil || !strings.HasPrefix(dir, string(c.home)) {
			continue // gone, or of another cluster
		}
		pid, err := strconv.Atoi(strings.Split(path, "/")[2])
		require.NoError(t, err)
		pids = append(pids, pid)
	}
	return pids
}

// uptime is how long the machine is up, in seconds.
func uptime(t *testing.T) (seconds float64) {
	t.Helper()
	b, err := os.ReadFile("/proc/uptime")
	require.NoError(t, err)
	seconds, err = strconv.ParseFloat(strings.Fields(string(b))[0], 64)
	require.NoError(t, err)
	return seconds
}

// startOf is the uptime at which a process was started.
func startOf(t *testing.T, pid int) float64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(b), ") ")                         // its name
	ticks, err := strconv.ParseFloat(strings.Fields(rest)[22-2-1], 64) // starttime of proc_pid_stat(5), in ticks of 10 ms
	require.NoError(t, err)
	return ticks / 100
}

// A pod takes a warm sandbox as if it was made for it. Warm sandboxes end with the kubelet.
func (c *cluster) testWarmSandboxes(t *testing.T) {
	var before []int
	eventually(t, "something is ready", func(context.Context) bool {
		before = c.spares(t)
		return len(before) >= 4 // and what pods left
	})
	name := "moved-in" + strconv.Itoa(c.cmd.Process.Pid)
	asked := uptime(t)
	c.createPod(t, podOf("moved-in", `hostname; cat /etc/hostname; touch /dev/shm/x; sleep 60000`, func(s *corev1.PodSpec) { s.Hostname = name }))
	c.awaitLog(t, "moved-in", name+"\n"+name+"\n")
	require.LessOrEqual(t, startOf(t, c.process(t, "argosy-podinit", "pod", name)), asked, "its holder was there before, and has its name")
	eventually(t, "there are others", func(context.Context) bool { return len(c.spares(t)) >= 4 })

	before = c.spares(t)
	c.kill(t, c.kubeletProcess(t))
	eventually(t, "the next kubelet has others", func(context.Context) bool {
		now := c.spares(t)
		return len(now) == 4 && !slices.ContainsFunc(before, func(pid int) bool { return slices.Contains(now, pid) })
	})
	folders, err := os.ReadDir(filepath.Join(string(c.home), "cluster", "sandboxes"))
	require.NoError(t, err)
	require.Len(t, folders, 4)
	c.deletePod(t, "moved-in")
}

// A pod may get the network of one that is over, with nothing else of it; unless that one could have changed it, or is another namespace's.
func (c *cluster) testKeptSandboxes(t *testing.T) {
	other := *c
	other.namespace = "sandboxes"
	_, err := c.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: other.namespace}}, metav1.CreateOptions{})
	require.NoError(t, err)
	const look = `readlink /proc/self/ns/net /proc/self/ns/ipc; hostname; ls -d /tmp/left /dev/shm/* /run/sshd/* 2>/dev/null; ipcs -m | grep -c 0x
grep -o '10[.]88[.][0-9.]*' /proc/net/fib_trie | sort -u | grep -v '[.]0$\|[.]255$'; tail -n +2 /proc/net/route | cut -f 2-3`
	type seen struct {
		network, ipc, rest string
		*corev1.Pod
		log string
	}
	run := func(c *cluster, name, more string, change ...func(*corev1.PodSpec)) seen {
		t.Helper()
		name += strconv.Itoa(c.cmd.Process.Pid)
		c.createPod(t, podOf(name, look+"\n"+more, change...))
		p := c.awaitPod(t, name, "ends", ended)
		log := c.logOf(t, name)
		require.Equal(t, corev1.PodSucceeded, p.Status.Phase, log)
		lines := strings.SplitN(log, "\n", 3)
		return seen{lines[0], lines[1], lines[2], p, log}
	}
	// Its sandbox is there for another before its files are cleared.
	awaitKept := func(s seen) {
		t.Helper()
		folder := filepath.Join(string(c.home), "cluster", "pods", string(s.UID))
		require.DirExists(t, folder)
		eventually(t, s.Name+" moves out", func(context.Context) bool {
			_, err := os.Lstat(filepath.Join(folder, "containers"))
			return errors.Is(err, fs.ErrNotExist)
		})
	}
	const routes = "00000000\t0100580A\n" // to the gateway
	asNew := func(s seen) {
		t.Helper()
		require.Equal(t, s.Name+"\n0\n"+s.Status.PodIP+"\n"+routes, s.rest)
	}
	first := run(&other, "first", "touch /tmp/left /dev/shm/left /run/sshd/left; ipcmk -M 64 >&2 2>/dev/null")
	first.rest = strings.Split(first.rest, "Shared memory id")[0]
	asNew(first)
	awaitKept(first)
	second := run(&other, "second", `until getent hosts kubernetes.default >/dev/null; do sleep 0.01; done`)
	asNew(second)
	require.Equal(t, first.network, second.network)
	require.NotEqual(t, first.ipc, second.ipc)
	require.NotEqual(t, first.Status.PodIP, second.Status.PodIP)
	require.Equal(t, first.log, other.logOf(t, first.Name), "what the first said is its own")

	awaitKept(second)
	elsewhere := run(c, "elsewhere", "")
	asNew(elsewhere)
	require.NotEqual(t, first.network, elsewhere.network, "another namespace's")

	powerful := run(&other, "powerful", "", func(s *corev1.PodSpec) {
		s.Containers[0].SecurityContext = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN"}}}
	})
	asNew(powerful)
	require.Equal(t, first.network, powerful.network)
	awaitKept(powerful)
	last := run(&other, "last", "")
	asNew(last)
	require.NotEqual(t, first.network, last.network, "who had power over the network does not leave it to others")
}
