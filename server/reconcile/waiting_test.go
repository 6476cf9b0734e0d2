package reconcile_test

import (
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/launcher/pending"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/run"
)

// waitingStep has the only step of a run be in a phase, and its pod say what it waits for.
func waitingStep(t *testing.T, b *enginetest.Bundle, r run.Run, phase wfv1.NodePhase, change func(*corev1.Pod)) {
	t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: r.Workflow, Namespace: enginetest.Namespace, UID: "p", CreationTimestamp: metav1.NewTime(time.Now().Add(-time.Minute)),
		Labels: map[string]string{"pipeline/runid": r.ID}, Annotations: map[string]string{"workflows.argoproj.io/node-id": r.Workflow},
	}}
	change(p)
	_, err := b.Kube.CoreV1().Pods(enginetest.Namespace).Create(t.Context(), p, metav1.CreateOptions{})
	require.NoError(t, err)
	b.Update(t, r, func(wf *wfv1.Workflow) {
		wf.Status.Phase = wfv1.WorkflowRunning
		wf.Status.Nodes = wfv1.Nodes{wf.Name: {ID: wf.Name, Name: wf.Name, DisplayName: "step", Type: wfv1.NodeTypePod, Phase: phase}}
	})
}

func changePod(t *testing.T, b *enginetest.Bundle, r run.Run, change func(*corev1.Pod)) {
	t.Helper()
	pods := b.Kube.CoreV1().Pods(enginetest.Namespace)
	p, err := pods.Get(t.Context(), r.Workflow, metav1.GetOptions{})
	require.NoError(t, err)
	change(p)
	_, err = pods.Update(t.Context(), p, metav1.UpdateOptions{})
	require.NoError(t, err)
}

// untilNode waits for the step to become what is asked for, woken by the feed.
func untilNode(t *testing.T, b *enginetest.Bundle, r run.Run, is func(run.Node) bool) (n run.Node) {
	t.Helper()
	b.Until(t, r.ID, func(run.Run) bool {
		nodes, err := b.Store.Nodes(t.Context(), r.ID)
		require.NoError(t, err)
		if len(nodes) == 1 {
			n = nodes[0]
		}
		return len(nodes) == 1 && is(n)
	})
	return n
}

// TestWaiting: a step's waiting reason follows its changes while the Workflow stays the same, outlives the server, and goes.
func TestWaiting(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	stop := start(t, b)
	r := b.Start(t)
	waitingStep(t, b, r, wfv1.NodeRunning, func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodRunning
		p.Annotations[pending.Annotation] = "needs 2 workers"
	})
	n := untilNode(t, b, r, func(n run.Node) bool { return n.Waiting == "needs 2 workers" })
	require.Equal(t, []string{run.Running, run.Pending}, []string{n.Phase, n.Shown()}, "the engine's word stays beside what people see")
	live, err := b.Store.Workflow(t.Context(), r.ID)
	require.NoError(t, err)
	require.Contains(t, string(live), `"phase":"Running"`, "as KFP shows it")
	for phase, want := range map[string]int{run.Pending: 1, run.Running: 0} {
		p, err := b.Store.ListNodes(t.Context(), r.ID, run.NodeQuery{Size: 10, Phases: []string{phase}})
		require.NoError(t, err)
		require.Len(t, p.Items, want, phase)
	}

	changePod(t, b, r, func(p *corev1.Pod) { p.Annotations[pending.Annotation] = "needs 1 worker" })
	untilNode(t, b, r, func(n run.Node) bool { return n.Waiting == "needs 1 worker" })
	stop()
	before := b.Until(t, r.ID, func(run.Run) bool { return true }).Revision
	start(t, b)
	changePod(t, b, r, func(p *corev1.Pod) { delete(p.Annotations, pending.Annotation) })
	n = untilNode(t, b, r, func(n run.Node) bool { return n.Waiting == "" })
	require.Equal(t, run.Running, n.Shown())
	require.Equal(t, before+1, b.Until(t, r.ID, func(run.Run) bool { return true }).Revision, "the restart itself changed nothing")
}

