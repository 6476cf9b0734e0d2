package test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A worker with RDMA asks for a device and the right to lock memory; it waits until there is a device. What
// serves the workers asks for neither.
func TestLauncherAsksForRDMA(t *testing.T) {
	t.Parallel()
	for kind, args := range map[string][]string{
		"mpijob":    nil,
		"paddlejob": nil,
		"tfjob":     {"--role-replicas=ps=1", "--role-command=ps=trap exit TERM; sleep 1000 & wait"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := shared(t)
			l := c.launcher(t, kind, "true", append(args, "--workers=2", "--gang=false", "--rdma=true")...).patiently(t).start(t)
			l.said(t, "created ")
			name := l.jobs(t.Context(), t)[0].GetName()
			eventually(t, "the workers wait for a node with such a device", func(context.Context) bool {
				return len(slices.DeleteFunc(c.podsOf(t, name), func(p corev1.Pod) bool {
					return !strings.Contains(p.Name, "-worker-") ||
						!slices.ContainsFunc(p.Status.Conditions, func(cond corev1.PodCondition) bool { return cond.Reason == corev1.PodReasonUnschedulable })
				})) == 2
			})
			workers := 0
			for _, pod := range c.podsOf(t, name) {
				box := pod.Spec.Containers[0]
				if !strings.Contains(pod.Name, "-worker-") {
					require.NotContains(t, box.Resources.Limits, corev1.ResourceName("rdma/hca"), pod.Name)
					require.Nil(t, box.SecurityContext, pod.Name)
					continue
				}
				workers++
				require.Equal(t, "1", box.Resources.Limits.Name("rdma/hca", "").String(), pod.Name)
				require.Equal(t, []corev1.Capability{"IPC_LOCK"}, box.SecurityContext.Capabilities.Add, pod.Name)
				require.Equal(t, corev1.PodPending, pod.Status.Phase, pod.Name)
			}
			require.Equal(t, 2, workers)
			require.NoError(t, l.cmd.Process.Kill())
			<-l.ended
			c.remove(t, l.resource(), name)
		})
	}
}

// Roles that shun each other are placed on nodes of their own, and those that belong together beside each other.
func TestLauncherTopology(t *testing.T) {
	t.Parallel()
	c := up(t, t.TempDir(), "--nodes", "3")
	l := c.launcher(t, "tfjob", "trap exit TERM; sleep 1000 & wait", "--workers=2", "--role-replicas=ps=2", "--gang=true", "--scheduler=volcano",
		"--affinity=ps,worker", "--anti-affinity=ps", "--task-order=ps,worker").start(t)
	var pods []corev1.Pod
	eventually(t, "all pods are placed", func(context.Context) bool {
		if len(l.jobs(t.Context(), t)) == 0 {
			return false
		}
		pods = c.podsOf(t, l.jobs(t.Context(), t)[0].GetName())
		return len(pods) == 4 && !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Spec.NodeName == "" })
	})
	roles := map[string][]string{} // of each node
	for _, p := range pods {
		role := p.Labels["training.kubeflow.org/replica-type"]
		require.Equal(t, "volcano", p.Spec.SchedulerName)
		require.Equal(t, role, p.Annotations["volcano.sh/task-spec"])
		roles[p.Spec.NodeName] = append(roles[p.Spec.NodeName], role)
	}
	require.Len(t, roles, 2, "%v", roles)
	for node, there := range roles {
		slices.Sort(there)
		require.Equal(t, []string{"ps", "worker"}, there, node)
	}
	group := c.get(t, podGroups, l.output(t, "job-name"))
	annotations := group["metadata"].(map[string]any)["annotations"].(map[string]any)
	require.Equal(t, "ps,worker", annotations["volcano.sh/task-topology-affinity"])
	require.Equal(t, "ps", annotations["volcano.sh/task-topology-anti-affinity"])
	require.Equal(t, "ps,worker", annotations["volcano.sh/task-topology-task-order"])
	require.NoError(t, l.cmd.Process.Kill())
	<-l.ended
}

// A launcher that is killed between an attempt and the next goes on counting: its pod knows.
func TestLauncherCountsOnWhenKilledBetweenAttempts(t *testing.T) {
	t.Parallel()
	c := shared(t)
	c.createPod(t, podOf("own", "sleep 1000"))
	const keep = "test.argosy.dev/keep"
	wait, open := c.gate("is-kept-" + c.namespace)
	l := c.launcher(t, "paddlejob", wait+"; exit 3", "--workers=1", "--retries=1")
	l.pod = "own"
	l.start(t)
	l.said(t, "created PaddleJob")
	name := l.jobs(t.Context(), t)[0].GetName()
	finalizers := func(text string) {
		_, err := c.any.Resource(l.resource()).Namespace(c.namespace).Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":`+text+`}}`), metav1.PatchOptions{})
		require.NoError(t, err)
	}
	finalizers(`["` + keep + `"]`)
	open(t)
	l.said(t, "starting it again: attempt 2 of 2")
	eventually(t, "the first job goes", func(ctx context.Context) bool { return l.jobs(ctx, t)[0].GetDeletionTimestamp() != nil })
	require.NoError(t, l.cmd.Process.Kill())
	<-l.ended
	finalizers(`null`)
	eventually(t, "the first job is gone", func(ctx context.Context) bool { return len(l.jobs(ctx, t)) == 0 })

	l.start(t)
	said := l.ends(t, 3)
	require.Contains(t, said, "created PaddleJob")
	require.NotContains(t, said, "starting it again", "it was the last attempt")
	require.Equal(t, "2", l.jobs(t.Context(), t)[0].GetAnnotations()["argosy.dev/attempt"])
}
