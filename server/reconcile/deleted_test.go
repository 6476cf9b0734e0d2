package reconcile_test

import (
	"slices"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/engine"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/run"
)

// deleteHeld marks the Workflow of a run as deleted, as the API server does with one that a finalizer holds.
func deleteHeld(t *testing.T, b *enginetest.Bundle, r run.Run) {
	t.Helper()
	b.Update(t, r, func(wf *wfv1.Workflow) { wf.DeletionTimestamp = &metav1.Time{Time: time.Now().Truncate(time.Second)} })
}

// TestHeldUntilRecorded: the finalizer stays while the artifact store is away, and goes with the label, in one write.
func TestHeldUntilRecorded(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	b.Artifacts.Break(apierr.New(apierr.Unavailable, "the artifact store is away"))
	stop := start(t, b)
	r := b.Start(t)
	makePod(t, b, r.Workflow, corev1.PodSucceeded, ran())
	end(t, b, r, wfv1.WorkflowSucceeded, "")
	b.Until(t, r.ID, func(r run.Run) bool { return r.Status == run.Succeeded })
	deleteHeld(t, b, r)
	require.Equal(t, []string{engine.Finalizer}, b.Workflow(t, r).Finalizers)
	stop()

	b.Artifacts.Break(nil)
	b.Argo.ClearActions()
	start(t, b)
	require.Equal(t, run.Succeeded, b.Until(t, r.ID, settled).Status, "it had ended when it was deleted")
	require.Equal(t, "fake logs", archivedLog(t, b, r))
	wf := b.Workflow(t, r)
	require.Empty(t, wf.Finalizers)
	require.Equal(t, "true", wf.Labels["pipeline/persistedFinalState"])
	first := slices.IndexFunc(b.Argo.Actions(), func(a clienttesting.Action) bool { return a.GetVerb() == "patch" })
	require.GreaterOrEqual(t, first, 0)
	patch := string(b.Argo.Actions()[first].(clienttesting.PatchAction).GetPatch()) // another, of a late watch, changes nothing more
	require.Contains(t, patch, "finalizers")
	require.Contains(t, patch, "persistedFinalState")
}

// TestDeletedBeforeItsEnd: the run ends as deleted with its log so far, and stays so whatever its steps still do.
func TestDeletedBeforeItsEnd(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	r := b.Start(t)
	makePod(t, b, r.Workflow, corev1.PodRunning, corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
	b.Update(t, r, func(wf *wfv1.Workflow) {
		wf.Status.Phase = wfv1.WorkflowRunning
		wf.Status.Nodes = wfv1.Nodes{wf.Name: {ID: wf.Name, Name: wf.Name, DisplayName: "step", Type: wfv1.NodeTypePod, Phase: wfv1.NodeRunning, HostNodeName: "local"}}
	})
	deleteHeld(t, b, r)
	b.Artifacts.Break(apierr.New(apierr.Unavailable, "the artifact store is away"))
	start(t, b)
	got := b.Until(t, r.ID, func(r run.Run) bool { return run.Final(r.Status) })
	require.Equal(t, run.Error, got.Status)
	require.Contains(t, got.Message, "was deleted from the cluster before it ended")
	require.Eventually(t, func() bool { return b.Workflow(t, r).Spec.Shutdown == wfv1.ShutdownStrategyTerminate }, 5*time.Minute, 5*time.Millisecond)
	end(t, b, r, wfv1.WorkflowFailed, "") // the controller, which does not mind deletion
	pods := b.Kube.CoreV1().Pods(enginetest.Namespace)
	pod, err := pods.Get(t.Context(), r.Workflow, metav1.GetOptions{})
	require.NoError(t, err)
	pod.Status.Phase, pod.Status.ContainerStatuses[0].State = corev1.PodFailed, ran()
	_, err = pods.Update(t.Context(), pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	b.Artifacts.Break(nil)
	got = b.Until(t, r.ID, settled)
	require.Equal(t, run.Error, got.Status)
	require.Contains(t, got.Message, "was deleted from the cluster before it ended")
	require.Equal(t, "fake logs", archivedLog(t, b, r))
	require.Empty(t, b.Workflow(t, r).Finalizers)
	nodes, err := b.Store.Nodes(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, []string{run.Error, "the workflow was deleted"}, []string{nodes[0].Phase, nodes[0].Message})
	live, err := b.Store.Workflow(t.Context(), r.ID)
	require.NoError(t, err)
	require.Contains(t, string(live), `"phase":"Error"`, "clients that read the Workflow see the same")
}

// TestNothingHangs: a Workflow that is deleted goes, also when no run is kept for it, and when its run was given up.
func TestNothingHangs(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	stranger := &wfv1.Workflow{ObjectMeta: metav1.ObjectMeta{
		Name: "stranger", Namespace: enginetest.Namespace, Labels: map[string]string{"pipeline/runid": "unknown"},
		Finalizers: []string{engine.Finalizer}, DeletionTimestamp: &metav1.Time{Time: time.Now()},
	}}
	_, err := b.Argo.ArgoprojV1alpha1().Workflows(enginetest.Namespace).Create(t.Context(), stranger, metav1.CreateOptions{})
	require.NoError(t, err)
	given := b.Start(t)
	require.NoError(t, b.Store.SetStatus(t.Context(), given.ID, run.Failed, "given up"))
	require.NoError(t, b.Store.Settle(t.Context(), given.ID))
	deleteHeld(t, b, given)
	start(t, b)
	for _, r := range []run.Run{{ID: "unknown"}, given} {
		require.Eventually(t, func() bool { return len(b.Workflow(t, r).Finalizers) == 0 }, 5*time.Minute, 5*time.Millisecond, r.ID)
	}
}
