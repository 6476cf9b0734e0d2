package engine_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/cluster"
	"github.com/argosy-ml/argosy/server/engine"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
)

func TestAllJobs(t *testing.T) {
	t.Parallel()
	made, pods, group := training(t)
	pods[0].(*corev1.Pod).Labels["workflows.argoproj.io/workflow"] = "wf"
	other := made.DeepCopy()
	other.SetName("other")
	other.SetLabels(map[string]string{"pipeline/runid": "another", "argosy.dev/step": "fit"})
	other.SetCreationTimestamp(metav1.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC))
	stranger := made.DeepCopy()
	stranger.SetName("stranger")
	stranger.SetLabels(nil)
	v := engine.New(nil, fake.NewClientset(pods...), enginetest.NewDynamic(made, group, other, stranger), "kubeflow", slog.New(slog.DiscardHandler)).View()
	jobs, missing, err := v.AllJobs(t.Context())
	require.NoError(t, err)
	require.Empty(t, missing)
	require.Len(t, jobs, 2, "those without a run are not shown")
	require.Equal(t, []string{"another", "", "fit", "other"}, []string{jobs[0].RunID, jobs[0].NodeID, jobs[0].StepName, jobs[0].Name}, "the oldest first; the label has the step's name")
	require.Empty(t, jobs[0].Workers, "pods of another run are not its own")
	require.Equal(t, []string{"r", "wf-1", "all-reduce"}, []string{jobs[1].RunID, jobs[1].NodeID, jobs[1].StepName})
	require.Len(t, jobs[1].Workers, 3)
	require.Equal(t, 2, *jobs[1].RequestedPods)
	require.Equal(t, "r", jobs[1].PodGroup.RunID)
}

// Stopping a job deletes the pod of its step, whose launcher deletes the job.
func TestStopJob(t *testing.T) {
	t.Parallel()
	made, pods, _ := training(t)
	kube := fake.NewClientset(pods...)
	v := engine.New(nil, kube, enginetest.NewDynamic(made), "kubeflow", slog.New(slog.DiscardHandler)).View()
	require.Equal(t, apierr.NotFound, apierr.KindOf(v.StopJob(t.Context(), ofRun, "no-such-job")))
	require.NoError(t, v.StopJob(t.Context(), ofRun, made.GetName()))
	_, err := kube.CoreV1().Pods("kubeflow").Get(t.Context(), "wf-all-reduce-1", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	err = v.StopJob(t.Context(), ofRun, made.GetName())
	require.Equal(t, apierr.Aborted, apierr.KindOf(err))
	require.ErrorContains(t, err, "has no launcher any more")

	require.NoError(t, unstructured.SetNestedSlice(made.Object, []any{map[string]any{"type": "Succeeded", "status": "True"}}, "status", "conditions"))
	v = engine.New(nil, fake.NewClientset(pods...), enginetest.NewDynamic(made), "kubeflow", slog.New(slog.DiscardHandler)).View()
	err = v.StopJob(t.Context(), ofRun, made.GetName())
	require.Equal(t, apierr.Aborted, apierr.KindOf(err))
	require.ErrorContains(t, err, "has ended")
}

func TestUse(t *testing.T) {
	t.Parallel()
	metrics := object(t, `{apiVersion: metrics.k8s.io/v1beta1, kind: PodMetrics, metadata: {namespace: kubeflow, name: w-0, labels: {pipeline/runid: r}}, timestamp: "2026-11-20T12:00:00Z",
  containers: [{name: main, usage: {cpu: 1500m, memory: 1Gi}}, {name: side, usage: {cpu: 250m, memory: 1Gi}}]}`)
	dyn := enginetest.NewDynamic()
	require.NoError(t, dyn.Tracker().Create(podMetrics, metrics, "kubeflow"))
	v := engine.New(nil, fake.NewClientset(), dyn, "kubeflow", slog.New(slog.DiscardHandler)).View()
	use, err := v.Use(t.Context(), ofRun)
	require.NoError(t, err)
	require.Equal(t, cluster.Use{Pods: []cluster.PodUse{{
		Pod: "w-0", Used: cluster.Amounts{"cpu": 1.75, "memory": 2 * giB}, MeasuredAt: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
	}}}, use)

	forbid(&dyn.Fake, "list", "pods", false)
	use, err = v.Use(t.Context(), ofRun)
	require.NoError(t, err)
	require.Equal(t, []cluster.Right{{Verb: "list", Resource: "pods.metrics.k8s.io", Namespace: "kubeflow"}}, use.Missing)
	dyn.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewNotFound(podMetrics.GroupResource(), "")
	})
	use, err = v.Use(t.Context(), ofRun)
	require.NoError(t, err)
	require.Contains(t, use.Message, "it has no metrics API")
}

var podMetrics = schema.GroupVersionResource{Group: "metrics.k8s.io", Version: "v1beta1", Resource: "pods"}
