package reconcile_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/reconcile"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/storetest"
	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) {
	leaks.VerifyTestMain(storetest.Main(m), goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}

// start reconciles until the test, or what it returns, ends it. It returns once the cluster is watched.
func start(t *testing.T, b *enginetest.Bundle) (stop func()) {
	t.Helper()
	workflows := b.WorkflowsWatched(1)
	pods := b.PodsWatched(2) // for logs, and for steps that may be reused
	archive := b.Archive()
	r := reconcile.New(reconcile.Config{Store: b.Store, Cache: b.Store, Cluster: b.Engine, Artifacts: b.Artifacts, Logs: archive, Feed: b.Feed, Log: b.Log})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- r.Run(ctx) }()
	go func() { done <- archive.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, errors.Join(<-done, <-done))
	})
	t.Cleanup(stop)
	enginetest.Await(t, workflows)
	enginetest.Await(t, pods)
	return stop
}

func settled(r run.Run) bool { return r.Settled }

func ran() corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
}

func makePod(t *testing.T, b *enginetest.Bundle, name string, phase corev1.PodPhase, state corev1.ContainerState) {
	t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: enginetest.Namespace, UID: types.UID(name)}}
	p.Status.Phase = phase
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: state}}
	_, err := b.Kube.CoreV1().Pods(enginetest.Namespace).Create(t.Context(), p, metav1.CreateOptions{})
	require.NoError(t, err)
}

// end ends the Workflow of a run, whose only step is a pod of the Workflow's name that leaves a metrics file at metrics.
func end(t *testing.T, b *enginetest.Bundle, r run.Run, phase wfv1.WorkflowPhase, metrics string) {
	t.Helper()
	b.Update(t, r, func(wf *wfv1.Workflow) { ended(wf, phase, metrics) })
}

func ended(wf *wfv1.Workflow, phase wfv1.WorkflowPhase, metrics string) {
	now := metav1.NewTime(time.Now().Truncate(time.Second)) // as fine as the cluster keeps it
	wf.Status.Phase, wf.Status.Message, wf.Status.StartedAt, wf.Status.FinishedAt = phase, "said so", now, now
	code := "7"
	n := wfv1.NodeStatus{
		ID: wf.Name, Name: wf.Name, DisplayName: "step", Type: wfv1.NodeTypePod, TemplateName: "main", Phase: wfv1.NodePhase(phase),
		StartedAt: now, FinishedAt: now, Outputs: &wfv1.Outputs{ExitCode: &code},
	}
	if metrics != "" {
		n.Outputs.Artifacts = wfv1.Artifacts{{Name: "mlpipeline-metrics", ArtifactLocation: wfv1.ArtifactLocation{S3: &wfv1.S3Artifact{Key: metrics}}}}
	}
	wf.Status.Nodes = wfv1.Nodes{wf.Name: n}
}

func put(t *testing.T, b *enginetest.Bundle, key, text string) {
	t.Helper()
	require.NoError(t, b.Artifacts.Put(t.Context(), key, strings.NewReader(text), int64(len(text))))
}

func archivedLog(t *testing.T, b *enginetest.Bundle, r run.Run) string {
	t.Helper()
	nodes, err := b.Store.Nodes(t.Context(), r.ID)
	require.NoError(t, err)
	require.Len(t, nodes, 1)
	require.True(t, nodes[0].Harvested)
	require.NotEmpty(t, nodes[0].LogKey)
	log, err := b.Runs.Logs.Text(t.Context(), logs.Query{RunID: r.ID, NodeID: nodes[0].ID}, false)
	require.NoError(t, err)
	defer log.Close()
	text, err := io.ReadAll(log)
	require.NoError(t, err)
	return string(text)
}

func TestRunIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	start(t, b)
	r := b.Start(t)
	b.Update(t, r, func(wf *wfv1.Workflow) {
		wf.Status.Phase = wfv1.WorkflowRunning
		wf.Status.Nodes = wfv1.Nodes{wf.Name: {ID: wf.Name, Name: wf.Name, Type: wfv1.NodeTypePod, Phase: wfv1.NodePending, Message: "ErrImagePull"}}
	})
	b.Until(t, r.ID, func(r run.Run) bool { return r.Status == run.Running })
	nodes, err := b.Store.Nodes(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"Pending", "ErrImagePull", r.Workflow}, []string{nodes[0].Phase, nodes[0].Message, nodes[0].PodName})

	makePod(t, b, r.Workflow, corev1.PodSucceeded, ran())
	put(t, b, "m", `{"metrics":[{"name":"images/sec","numberValue":134.66},{"name":"bad","numberValue":"x"}]}`)
	end(t, b, r, wfv1.WorkflowSucceeded, "m")
	got := b.Until(t, r.ID, settled)
	require.Equal(t, []string{run.Succeeded, "said so"}, []string{got.Status, got.Message})
	require.Equal(t, []run.Metric{{NodeID: r.Workflow, Name: "images/sec", Value: 134.66, Format: run.Raw}}, got.Metrics)
	require.Equal(t, []string{`step step: metric 2 of the file ("bad"): its value "x" is not a number`}, got.Warnings)
	require.Equal(t, "fake logs", archivedLog(t, b, r))
	require.Equal(t, "true", b.Workflow(t, r).Labels["pipeline/persistedFinalState"])
	nodes, err = b.Store.Nodes(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, "7", nodes[0].ExitCode)
	live, err := b.Store.Workflow(t.Context(), r.ID)
	require.NoError(t, err)
	require.Contains(t, string(live), `"phase":"Succeeded"`)
}

