package test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A cluster whose disk is nearly full says so and starts no more pods; what runs goes on, and so does the cluster when there is room.
func TestDiskThatIsNearlyFull(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("a disk of its own takes root")
	}
	dir := t.TempDir()
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1200m,mode=0755"))
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, 0)) })
	c := up(t, filepath.Join(dir, "home"))
	nearlyFull := func() corev1.ConditionStatus {
		node, err := c.kube.CoreV1().Nodes().Get(t.Context(), "local", metav1.GetOptions{})
		require.NoError(t, err)
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeDiskPressure {
				return condition.Status
			}
		}
		return corev1.ConditionUnknown
	}
	require.Equal(t, corev1.ConditionFalse, nearlyFull())
	c.createPod(t, podOf("there-before", "echo up; until test -e "+c.home.Shared()+"/over; do sleep 0.05; done"))
	c.awaitLog(t, "there-before", "up")

	var st syscall.Statfs_t
	require.NoError(t, syscall.Statfs(dir, &st))
	large, err := os.Create(filepath.Join(dir, "large"))
	require.NoError(t, err)
	require.NoError(t, syscall.Fallocate(int(large.Fd()), 0, 0, int64(st.Bavail)*st.Bsize-(300<<20)))
	require.NoError(t, large.Close())
	eventually(t, "the node has no room", func(context.Context) bool { return nearlyFull() == corev1.ConditionTrue })
	eventually(t, "the node is marked", func(ctx context.Context) bool {
		node, err := c.kube.CoreV1().Nodes().Get(ctx, "local", metav1.GetOptions{})
		require.NoError(t, err)
		return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeDiskPressure })
	})
	waits := c.createRepelled(t, "waits", "untolerated taint", func(*corev1.PodSpec) {})
	require.NoError(t, os.WriteFile(filepath.Join(c.home.Shared(), "over"), nil, 0o644))
	require.Equal(t, corev1.PodSucceeded, c.awaitPod(t, "there-before", "ends", ended).Status.Phase)

	require.NoError(t, os.Remove(large.Name()))
	require.Equal(t, corev1.PodSucceeded, c.awaitPod(t, waits, "ends", ended).Status.Phase)
}
