package test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	podGroups = schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"}
	queues    = schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "queues"}
)

// Gangs on two nodes with two pretended GPUs each. The tests take both, so they run one after the other.
func TestGangs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := up(t, dir, "--nodes", "2", "--gpus", "2")
	for _, part := range []struct {
		name string
		test func(*testing.T)
	}{
		{"whose first job cannot be read lose that job only", c.testUnreadable},
		{"that do not fit together run one after the other", c.testGangsTakeTurns},
		{"that can never fit hold nothing and say why", c.testGangTooBig},
		{"are the workers alone where the launcher comes after them", c.testLauncherAfterWorkers},
		{"see pods of the default scheduler", c.testGangBesideOthers},
		{"obey the limits of their queue", c.testQueueLimit},
		{"do not hold half of the GPUs each, as pods that are placed one by one do", c.testDeadlock},
		{"take turns with the workers of others", c.testNoDeadlock},
		{"outlive the apiserver", c.testJobOutlivesApiserver},
	} {
		if !t.Run(part.name, part.test) {
			return // what it left holds GPUs that the next one needs
		}
	}
	c.stop(t)

	c = up(t, dir, "--nodes", "2", "--gpus", "2")
	eventually(t, "the operators of the jobs that are there start with the cluster", func(context.Context) bool {
		now := c.components(t)
		return now["mpi-operator"] && now["volcano"]
	})
	require.False(t, c.components(t)["training-operator"], "it has no job")
}

// components are those that run or ran since this start of the cluster.
func (c *cluster) components(t *testing.T) map[string]bool {
	t.Helper()
	components, err := c.home.ReadComponents()
	require.NoError(t, err)
	names := map[string]bool{}
	for _, component := range components {
		names[component.Name] = true
	}
	return names
}

// gangJob is an MPIJob whose workers take one GPU each and whose launcher holds them until the file of its name appears.
func (c *cluster) gangJob(name string, workers int, more string) string {
	return fmt.Sprintf(`
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: %[1]s}
spec:
  slotsPerWorker: 1
  runPolicy: {cleanPodPolicy: All%[3]s}
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      template:
        spec:
          containers:
            - name: launcher
              image: host
              command: [sh, -c, "mpirun --allow-run-as-root hostname; echo up; until [ -e %[4]s/%[1]s ]; do sleep 0.05; done"]
    Worker:
      replicas: %[2]d
      template:
        spec:
          containers:
            - {name: worker, image: host, resources: {limits: {nvidia.com/gpu: 1}}}
`, name, workers, more, c.home.Shared())
}

// release lets the launcher of a gangJob end.
func (c *cluster) release(t *testing.T, job string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(c.home.Shared(), job), nil, 0o644))
}