func TestWhatHappenedWhileTheServerWasDown(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	ended, gone := b.Start(t), b.Start(t)
	makePod(t, b, ended.Workflow, corev1.PodFailed, ran())
	end(t, b, ended, wfv1.WorkflowFailed, "")
	require.NoError(t, b.Engine.DeleteWorkflow(t.Context(), enginetest.Namespace, gone.Workflow))
	start(t, b)
	got := b.Until(t, ended.ID, settled)
	require.Equal(t, run.Failed, got.Status)
	require.Equal(t, "fake logs", archivedLog(t, b, ended))
	got = b.Until(t, gone.ID, settled)
	require.Equal(t, run.Error, got.Status)
	require.Contains(t, got.Message, "was deleted from the cluster before it ended")
	require.False(t, got.FinishedAt.IsZero())
}

func TestHarvestGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	b.Artifacts.Break(apierr.New(apierr.Unavailable, "the artifact store is away"))
	stop := start(t, b)
	r := b.Start(t)
	makePod(t, b, r.Workflow, corev1.PodSucceeded, ran())
	end(t, b, r, wfv1.WorkflowSucceeded, "m")
	got := b.Until(t, r.ID, func(r run.Run) bool { return r.Status == run.Succeeded })
	require.False(t, got.Settled, "the status shows at once; logs and metrics are waited for")
	require.Empty(t, b.Workflow(t, r).Labels["pipeline/persistedFinalState"])
	stop()
	b.Artifacts.Break(nil)
	put(t, b, "m", `{"metrics":[{"name":"a","numberValue":1}]}`)
	start(t, b)
	got = b.Until(t, r.ID, settled)
	require.Len(t, got.Metrics, 1)
	require.Empty(t, got.Warnings)
	require.Equal(t, "fake logs", archivedLog(t, b, r))
}

func TestWorkflowDeletedWhileItRuns(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	start(t, b)
	r := b.Start(t)
	b.Update(t, r, func(wf *wfv1.Workflow) {
		wf.Status.Phase = wfv1.WorkflowRunning
		wf.Status.Nodes = wfv1.Nodes{wf.Name: {ID: wf.Name, Name: wf.Name, DisplayName: "step", Type: wfv1.NodeTypePod, Phase: wfv1.NodeRunning, HostNodeName: "local"}}
	})
	b.Until(t, r.ID, func(r run.Run) bool { return r.Status == run.Running })
	require.NoError(t, b.Engine.DeleteWorkflow(t.Context(), enginetest.Namespace, r.Workflow))
	got := b.Until(t, r.ID, settled)
	require.Equal(t, run.Error, got.Status)
	require.Len(t, got.Warnings, 1)
	require.Contains(t, got.Warnings[0], "step step: its log is lost")
	nodes, err := b.Store.Nodes(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, []string{run.Error, "the workflow was deleted"}, []string{nodes[0].Phase, nodes[0].Message})
}

func TestStopIsSaidUntilItIsHeard(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	r := b.Start(t)
	deaf := 1
	b.Argo.PrependReactor("patch", "workflows", func(clienttesting.Action) (bool, runtime.Object, error) {
		deaf--
		return deaf >= 0, nil, apierrors.NewServiceUnavailable("away")
	})
	require.NoError(t, b.Runs.Changer.Terminate(t.Context(), r.ID))
	require.Empty(t, b.Workflow(t, r).Spec.Shutdown)
	start(t, b)
	require.Eventually(t, func() bool { return b.Workflow(t, r).Spec.Shutdown == wfv1.ShutdownStrategyTerminate }, 5*time.Minute, 10*time.Millisecond)
	makePod(t, b, r.Workflow, corev1.PodFailed, ran())
	end(t, b, r, wfv1.WorkflowFailed, "")
	require.Equal(t, run.Terminated, b.Until(t, r.ID, settled).Status)
}

func TestAWorkflowThatOutlivesItsRunIsStopped(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	r := b.Start(t)
	require.NoError(t, b.Store.SetStatus(t.Context(), r.ID, run.Failed, "given up"))
	require.NoError(t, b.Store.Settle(t.Context(), r.ID))
	start(t, b)
	require.Eventually(t, func() bool { return b.Workflow(t, r).Spec.Shutdown == wfv1.ShutdownStrategyTerminate }, 5*time.Minute, 10*time.Millisecond)
}

