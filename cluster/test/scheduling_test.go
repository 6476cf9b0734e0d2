package test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What Volcano does beside gangs, on two nodes with three simulated GPUs each. The tests take all of them, so they run one after the other.
func TestScheduling(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := up(t, dir, "--nodes", "2", "--gpus", "3")
	for _, part := range []struct {
		name string
		test func(*testing.T)
	}{
		{"small jobs fill one node and leave the other to a large one", c.testPack},
		{"queues share by their weights", c.testFairShare},
		{"roles are placed as their topology says", c.testTopology},
		{"a gang of higher priority takes the place of a lower one, which goes on later", c.testGangPreemption},
		{"a step whose job is preempted starts it again", c.testStepPreemption},
	} {
		if !t.Run(part.name, part.test) {
			return // what it left holds GPUs that the next one needs
		}
	}
	c.stop(t)

	c = up(t, dir, "--nodes", "2", "--gpus", "3", "--placement", "spread")
	t.Run("small jobs spread where the cluster is told so", c.testSpreadJobs)
}

// tfJob is a TFJob whose pods take a GPU each unless changed, and end when the file of its name appears.
type tfJob struct {
	name        string
	roles       map[string]int // Worker, PS
	gpus        int            // of each pod; 0: one
	annotations map[string]any
}

// createHeld creates a TFJob that holds its GPUs until it is released.
func (c *cluster) createHeld(t *testing.T, j tfJob) {
	t.Helper()
	replicas := map[string]any{}
	for role, n := range j.roles {
		r := replica(n, "tensorflow", []any{"sh", "-c", c.untilReleased(j.name)}, "Never")
		podSpecOf(r)["containers"].([]any)[0].(map[string]any)["resources"] = map[string]any{"limits": map[string]any{string(gpu): max(j.gpus, 1)}}
		replicas[role] = r
	}
	_, err := c.any.Resource(trainingResource("TFJob")).Namespace(c.namespace).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kubeflow.org/v1", "kind": "TFJob",
		"metadata": map[string]any{"name": j.name, "annotations": j.annotations},
		"spec":     map[string]any{"tfReplicaSpecs": replicas, "runPolicy": map[string]any{"cleanPodPolicy": "None"}},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
}

func (c *cluster) untilReleased(job string) string {
	return fmt.Sprintf("until [ -e %s/%s ]; do sleep 0.05; done", c.home.Shared(), job)
}

// finish lets TFJobs end and removes them.
func (c *cluster) finish(t *testing.T, jobs ...string) {
	t.Helper()
	for _, job := range jobs {
		c.release(t, job)
		c.awaitCondition(t, trainingResource("TFJob"), job, "Succeeded")
		c.removeTFJob(t, job)
	}
}

// gang is a Job of Kubernetes whose pods take a GPU each, with a PodGroup. Its controller replaces pods that are evicted.
type gang struct {
	name            string
	pods, needs     int32
	queue, priority string
}

// createGang creates a gang that holds its GPUs until it is released.
func (c *cluster) createGang(t *testing.T, g gang) {
	t.Helper()
	c.create(t, podGroups, fmt.Sprintf(`
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: %s}
spec: {minMember: %d, minResources: {%s: %d}, queue: %s, priorityClassName: %q}
`, g.name, g.needs, gpu, g.needs, g.queue, g.priority))
	pod := podOf(g.name, c.untilReleased(g.name), wantsGPUs("1"), func(s *corev1.PodSpec) {
		s.SchedulerName, s.PriorityClassName, s.TerminationGracePeriodSeconds = "volcano", g.priority, ptr(int64(1))
	})
	_, err := c.kube.BatchV1().Jobs(c.namespace).Create(t.Context(), &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: g.name},
		Spec: batchv1.JobSpec{
			Parallelism: &g.pods, Completions: &g.pods,
			PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action:          batchv1.PodFailurePolicyActionIgnore,
				OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
			}}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{jobLabel: g.name}, Annotations: map[string]string{"scheduling.k8s.io/group-name": g.name}},
				Spec:       pod.Spec,
			},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// disband lets the pods of a gang end and removes it.