// A command that is a text, and no list, is a common mistake. The first job of a kind is accepted with it.
func (c *cluster) testUnreadable(t *testing.T) {
	job := manifest(t, c.gangJob("unreadable", 2, ""))
	launcher := []string{"spec", "mpiReplicaSpecs", "Launcher", "template", "spec", "containers"}
	containers, _, err := unstructured.NestedSlice(job.Object, launcher...)
	require.NoError(t, err)
	containers[0].(map[string]any)["command"] = "mpirun hostname"
	require.NoError(t, unstructured.SetNestedSlice(job.Object, containers, launcher...))
	_, err = c.any.Resource(mpijobs).Namespace(c.namespace).Create(t.Context(), job, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, "an event tells that it is gone, and why", func(ctx context.Context) bool {
		events, err := c.kube.CoreV1().Events(c.namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=Invalid,involvedObject.name=unreadable"})
		require.NoError(t, err)
		return len(events.Items) == 1 && strings.Contains(events.Items[0].Message, "containers.command of type []string")
	})
	eventually(t, "another of the kind is refused at once", func(ctx context.Context) bool {
		job.SetName("second")
		_, err = c.any.Resource(mpijobs).Namespace(c.namespace).Create(ctx, job, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInvalid(err)
	})
	eventually(t, "it is gone", func(ctx context.Context) bool {
		_, err = c.any.Resource(mpijobs).Namespace(c.namespace).Get(ctx, "unreadable", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

func (c *cluster) testGangsTakeTurns(t *testing.T) {
	c.create(t, mpijobs, c.gangJob("first", 3, ""))
	c.awaitCondition(t, mpijobs, "first", "Running")
	c.create(t, mpijobs, c.gangJob("second", 3, ""))
	c.awaitUnfit(t, "second", "nvidia.com/gpu")

	// From here on a pod of the second job that is bound while one of the first lives is a gang that was torn apart.
	bound := make(chan string, 1)
	watching, stop := context.WithCancel(t.Context())
	defer stop()
	pods, err := c.kube.CoreV1().Pods(c.namespace).Watch(watching, metav1.ListOptions{LabelSelector: jobLabel + "=second"})
	require.NoError(t, err)
	go func() {
		defer close(bound)
		for e := range pods.ResultChan() {
			if p, ok := e.Object.(*corev1.Pod); ok && p.Spec.NodeName != "" {
				bound <- p.Name
				return
			}
		}
	}()
	eventually(t, "three workers and the launcher, whose Job makes it a little later, are there", func(context.Context) bool {
		return len(c.podsOf(t, "second")) == 4
	})
	for _, p := range c.podsOf(t, "second") {
		require.Empty(t, p.Spec.NodeName)
	}
	require.Empty(t, bound)
	c.release(t, "first")
	c.awaitCondition(t, mpijobs, "first", "Succeeded")
	require.NotEmpty(t, <-bound)
	for _, p := range c.podsOf(t, "first") {
		require.False(t, p.Labels[roleLabel] == "worker" && p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil, "%s holds its GPU", p.Name)
	}
	c.awaitCondition(t, mpijobs, "second", "Running")
	c.release(t, "second")
	c.awaitCondition(t, mpijobs, "second", "Succeeded")
}

func (c *cluster) testGangTooBig(t *testing.T) {
	c.create(t, mpijobs, c.gangJob("huge", 5, ""))
	c.awaitUnfit(t, "huge", "nvidia.com/gpu")
	c.create(t, mpijobs, c.gangJob("small", 4, ""))
	c.awaitCondition(t, mpijobs, "small", "Running")
	for _, p := range c.podsOf(t, "huge") {
		require.Empty(t, p.Spec.NodeName)
	}
	c.release(t, "small")
	c.awaitCondition(t, mpijobs, "small", "Succeeded")
	c.remove(t, mpijobs, "huge")
}

// Such a job's launcher is created when all workers run: a gang that waits for it would wait for ever.
func (c *cluster) testLauncherAfterWorkers(t *testing.T) {
	job := strings.Replace(c.gangJob("late", 2, ""), "  slotsPerWorker: 1\n", "  slotsPerWorker: 1\n  launcherCreationPolicy: WaitForWorkersReady\n", 1)
	c.create(t, mpijobs, job)
	c.awaitCondition(t, mpijobs, "late", "Running")
	group := c.get(t, podGroups, "late")
	members, _, err := unstructured.NestedInt64(group, "spec", "minMember")
	require.NoError(t, err)
	require.EqualValues(t, 2, members)
	policy, _, err := unstructured.NestedMap(c.get(t, mpijobs, "late"), "spec", "runPolicy")
	require.NoError(t, err)
	require.NotContains(t, policy, "schedulingPolicy", "the job itself is left as it was written")
	c.release(t, "late")
	c.awaitCondition(t, mpijobs, "late", "Succeeded")
}

func (c *cluster) testGangBesideOthers(t *testing.T) {
	c.createPod(t, podOf("other", "sleep 1000", func(s *corev1.PodSpec) {
		s.Containers[0].Resources.Limits = corev1.ResourceList{gpu: resource.MustParse("2")}
	}))
	c.awaitPod(t, "other", "runs", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	c.create(t, mpijobs, c.gangJob("beside", 3, ""))
	c.awaitUnfit(t, "beside", "nvidia.com/gpu")
	require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "other", metav1.DeleteOptions{GracePeriodSeconds: ptr(int64(0))}))
	c.awaitCondition(t, mpijobs, "beside", "Running")
	c.release(t, "beside")
	c.awaitCondition(t, mpijobs, "beside", "Succeeded")
}

func (c *cluster) testQueueLimit(t *testing.T) {
	_, err := c.any.Resource(queues).Create(t.Context(), manifest(t, `
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: narrow}
spec: {weight: 1, capability: {nvidia.com/gpu: 2}}
`), metav1.CreateOptions{})
	require.NoError(t, err)
	const inQueue = ", schedulingPolicy: {queue: narrow}"
	c.create(t, mpijobs, c.gangJob("wide", 3, inQueue))
	c.create(t, mpijobs, c.gangJob("fitting", 2, inQueue))
	c.awaitCondition(t, mpijobs, "fitting", "Running")
	for _, p := range c.podsOf(t, "wide") {
		require.Empty(t, p.Spec.NodeName, "two GPUs are free, and the queue may not have them")
	}
	c.release(t, "fitting")
	c.awaitCondition(t, mpijobs, "fitting", "Succeeded")
	c.remove(t, mpijobs, "wide")
}

// The operators lose their watches, and mpi-operator ends itself when one is refused while the apiserver starts: whatever
// becomes of them, a job that runs goes on and is seen to end, and the next one runs.
func (c *cluster) testJobOutlivesApiserver(t *testing.T) {
	c.create(t, mpijobs, c.gangJob("survivor", 2, ""))
	c.awaitCondition(t, mpijobs, "survivor", "Running")
	before := c.pids(t)
	require.NoError(t, syscall.Kill(before["apiserver"], syscall.SIGKILL))
	eventually(t, "the apiserver and the controllers are new", func(context.Context) bool {
		now := c.pids(t)
		return now["apiserver"] != before["apiserver"] && now["controllers"] != before["controllers"]
	})
	c.release(t, "survivor")
	c.awaitCondition(t, mpijobs, "survivor", "Succeeded")
	c.create(t, mpijobs, c.gangJob("heir", 4, ""))
	c.awaitCondition(t, mpijobs, "heir", "Running")
	c.release(t, "heir")
	c.awaitCondition(t, mpijobs, "heir", "Succeeded")
}

const (
	jobLabel  = "training.kubeflow.org/job-name"
	roleLabel = "training.kubeflow.org/job-role"
)

func (c *cluster) podsOf(t *testing.T, job string) []corev1.Pod {
	t.Helper()
	pods, err := c.kube.CoreV1().Pods(c.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: jobLabel + "=" + job})
	require.NoError(t, err)
	return pods.Items
}

// awaitUnfit waits until an event of the gang's pod group names the resources that it lacks.
func (c *cluster) awaitUnfit(t *testing.T, group, want string) {
	t.Helper()
	eventually(t, "pod group "+group+" says why it waits", func(ctx context.Context) bool {
		events, err := c.kube.CoreV1().Events(c.namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=PodGroup,involvedObject.name=" + group})
		require.NoError(t, err)
		return slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return e.Reason == "Unschedulable" && strings.Contains(e.Message, want) })
	})
	eventually(t, "pod group "+group+" is Unschedulable", func(context.Context) bool {
		return conditionTrue(c.get(t, podGroups, group), "Unschedulable")
	})
}

// awaitCondition waits until a job's condition is true; a job that fails instead never will be.
func (c *cluster) awaitCondition(t *testing.T, r schema.GroupVersionResource, name, condition string) {
	t.Helper()
	eventually(t, r.Resource+" "+name+" is "+condition, func(ctx context.Context) bool {
		o, err := c.any.Resource(r).Namespace(c.namespace).Get(ctx, name, metav1.GetOptions{})
		require.NoError(t, err)
		if condition != "Failed" {
			require.False(t, conditionTrue(o.Object, "Failed"), "%v\n%s", o.Object["status"], c.lastWords(ctx, name))
		}
		return conditionTrue(o.Object, condition)
	})
}

// lastWords are the ends of the logs of a job's pods, for a failing test.
func (c *cluster) lastWords(ctx context.Context, job string) string {
	pods, err := c.kube.CoreV1().Pods(c.namespace).List(ctx, metav1.ListOptions{LabelSelector: jobLabel + "=" + job})
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, p := range pods.Items {
		text, err := c.kube.CoreV1().Pods(c.namespace).GetLogs(p.Name, &corev1.PodLogOptions{TailLines: ptr(int64(30))}).DoRaw(ctx)
		fmt.Fprintf(&b, "--- %s %s %v\n%s\n", p.Name, p.Status.Phase, err, text)
	}
	return b.String()
}

func conditionTrue(o map[string]any, condition string) bool {
	conditions, _, _ := unstructured.NestedSlice(o, "status", "conditions")
	for _, item := range conditions {
		if m := item.(map[string]any); m["type"] == condition && m["status"] == "True" {
			return true
		}
	}
	return false
}

func (c *cluster) get(t *testing.T, r schema.GroupVersionResource, name string) map[string]any {
	t.Helper()
	o, err := c.any.Resource(r).Namespace(c.namespace).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return o.Object
}

func (c *cluster) remove(t *testing.T, r schema.GroupVersionResource, name string) {
	t.Helper()
	require.NoError(t, c.any.Resource(r).Namespace(c.namespace).Delete(t.Context(), name, metav1.DeleteOptions{}))
}
