package engine_test

import (
	"encoding/json"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/run"
)

// failedRun makes of a run's Workflow one that failed in many ways at once. Nodes are named by their path.
func failedRun(t *testing.T, b *enginetest.Bundle) run.Run {
	t.Helper()
	r := b.Start(t)
	b.Update(t, r, func(wf *wfv1.Workflow) {
		ended := metav1.Now()
		node := func(name string, kind wfv1.NodeType, phase wfv1.NodePhase, boundary string, children ...string) {
			full := wf.Name
			if name != "" {
				full += "." + name
			}
			n := wfv1.NodeStatus{ID: wf.NodeID(full), Name: full, Type: kind, Phase: phase, Message: "m", TemplateName: "main", HostNodeName: "local", StartedAt: ended, FinishedAt: ended}
			if boundary != "-" {
				n.BoundaryID = wf.NodeID(wf.Name + boundary)
			}
			for _, c := range children {
				n.Children = append(n.Children, wf.NodeID(wf.Name+"."+c))
			}
			n.OutboundNodes = n.Children
			wf.Status.Nodes[n.ID] = n
		}
		wf.Status = wfv1.WorkflowStatus{Phase: wfv1.WorkflowFailed, Message: "no", FinishedAt: ended, Nodes: wfv1.Nodes{}, TaskResultsCompletionStatus: map[string]bool{}}
		node("", wfv1.NodeTypeDAG, wfv1.NodeFailed, "-", "good", "bad", "flaky", "tolerant", "unneeded")
		node("good", wfv1.NodeTypePod, wfv1.NodeSucceeded, "", "after")
		node("good.onExit", wfv1.NodeTypePod, wfv1.NodeSucceeded, "")
		node("bad", wfv1.NodeTypePod, wfv1.NodeFailed, "")
		node("bad.onExit", wfv1.NodeTypePod, wfv1.NodeSucceeded, "")
		node("after", wfv1.NodeTypePod, wfv1.NodeOmitted, "")
		node("unneeded", wfv1.NodeTypeSkipped, wfv1.NodeSkipped, "")
		node("flaky", wfv1.NodeTypeRetry, wfv1.NodeSucceeded, "", "flaky(0)", "flaky(1)")
		node("flaky(0)", wfv1.NodeTypePod, wfv1.NodeFailed, "")
		node("flaky(1)", wfv1.NodeTypePod, wfv1.NodeSucceeded, "")
		node("hopeless", wfv1.NodeTypeRetry, wfv1.NodeFailed, "", "hopeless(0)")
		node("hopeless(0)", wfv1.NodeTypePod, wfv1.NodeFailed, "")
		node("tolerant", wfv1.NodeTypeDAG, wfv1.NodeSucceeded, "", "tolerant.x")
		node("tolerant.x", wfv1.NodeTypePod, wfv1.NodeFailed, ".tolerant")
		node("group", wfv1.NodeTypeTaskGroup, wfv1.NodeError, "", "group(0)", "group(1)")
		node("group(0)", wfv1.NodeTypePod, wfv1.NodeSucceeded, "")
		node("group(1)", wfv1.NodeTypePod, wfv1.NodeError, "")
		node("onExit", wfv1.NodeTypePod, wfv1.NodeSucceeded, "-")
		wf.Status.TaskResultsCompletionStatus[wf.NodeID(wf.Name+".bad")] = true
		none, hour := int64(0), "3600"
		wf.Spec.Shutdown, wf.Spec.ActiveDeadlineSeconds, wf.Annotations["argosy.dev/deadline"] = wfv1.ShutdownStrategyStop, &none, hour
		wf.Status.StoredWorkflowSpec = wf.Spec.DeepCopy()
		wf.Labels["workflows.argoproj.io/completed"], wf.Labels["pipeline/persistedFinalState"] = "true", "true"
	})
	return r
}

func again(t *testing.T, b *enginetest.Bundle, r run.Run, attempt int64) (run.Again, *wfv1.Workflow) {
	t.Helper()
	text, err := json.Marshal(b.Workflow(t, r))
	require.NoError(t, err)
	a, err := b.Engine.Again(text, attempt, run.From{})
	require.NoError(t, err)
	wf := &wfv1.Workflow{}
	require.NoError(t, json.Unmarshal(a.Workflow, wf))
	return a, wf
}

