package test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
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

// What a kubelet keeps ready for pods to come becomes a pod's as if made for it, and does not outlive the kubelet.
func (c *cluster) testSpareBerths(t *testing.T) {
	var before []int
	eventually(t, "something is ready", func(context.Context) bool {
		before = c.spares(t)
		return len(before) == 4
	})
	name := "moved-in" + strconv.Itoa(c.cmd.Process.Pid)
	c.createPod(t, podOf("moved-in", `hostname; cat /etc/hostname; touch /dev/shm/x; sleep 60000`, func(s *corev1.PodSpec) { s.Hostname = name }))
	c.awaitLog(t, "moved-in", name+"\n"+name+"\n")
	eventually(t, "another is made in its place", func(context.Context) bool {
		now := c.spares(t)
		return len(now) == 4 && slices.ContainsFunc(before, func(pid int) bool { return !slices.Contains(now, pid) })
	})
	require.NotZero(t, c.process(t, "argosy-podinit", "pod", name), "its holder has its name")

	before = c.spares(t)
	c.kill(t, c.kubeletProcess(t))
	eventually(t, "the next kubelet has others", func(context.Context) bool {
		now := c.spares(t)
		return len(now) == 4 && !slices.ContainsFunc(before, func(pid int) bool { return slices.Contains(now, pid) })
	})
	folders, err := os.ReadDir(filepath.Join(string(c.home), "cluster", "berths"))
	require.NoError(t, err)
	require.Len(t, folders, 4)
	c.deletePod(t, "moved-in")
}