func TestStepsWithoutALog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pod     bool
		state   corev1.ContainerState
		warning string
	}{
		"the pod is gone":             {false, corev1.ContainerState{}, "step step: its log is lost"},
		"the container never started": {true, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := enginetest.New(t)
			start(t, b)
			r := b.Start(t)
			if c.pod {
				makePod(t, b, r.Workflow, corev1.PodFailed, c.state)
			}
			end(t, b, r, wfv1.WorkflowError, "")
			got := b.Until(t, r.ID, settled)
			require.Equal(t, run.Error, got.Status)
			require.Zero(t, b.Artifacts.Keys())
			if c.warning == "" {
				require.Empty(t, got.Warnings, "the step's own message tells why")
				return
			}
			require.Len(t, got.Warnings, 1)
			require.Contains(t, got.Warnings[0], c.warning)
		})
	}
}

// A step whose outputs came from the cache has the metrics of the one that ran, and no log that could be lost.
func TestStepFromTheCache(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	start(t, b)
	put(t, b, "m", `{"metrics":[{"name":"accuracy","numberValue":0.5}]}`)
	r := b.Start(t)
	b.Update(t, r, func(wf *wfv1.Workflow) {
		now := metav1.Now()
		wf.Status.Phase, wf.Status.StartedAt, wf.Status.FinishedAt = wfv1.WorkflowSucceeded, now, now
		wf.Status.Nodes = wfv1.Nodes{wf.Name: {
			ID: wf.Name, Name: wf.Name, DisplayName: "step", Type: wfv1.NodeTypePod, TemplateName: "main", Phase: wfv1.NodeSucceeded, StartedAt: now, FinishedAt: now,
			MemoizationStatus: &wfv1.MemoizationStatus{Hit: true, Key: "v1", CacheName: "steps"},
			Outputs:           &wfv1.Outputs{Artifacts: wfv1.Artifacts{{Name: "mlpipeline-metrics", ArtifactLocation: wfv1.ArtifactLocation{S3: &wfv1.S3Artifact{Key: "m"}}}}},
		}}
	})
	got := b.Until(t, r.ID, settled)
	require.Empty(t, got.Warnings)
	require.Len(t, got.Metrics, 1)
	_, err := b.Runs.Logs.Text(t.Context(), logs.Query{RunID: r.ID, NodeID: r.Workflow, Follow: true}, false)
	require.EqualError(t, err, "step step ran nothing, so it has no log: it was taken from the cache steps, key v1")
}

// A step that failed before it had a pod printed nothing, so no log of its can be lost.
func TestStepWithoutAPod(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	start(t, b)
	r := b.Start(t)
	b.Update(t, r, func(wf *wfv1.Workflow) { // at once: a step that ended with a pod has a log to lose
		ended(wf, wfv1.WorkflowError, "")
		n := wf.Status.Nodes[wf.Name]
		n.Message, n.Outputs = `pods "x" is forbidden: exceeded quota`, nil
		wf.Status.Nodes[wf.Name] = n
	})
	got := b.Until(t, r.ID, settled)
	require.Equal(t, run.Error, got.Status)
	require.Empty(t, got.Warnings)
	nodes, err := b.Store.Nodes(t.Context(), r.ID)
	require.NoError(t, err)
	require.Empty(t, nodes[0].PodName)
}

func TestMissingMetricsFileIsAWarning(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	start(t, b)
	r := b.Start(t)
	makePod(t, b, r.Workflow, corev1.PodSucceeded, ran())
	end(t, b, r, wfv1.WorkflowSucceeded, "nowhere")
	got := b.Until(t, r.ID, settled)
	require.Equal(t, []string{"step step: its metrics file is lost: the artifact store has no nowhere"}, got.Warnings)
	require.Equal(t, "fake logs", archivedLog(t, b, r), "the log does not suffer")
}

func TestWhatKeepsFailingIsGivenUpWithAWarning(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	b.Artifacts.Break(errors.New("access denied"))
	start(t, b)
	r := b.Start(t)
	makePod(t, b, r.Workflow, corev1.PodSucceeded, ran())
	end(t, b, r, wfv1.WorkflowSucceeded, "")
	got := b.Until(t, r.ID, settled)
	require.Len(t, got.Warnings, 1)
	require.Contains(t, got.Warnings[0], "step step: its log is lost: access denied")
}

func TestWorkflowsOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	start(t, b)
	stranger := &wfv1.Workflow{ObjectMeta: metav1.ObjectMeta{Name: "stranger", Namespace: enginetest.Namespace, Labels: map[string]string{"pipeline/runid": "unknown"}}}
	_, err := b.Argo.ArgoprojV1alpha1().Workflows(enginetest.Namespace).Create(t.Context(), stranger, metav1.CreateOptions{})
	require.NoError(t, err)
	r := b.Start(t) // once it is settled, the stranger was looked at too
	makePod(t, b, r.Workflow, corev1.PodSucceeded, ran())
	end(t, b, r, wfv1.WorkflowSucceeded, "")
	b.Until(t, r.ID, settled)
	got := b.Workflow(t, run.Run{ID: "unknown"})
	require.Equal(t, stranger.Labels, got.Labels)
	require.Empty(t, got.Spec.Shutdown)
}