func TestAgain(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	a, wf := again(t, b, failedRun(t, b), 1)
	require.Equal(t, []any{wfv1.WorkflowRunning, "", true}, []any{wf.Status.Phase, wf.Status.Message, wf.Status.FinishedAt.IsZero()})
	for _, spec := range []*wfv1.WorkflowSpec{&wf.Spec, wf.Status.StoredWorkflowSpec} {
		require.Empty(t, spec.Shutdown)
		require.EqualValues(t, 3600, *spec.ActiveDeadlineSeconds, "the manifest's again")
	}
	require.NotContains(t, wf.Annotations, "argosy.dev/deadline")
	require.Empty(t, wf.Status.TaskResultsCompletionStatus)
	require.NotContains(t, wf.Labels, "workflows.argoproj.io/completed")
	require.NotContains(t, wf.Labels, "pipeline/persistedFinalState")
	require.Equal(t, "1", wf.Annotations["argosy.dev/attempt"])

	phases := map[string]wfv1.NodePhase{}
	for _, n := range wf.Status.Nodes {
		phases[n.Name[len(wf.Name):]] = n.Phase
		for _, child := range n.Children {
			require.Contains(t, wf.Status.Nodes, child, "%s has a child that is gone", n.Name)
		}
	}
	require.Equal(t, map[string]wfv1.NodePhase{
		"": wfv1.NodeRunning, ".good": wfv1.NodeSucceeded, ".good.onExit": wfv1.NodeSucceeded, ".unneeded": wfv1.NodeSkipped,
		".flaky": wfv1.NodeSucceeded, ".flaky(0)": wfv1.NodeFailed, ".flaky(1)": wfv1.NodeSucceeded,
		".tolerant": wfv1.NodeSucceeded, ".tolerant.x": wfv1.NodeFailed, ".group": wfv1.NodeRunning, ".group(0)": wfv1.NodeSucceeded,
	}, phases)
	require.Len(t, a.Dropped, 7, "bad and its exit, after, hopeless and its attempt, one of the group, the exit handler")

	never := b.Start(t) // a Workflow that no controller has seen
	_, wf = again(t, b, never, 1)
	require.Equal(t, wfv1.WorkflowStatus{}, wf.Status)
	_, err := b.Engine.Again([]byte("x"), 1, run.From{})
	require.Equal(t, apierr.Internal, apierr.KindOf(err))
}

func TestResubmit(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	r := failedRun(t, b)
	before := b.Workflow(t, r)
	pods := b.Kube.CoreV1().Pods(enginetest.Namespace)
	bad, good := "", ""
	state, err := b.Engine.Find(t.Context(), enginetest.Namespace, r.Workflow)
	require.NoError(t, err)
	nodes, err := state.State()
	require.NoError(t, err)
	for _, n := range nodes.Nodes {
		switch n.Name {
		case before.Name + ".bad":
			bad = n.PodName
		case before.Name + ".good":
			good = n.PodName
		}
	}
	for _, name := range []string{bad, good} {
		_, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	a, _ := again(t, b, r, 1)
	require.NoError(t, b.Engine.Submit(t.Context(), a.Workflow))
	after := b.Workflow(t, r)
	require.Equal(t, wfv1.WorkflowRunning, after.Status.Phase)
	require.Equal(t, before.UID, after.UID)
	_, err = pods.Get(t.Context(), bad, metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "the pod of a step that runs again is gone")
	_, err = pods.Get(t.Context(), good, metav1.GetOptions{})
	require.NoError(t, err)

	// The pod of a step that stayed once, and runs again now, has the name that the next one will have.
	twice, _ := again(t, b, r, 2)
	_, err = pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: bad, Labels: map[string]string{"workflows.argoproj.io/completed": "true"}}}, metav1.CreateOptions{})
	require.NoError(t, err)
	b.Update(t, r, func(wf *wfv1.Workflow) {
		id := wf.NodeID(wf.Name + ".bad")
		wf.Status.Nodes[id] = wfv1.NodeStatus{ID: id, Name: wf.Name + ".bad", Type: wfv1.NodeTypePod, TemplateName: "main", Phase: wfv1.NodeSucceeded, FinishedAt: metav1.Now()}
	})
	require.NoError(t, b.Engine.Submit(t.Context(), twice.Workflow))
	_, err = pods.Get(t.Context(), bad, metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "it is gone, under whichever name")
	a = twice

	// Told again, a controller that is at work already is not disturbed.
	b.Update(t, r, func(wf *wfv1.Workflow) { wf.Status.Message = "at work" })
	require.NoError(t, b.Engine.Submit(t.Context(), a.Workflow))
	require.Equal(t, "at work", b.Workflow(t, r).Status.Message)

	// A Workflow that was deleted meanwhile is created again.
	require.NoError(t, b.Engine.DeleteWorkflow(t.Context(), enginetest.Namespace, r.Workflow))
	left := metav1.ObjectMeta{Name: "left", Labels: map[string]string{"workflows.argoproj.io/workflow": before.Name}}
	_, err = pods.Create(t.Context(), &corev1.Pod{ObjectMeta: left}, metav1.CreateOptions{})
	require.NoError(t, err)
	reports := b.Argo.ArgoprojV1alpha1().WorkflowTaskResults(enginetest.Namespace)
	_, err = reports.Create(t.Context(), &wfv1.WorkflowTaskResult{ObjectMeta: left}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, b.Engine.Submit(t.Context(), a.Workflow))
	require.Equal(t, wfv1.WorkflowRunning, b.Workflow(t, r).Status.Phase)
	seen, err := b.Engine.Find(t.Context(), enginetest.Namespace, r.Workflow)
	require.NoError(t, err)
	now, err := seen.State()
	require.NoError(t, err)
	require.EqualValues(t, 2, now.Attempt)
	_, err = pods.Get(t.Context(), "left", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "Argo would take it for the new attempt's")
	_, err = reports.Get(t.Context(), "left", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "Argo would take it for the new attempt's")
	require.WithinDuration(t, time.Now(), b.Workflow(t, r).Status.StartedAt.Time, time.Minute)
}
