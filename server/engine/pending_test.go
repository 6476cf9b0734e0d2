package engine_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/argosy-ml/argosy/launcher/pending"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/cluster"
	"github.com/argosy-ml/argosy/server/engine"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
)

// first is what the only waiting step of a run waits for.
func first(t *testing.T, kube []runtime.Object, others []runtime.Object, w cluster.Waiter) cluster.Pending {
	t.Helper()
	v := engine.New(nil, fake.NewClientset(kube...), enginetest.NewDynamic(others...), "kubeflow", slog.New(slog.DiscardHandler)).View()
	found, missing, err := v.Pending(t.Context(), ofRun, []cluster.Waiter{w})
	require.NoError(t, err)
	require.Empty(t, missing)
	require.Len(t, found, 1)
	return found[0]
}

// A step of its own says what it asks for, and what the nodes have.
func TestPendingStep(t *testing.T) {
	t.Parallel()
	pod := asking("kubeflow", "wf-fit-2", "r", "", "9")
	since := metav1.NewTime(time.Now().Add(-time.Minute).Truncate(time.Second))
	pod.Annotations = map[string]string{"workflows.argoproj.io/node-id": "wf-2"}
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, LastTransitionTime: since,
		Message: "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
	}}}
	p := first(t, append(machines(), pod), nil, cluster.Waiter{NodeID: "wf-2", StepName: "fit", Type: "Pod"})
	require.Equal(t, "INSUFFICIENT_RESOURCES", p.Cause)
	require.Equal(t, "no node has 9 CPUs free (1 node: too little cpu, 1 node: takes no new pods)", p.Sentence)
	require.Equal(t, since.Unix(), p.Since.Unix())
	require.Equal(t, cluster.Object{Kind: "Pod", Name: "wf-fit-2"}, p.ToldBy)
	require.Equal(t, 1, p.Pods)
	free := 5.9 // of the node that takes pods
	require.Len(t, p.Resources, 1)
	require.Equal(t, "cpu", p.Resources[0].Resource)
	require.InDelta(t, 9, p.Resources[0].Asked, 0)
	require.InDelta(t, free, *p.Resources[0].Free, 1e-9)
	require.InDelta(t, free, *p.Resources[0].LargestFree, 1e-9)
	require.True(t, p.Resources[0].Lacking)
}

// The waiting of a step ends at the earliest of the run's deadline, its own once a kubelet has its pod, and its job's pending timeout.
func TestPendingUntil(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second)
	w := cluster.Waiter{NodeID: "wf-2", StepName: "fit", Type: "Pod"}
	step := func(run string, began time.Time, most int64) *corev1.Pod {
		pod := asking("kubeflow", "wf-fit-2", "r", "", "9")
		pod.Annotations = map[string]string{"workflows.argoproj.io/node-id": "wf-2"}
		pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "ARGO_DEADLINE", Value: run}}
		pod.Status.Phase, pod.Spec.ActiveDeadlineSeconds = corev1.PodPending, &most
		if !began.IsZero() {
			pod.Status.StartTime = &metav1.Time{Time: began}
		}
		return pod
	}
	none, hour := time.Time{}.Format(time.RFC3339), now.Add(time.Hour).UTC().Format(time.RFC3339)
	for name, c := range map[string]struct {
		pod   *corev1.Pod
		until time.Time
		by    cluster.Limit
	}{
		"no limit":                             {step(none, time.Time{}, 60), time.Time{}, ""},
		"the run's":                            {step(hour, time.Time{}, 60), now.Add(time.Hour), cluster.RunDeadline},
		"the run's, which Argo gives its pods": {step(hour, now, 3599), now.Add(time.Hour), cluster.RunDeadline},
		"the step's":                           {step(hour, now, 60), now.Add(time.Minute), cluster.StepDeadline},
	} {
		p := first(t, append(machines(), c.pod), nil, w)
		require.Equal(t, []any{c.until.Unix(), c.by}, []any{p.Until.Unix(), p.UntilBy}, name)
	}

	made, pods, _ := training(t)
	launcher := pods[0].(*corev1.Pod)
	launcher.Status.Phase = corev1.PodRunning
	launcher.Spec.Containers[0].Args = append([]string{"argosy-launcher", "mpijob", "--pending-timeout=30m"}, words[2:]...)
	p := first(t, append(machines(), launcher), []runtime.Object{made}, cluster.Waiter{NodeID: "wf-1", Type: "Pod", PodName: "wf-all-reduce-1"})
	require.Equal(t, []any{made.GetCreationTimestamp().Add(30 * time.Minute).Unix(), cluster.PendingTimeout}, []any{p.Until.Unix(), p.UntilBy})
}