func (c *cluster) disband(t *testing.T, name string) {
	t.Helper()
	c.release(t, name)
	eventually(t, "gang "+name+" has ended", func(ctx context.Context) bool {
		job, err := c.kube.BatchV1().Jobs(c.namespace).Get(ctx, name, metav1.GetOptions{})
		require.NoError(t, err)
		return job.Status.CompletionTime != nil
	})
	c.dropGang(t, name)
}

func (c *cluster) dropGang(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, c.kube.BatchV1().Jobs(c.namespace).Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: ptr(metav1.DeletePropagationForeground)}))
	eventually(t, "the pods of gang "+name+" are gone", func(context.Context) bool { return len(c.podsOf(t, name)) == 0 })
	c.remove(t, podGroups, name)
}

// rolesByNode are the roles of a job's pods on each node, once all of them run.
func (c *cluster) rolesByNode(t *testing.T, job string, pods int) map[string][]string {
	t.Helper()
	c.awaitRunning(t, job, pods)
	roles := map[string][]string{}
	for _, p := range c.podsOf(t, job) {
		roles[p.Spec.NodeName] = append(roles[p.Spec.NodeName], p.Labels["training.kubeflow.org/replica-type"])
	}
	for _, there := range roles {
		slices.Sort(there)
	}
	return roles
}

// nodeOf is the node of a job with one worker.
func (c *cluster) nodeOf(t *testing.T, job string) string {
	t.Helper()
	nodes := slices.Collect(maps.Keys(c.rolesByNode(t, job, 1)))
	require.Len(t, nodes, 1)
	return nodes[0]
}

func (c *cluster) testPack(t *testing.T) {
	small := []string{"small-1", "small-2", "small-3"}
	used := map[string]bool{}
	for _, job := range small {
		c.createHeld(t, tfJob{name: job, roles: map[string]int{"Worker": 1}})
		used[c.nodeOf(t, job)] = true
	}
	require.Len(t, used, 1, "one node takes all three")
	c.createHeld(t, tfJob{name: "large", roles: map[string]int{"Worker": 1}, gpus: 3})
	require.False(t, used[c.nodeOf(t, "large")])
	c.finish(t, append(small, "large")...)
}

func (c *cluster) testSpreadJobs(t *testing.T) {
	used := map[string]bool{}
	for _, job := range []string{"apart-1", "apart-2"} {
		c.createHeld(t, tfJob{name: job, roles: map[string]int{"Worker": 1}})
		used[c.nodeOf(t, job)] = true
	}
	require.Len(t, used, 2)
	c.finish(t, "apart-1", "apart-2")
}