// TestWaitingOfAPod: a pod that cannot start says why, and a step that has ended waits for nothing.
func TestWaitingOfAPod(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	start(t, b)
	r := b.Start(t)
	waitingStep(t, b, r, wfv1.NodePending, func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodPending
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: `secret "s" not found`},
		}}}
	})
	n := untilNode(t, b, r, func(n run.Node) bool { return n.Waiting != "" })
	require.Equal(t, `secret "s" not found: create it in namespace kubeflow, and the step goes on`, n.Waiting)
	end(t, b, r, wfv1.WorkflowFailed, "")
	untilNode(t, b, r, func(n run.Node) bool { return n.Phase == run.Failed && n.Waiting == "" })
}

// TestWaitingForALock: what has no pod yet says it in the Workflow.
func TestWaitingForALock(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	start(t, b)
	for want, node := range map[string]wfv1.NodeStatus{
		"another step or run holds the lock kubeflow/Mutex/gpu": {SynchronizationStatus: &wfv1.NodeSynchronizationStatus{Waiting: "kubeflow/Mutex/gpu"}},
		"the namespace's quota has no room for its pod: few, requested: cpu=4, used: cpu=8, limited: cpu=10": {
			Message: `pods "x" is forbidden: exceeded quota: few, requested: cpu=4, used: cpu=8, limited: cpu=10`,
		},
	} {
		r := b.Start(t)
		b.Update(t, r, func(wf *wfv1.Workflow) {
			node.ID, node.Name, node.Type, node.Phase = wf.Name, wf.Name, wfv1.NodeTypePod, wfv1.NodePending
			wf.Status.Phase, wf.Status.Nodes = wfv1.WorkflowRunning, wfv1.Nodes{wf.Name: node}
		})
		n := untilNode(t, b, r, func(n run.Node) bool { return n.Waiting != "" })
		require.Equal(t, want, n.Waiting)
	}
}

// TestWaitingForAMoment: what a young pod waits for costs nothing: the run changes when its Workflow does.
func TestWaitingForAMoment(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	start(t, b)
	r := b.Start(t)
	waitingStep(t, b, r, wfv1.NodePending, func(p *corev1.Pod) {
		p.CreationTimestamp = metav1.NewTime(time.Now().Add(time.Hour)) // young as long as the test takes
		p.Status.Phase = corev1.PodPending
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/1 nodes are available: 1 Insufficient cpu.",
		}}
	})
	n := untilNode(t, b, r, func(n run.Node) bool { return n.Phase == run.Pending })
	require.Empty(t, n.Waiting)
	before := b.Until(t, r.ID, func(run.Run) bool { return true }).Revision
	changePod(t, b, r, func(p *corev1.Pod) { p.Status = corev1.PodStatus{Phase: corev1.PodRunning} })
	b.Update(t, r, func(wf *wfv1.Workflow) {
		n := wf.Status.Nodes[wf.Name]
		n.Phase = wfv1.NodeRunning
		wf.Status.Nodes[wf.Name] = n
	})
	untilNode(t, b, r, func(n run.Node) bool { return n.Phase == run.Running })
	require.Equal(t, before+1, b.Until(t, r.ID, func(run.Run) bool { return true }).Revision)
}

// TestAJobThatStarts: a distributed step is pending before its launcher could say so, and runs when it says that.
func TestAJobThatStarts(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	start(t, b)
	r := b.Start(t)
	b.Update(t, r, func(wf *wfv1.Workflow) {
		wf.Spec.Templates[0].Container.Image, wf.Spec.Templates[0].Container.Command = "argosy-launcher", []string{"argosy-launcher", "mpijob"}
	})
	waitingStep(t, b, r, wfv1.NodeRunning, func(p *corev1.Pod) {
		p.CreationTimestamp = metav1.NewTime(time.Now().Add(time.Hour))
		p.Status.Phase = corev1.PodRunning
	})
	b.Update(t, r, func(wf *wfv1.Workflow) {
		n := wf.Status.Nodes[wf.Name]
		n.TemplateName = wf.Spec.Templates[0].Name
		wf.Status.Nodes[wf.Name] = n
	})
	n := untilNode(t, b, r, func(n run.Node) bool { return n.Waiting != "" })
	require.Equal(t, []string{"its MPIJob is starting", run.Pending}, []string{n.Waiting, n.Shown()})
	changePod(t, b, r, func(p *corev1.Pod) { p.Annotations[pending.Annotation] = "" })
	n = untilNode(t, b, r, func(n run.Node) bool { return n.Waiting == "" })
	require.Equal(t, run.Running, n.Shown())
}