func TestPendingWithoutAPod(t *testing.T) {
	t.Parallel()
	for cause, w := range map[pending.Cause]cluster.Waiter{
		pending.Quota:        {NodeID: "wf-2", Type: "Pod", Message: `pods "p" is forbidden: exceeded quota: compute, requested: cpu=4, used: cpu=6, limited: cpu=8`},
		pending.Lock:         {NodeID: "wf-2", Type: "Pod", Waiting: "another step or run holds the lock kubeflow/Mutex/gpu"},
		pending.Suspended:    {NodeID: "wf-2", Type: "Suspend"},
		pending.StepStarting: {NodeID: "wf-2", Type: "Pod"},
		pending.Parallelism:  {Type: "Workflow", Message: "Workflow processing has been postponed because too many workflows are already running"},
	} {
		p := first(t, machines(), nil, w)
		require.Equal(t, string(cause), p.Cause)
		require.NotEmpty(t, p.Sentence)
		require.Equal(t, cluster.Object{Kind: "Workflow", Name: "wf"}, p.ToldBy)
	}
}

// Of a distributed job its workers are asked, then its gang, then the events of the job itself; the launcher's sentence is shown, as it
// knows who has what is missing.
func TestPendingJob(t *testing.T) {
	t.Parallel()
	w := cluster.Waiter{NodeID: "wf-1", StepName: "all-reduce", Type: "Pod", PodName: "wf-all-reduce-1"}
	made, pods, group := training(t)
	require.NoError(t, unstructured.SetNestedSlice(made.Object, []any{map[string]any{"type": "Created", "status": "True"}}, "status", "conditions"))
	launcher := pods[0].(*corev1.Pod)
	launcher.Status.Phase = corev1.PodRunning
	waits := func(index int, message string) *corev1.Pod {
		pod := pods[3-index].(*corev1.Pod).DeepCopy() // worker 1 comes before worker 0
		pod.Spec.NodeName = ""
		pod.Spec.Containers = []corev1.Container{{Name: "worker", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("4")}}}}
		pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message,
		}}}
		return pod
	}
	gang := "2/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 2 minAvailable; Pending: 2 Unschedulable"

	both := append(machines(), launcher, waits(0, gang), waits(1, "0/1 nodes are unavailable: 1 Insufficient cpu."))
	p := first(t, both, []runtime.Object{made}, w)
	require.Equal(t, []any{"INSUFFICIENT_RESOURCES", 2, "Pod"}, []any{p.Cause, p.Pods, p.ToldBy.Kind})
	require.Equal(t, []any{8.0, 4.0}, []any{p.Resources[0].Asked, p.Resources[0].LargestAsked})

	said := launcher.DeepCopy()
	said.Annotations[pending.Annotation] = "needs 2 workers with 4 CPUs each at once; 2 CPUs are in use by other"
	p = first(t, append(machines(), said, waits(0, gang), waits(1, gang)), []runtime.Object{made}, w)
	require.Equal(t, []any{"GANG", "needs 2 workers with 4 CPUs each at once; 2 CPUs are in use by other"}, []any{p.Cause, p.Sentence})

	require.NoError(t, unstructured.SetNestedField(group.Object, "Pending", "status", "phase"))
	queue := object(t, `{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: default}, status: {state: Closed}}`)
	p = first(t, append(machines(), launcher), []runtime.Object{made, group, queue}, w)
	require.Equal(t, []any{"QUEUE_CLOSED", "PodGroup"}, []any{p.Cause, p.ToldBy.Kind})

	refused := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kubeflow", Name: "e"}, InvolvedObject: corev1.ObjectReference{Kind: "MPIJob", Name: made.GetName()}, Type: "Warning", Reason: "MPIJobFailed",
		Message: `worker pod created failed: pods "w" is forbidden: error looking up service account kubeflow/trainer: serviceaccount "trainer" not found`,
	}
	p = first(t, append(machines(), launcher, refused), []runtime.Object{made}, w)
	require.Equal(t, []any{"SERVICE_ACCOUNT_MISSING", "MPIJob"}, []any{p.Cause, p.ToldBy.Kind})

	require.NoError(t, unstructured.SetNestedSlice(made.Object, nil, "status", "conditions"))
	p = first(t, append(machines(), launcher), []runtime.Object{made}, w)
	require.Equal(t, "OPERATOR_MISSING", p.Cause)
	require.Equal(t, made.GetCreationTimestamp().Unix(), p.Since.Unix())
}