// A queue may use what another leaves, until a gang of the other wants its share: then pods make room that their own gang does not need.
func (c *cluster) testFairShare(t *testing.T) {
	for name, weight := range map[string]int{"research": 1, "production": 2} {
		_, err := c.any.Resource(queues).Create(t.Context(), manifest(t, fmt.Sprintf(`
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: %s}
spec: {weight: %d}
`, name, weight)), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	c.createGang(t, gang{name: "trial", pods: 6, needs: 1, queue: "research"})
	c.awaitRunning(t, "trial", 6)
	c.createGang(t, gang{name: "product", pods: 4, needs: 4, queue: "production"})
	c.awaitRunning(t, "product", 4)
	c.awaitRunning(t, "trial", 2)
	c.createGang(t, gang{name: "more", pods: 2, needs: 2, queue: "production"})
	c.awaitUnfit(t, "more", "")
	c.awaitRunning(t, "trial", 2)
	c.dropGang(t, "more")
	c.disband(t, "product")
	c.awaitRunning(t, "trial", 6)
	c.disband(t, "trial")
}

// The article's three placements of two TFJobs with a parameter server and two workers each: (a) all workers reach their server over the
// network, (b) one of two does, (c) none does.
func (c *cluster) testTopology(t *testing.T) {
	const affinity, antiAffinity = "volcano.sh/task-topology-affinity", "volcano.sh/task-topology-anti-affinity"
	for _, placement := range []struct {
		name        string
		annotations map[string]any
		beside      int // workers on the node of their server
	}{
		{"a", map[string]any{antiAffinity: "ps,worker"}, 0},
		{"b", map[string]any{affinity: "ps,worker", antiAffinity: "worker"}, 1},
		{"c", map[string]any{affinity: "ps,worker"}, 2},
	} {
		jobs := []string{placement.name + "-1", placement.name + "-2"}
		for _, job := range jobs {
			c.createHeld(t, tfJob{name: job, roles: map[string]int{"PS": 1, "Worker": 2}, annotations: placement.annotations})
			roles := c.rolesByNode(t, job, 3)
			t.Logf("(%s) %s: %v", placement.name, job, roles)
			beside := 0
			for _, there := range roles {
				if slices.Contains(there, "ps") {
					beside = len(there) - 1
				}
			}
			require.Equal(t, placement.beside, beside, "placement (%s) of %s: %v", placement.name, job, roles)
		}
		c.finish(t, jobs...)
	}
}

func (c *cluster) createPriorityClass(t *testing.T, name string, value int32) {
	t.Helper()
	_, err := c.kube.SchedulingV1().PriorityClasses().Create(t.Context(), &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value,
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

func (c *cluster) testGangPreemption(t *testing.T) {
	c.createPriorityClass(t, "urgent", 1000)
	c.createGang(t, gang{name: "patient", pods: 6, needs: 6, queue: "default"})
	c.awaitRunning(t, "patient", 6)
	c.createGang(t, gang{name: "equal", pods: 2, needs: 2, queue: "default"})
	c.awaitUnfit(t, "equal", "nvidia.com/gpu")
	c.awaitRunning(t, "patient", 6)
	c.dropGang(t, "equal")

	before := map[string]bool{}
	for _, p := range c.podsOf(t, "patient") {
		before[p.Name] = true
	}
	c.createGang(t, gang{name: "hasty", pods: 4, needs: 4, queue: "default", priority: "urgent"})
	c.awaitRunning(t, "hasty", 4)
	eventually(t, "four pods made room, and those that replace them wait", func(context.Context) bool {
		kept, waiting := 0, 0
		for _, p := range c.podsOf(t, "patient") {
			switch {
			case p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodFailed:
			case before[p.Name]:
				kept++
			case p.Status.Phase == corev1.PodPending:
				waiting++
			}
		}
		return kept == 2 && waiting == 4
	})
	c.disband(t, "hasty")
	c.awaitRunning(t, "patient", 6)
	c.disband(t, "patient")
}

// A step whose job is preempted waits as a whole, says for whom, and goes on: it has not failed.
func (c *cluster) testStepPreemption(t *testing.T) {
	c.createPriorityClass(t, "pressing", 2000)
	const ends = "trap 'exit 143' TERM; "
	wait, open := c.gate("low-is-done")
	args := []string{"--gpus=1", "--gang=true"}
	low := c.launcher(t, "tfjob", ends+wait, append(args, "--workers=6")...)
	low.node = "low"
	low.start(t)
	low.said(t, "created TFJob")
	eventually(t, "the job is there", func(ctx context.Context) bool { return len(low.jobs(ctx, t)) == 1 })
	first := low.jobs(t.Context(), t)[0]
	c.awaitRunning(t, first.GetName(), 6)

	waitHigh, openHigh := c.gate("high-is-done")
	high := c.launcher(t, "tfjob", ends+waitHigh, append(args, "--workers=4", "--priority=pressing")...)
	high.node = "high"
	high.start(t)
	high.said(t, "created TFJob")
	var preemptor string
	eventually(t, "the other job is there", func(ctx context.Context) bool {
		for _, job := range low.jobs(ctx, t) {
			if job.GetName() != first.GetName() {
				preemptor = job.GetName()
			}
		}
		return preemptor != ""
	})
	c.awaitRunning(t, preemptor, 4)
	low.said(t, "was preempted by TFJob "+preemptor+" (priority 2000)")
	eventually(t, "the job that was preempted waits again", func(ctx context.Context) bool {
		job, err := c.any.Resource(low.resource()).Namespace(c.namespace).Get(ctx, first.GetName(), metav1.GetOptions{})
		return err == nil && job.GetUID() != first.GetUID() && strings.Contains(job.GetAnnotations()["argosy.dev/preemption"], preemptor)
	})
	c.awaitRunning(t, first.GetName(), 0)
	openHigh(t)
	high.ends(t, 0)
	c.awaitRunning(t, first.GetName(), 6)
	open(t)
	said := low.ends(t, 0)
	require.NotContains(t, said, "attempt 2")
}