var (
	commands  = schema.GroupVersionResource{Group: "bus.volcano.sh", Version: "v1alpha1", Resource: "commands"}
	podGroups = schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"}
)

func TestQueues(t *testing.T) {
	t.Parallel()
	serves := func(dyn dynamic.Interface) *cluster.Service {
		return cluster.NewService(engine.New(nil, fake.NewClientset(), dyn, "kubeflow", slog.New(slog.DiscardHandler)).View(), nil, "")
	}
	ctx := t.Context()
	_, err := serves(enginetest.WithoutVolcano(enginetest.NewDynamic())).ListQueues(ctx)
	require.Equal(t, apierr.NotFound, apierr.KindOf(err))
	require.ErrorContains(t, err, "the cluster has no Volcano")
	dyn := enginetest.NewDynamic()
	s := serves(dyn)
	none, err := s.ListQueues(ctx)
	require.NoError(t, err, "Volcano has not made its queues yet")
	require.Empty(t, none)

	q, err := s.CreateQueue(ctx, cluster.QueueChange{Name: "night", Capability: map[string]string{"cpu": "8", "memory": "16Gi"}})
	require.NoError(t, err)
	require.Equal(t, cluster.Amounts{"cpu": 8, "memory": 16 * giB}, q.Capability)
	require.Equal(t, int32(1), q.Weight)
	q, err = s.SetQueue(ctx, cluster.QueueChange{Name: "night", Weight: 3, Capability: map[string]string{"cpu": "4", "memory": ""}})
	require.NoError(t, err)
	require.Equal(t, cluster.Amounts{"cpu": 4}, q.Capability)
	require.Equal(t, int32(3), q.Weight)

	shut := false
	_, err = s.SetQueue(ctx, cluster.QueueChange{Name: "night", Open: &shut})
	require.NoError(t, err)
	told, err := dyn.Resource(commands).Namespace("default").List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, told.Items, 1)
	require.Equal(t, "CloseQueue", told.Items[0].Object["action"])
	require.Equal(t, "night", told.Items[0].Object["target"].(map[string]any)["name"])

	for want, call := range map[string]func() error{
		`want an amount such as 4, 500m or 16Gi`: func() error {
			_, err := s.CreateQueue(ctx, cluster.QueueChange{Name: "q", Capability: map[string]string{"cpu": "many"}})
			return err
		},
		`a name has lower-case letters`:  func() error { _, err := s.CreateQueue(ctx, cluster.QueueChange{Name: "Q!"}); return err },
		`there is a queue night already`: func() error { _, err := s.CreateQueue(ctx, cluster.QueueChange{Name: "night"}); return err },
		`there is no queue day`:          func() error { return s.DeleteQueue(ctx, "day") },
	} {
		require.ErrorContains(t, call(), want)
	}
	require.NoError(t, dyn.Tracker().Add(object(t, `{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g, namespace: kubeflow}, spec: {queue: night, minMember: 1}, status: {phase: Running}}`)))
	require.ErrorContains(t, s.DeleteQueue(ctx, "night"), "queue night has 1 gangs that run and 0 that wait")
	require.NoError(t, dyn.Resource(podGroups).Namespace("kubeflow").Delete(ctx, "g", metav1.DeleteOptions{}))
	require.NoError(t, s.DeleteQueue(ctx, "night"))
	none, err = s.ListQueues(ctx)
	require.NoError(t, err)
	require.Empty(t, none)
}
