package run_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/storetest"
	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) {
	leaks.VerifyTestMain(storetest.Main(m), goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}

// failCreates makes the first n creations of Workflows fail with err, before or after the Workflow is made.
func failCreates(b *enginetest.Bundle, n int, err error, made bool) {
	b.Argo.PrependReactor("create", "workflows", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if n--; n < 0 {
			return false, nil, nil
		}
		if made {
			if e := b.Argo.Tracker().Create(a.GetResource(), a.(clienttesting.CreateAction).GetObject(), a.GetNamespace()); e != nil {
				return true, nil, e
			}
		}
		return true, nil, err
	})
}

// work runs the outbox until the test ends.
func work(t *testing.T, b *enginetest.Bundle) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Runs.Outbox.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
}

func requireKind(t *testing.T, kind apierr.Kind, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, kind, apierr.KindOf(err), "%v", err)
}

func TestCreateFromAPipeline(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	p, err := b.Pipelines.Create(t.Context(), pipeline.Upload{FileName: "hello.yaml", Data: []byte(enginetest.Manifest)})
	require.NoError(t, err)
	v2, err := b.Pipelines.CreateVersion(t.Context(), pipeline.Upload{
		PipelineID: p.ID, Name: "v2", FileName: "v2.yaml", Data: []byte(strings.Replace(enginetest.Manifest, "value: hello", "value: bonjour", 1)),
	})
	require.NoError(t, err)
	parameters := []run.Parameter{{Name: "greeting", Value: "hi [[RunUUID]]"}}

	r, err := b.Runs.Creator.Create(t.Context(), run.Request{Name: " named ", PipelineID: p.ID, VersionID: p.Default.ID, Parameters: parameters})
	require.NoError(t, err)
	got, err := b.Runs.Reader.Get(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, "named", got.Name)
	require.Equal(t, experiment.DefaultName, got.ExperimentName)
	require.Equal(t, []string{p.ID, "hello.yaml", p.ID, "hello.yaml"}, []string{got.PipelineID, got.PipelineName, got.VersionID, got.VersionName})
	require.Equal(t, parameters, got.Parameters, "as given, macros and all")
	require.Empty(t, got.Status)
	wf := b.Workflow(t, r)
	require.NotNil(t, wf)
	require.Equal(t, got.Workflow, wf.Name)
	require.Equal(t, "hi "+r.ID, wf.Spec.Arguments.Parameters[0].Value.String())
	manifest, err := b.Runs.Reader.Manifest(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, enginetest.Manifest, string(manifest))

	r, err = b.Runs.Creator.Create(t.Context(), run.Request{PipelineID: p.ID})
	require.NoError(t, err)
	require.Equal(t, v2.ID, r.VersionID, "the default version")
	require.True(t, strings.HasPrefix(r.Name, "hello.yaml 20"), r.Name)
	require.Equal(t, []run.Parameter{{Name: "greeting", Value: "bonjour"}}, r.Defaults)
	left, err := b.Store.Unsubmitted(t.Context())
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	p, err := b.Pipelines.Create(t.Context(), pipeline.Upload{FileName: "a.yaml", Data: []byte(enginetest.Manifest)})
	require.NoError(t, err)
	q, err := b.Pipelines.Create(t.Context(), pipeline.Upload{FileName: "b.yaml", Data: []byte(enginetest.Manifest)})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		request run.Request
		kind    apierr.Kind
		message string
	}{
		"nothing":            {run.Request{}, apierr.Invalid, "the run needs a pipeline"},
		"both":               {run.Request{PipelineID: p.ID, Manifest: []byte(enginetest.Manifest)}, apierr.Invalid, "not both"},
		"another's version":  {run.Request{PipelineID: p.ID, VersionID: q.ID}, apierr.Invalid, "does not belong"},
		"unknown pipeline":   {run.Request{PipelineID: "none"}, apierr.NotFound, "pipeline none not found"},
		"unknown version":    {run.Request{VersionID: "none"}, apierr.NotFound, "version none not found"},
		"unknown experiment": {run.Request{PipelineID: p.ID, ExperimentID: "none"}, apierr.NotFound, "experiment none not found"},
		"unknown parameter":  {run.Request{PipelineID: p.ID, Parameters: []run.Parameter{{Name: "x"}}}, apierr.Invalid, "Unrecognized input parameter: x"},
		"no workflow":        {run.Request{Manifest: []byte("hello")}, apierr.Invalid, "it is not a Workflow"},
	} {
		_, err := b.Runs.Creator.Create(t.Context(), c.request)
		requireKind(t, c.kind, err)
		require.ErrorContains(t, err, c.message, name)
	}
	list, err := b.Runs.Reader.List(t.Context(), listing.Query{Size: 10}, run.Scope{})
	require.NoError(t, err)
	require.Zero(t, list.Total, "a refused run leaves nothing")

	require.NoError(t, b.Pipelines.DeleteVersion(t.Context(), p.ID))
	_, err = b.Runs.Creator.Create(t.Context(), run.Request{PipelineID: p.ID})
	requireKind(t, apierr.Invalid, err)
}

func TestCreateThatTheClusterRefusesLeavesNothing(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	failCreates(b, 1, apierrors.NewForbidden(schema.GroupResource{Resource: "workflows"}, "x", errors.New("over quota")), false)
	_, err := b.Runs.Creator.Create(t.Context(), run.Request{Manifest: []byte(enginetest.Manifest)})
	requireKind(t, apierr.Invalid, err)
	require.ErrorContains(t, err, "over quota")
	list, err := b.Runs.Reader.List(t.Context(), listing.Query{Size: 10}, run.Scope{})
	require.NoError(t, err)
	require.Zero(t, list.Total)
}

func TestCreateTakesAnotherNameWhenOneIsTaken(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	taken := 2
	b.Argo.PrependReactor("create", "workflows", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if taken--; taken >= 0 { // another client's Workflow has this name already
			wf := a.(clienttesting.CreateAction).GetObject().(*wfv1.Workflow).DeepCopy()
			wf.Labels = map[string]string{"pipeline/runid": "another"}
			require.NoError(t, b.Argo.Tracker().Create(a.GetResource(), wf, a.GetNamespace()))
		}
		return false, nil, nil
	})
	r := b.Start(t)
	require.Equal(t, r.Workflow, b.Workflow(t, r).Name)
	list, err := b.Runs.Reader.List(t.Context(), listing.Query{Size: 10}, run.Scope{})
	require.NoError(t, err)
	require.EqualValues(t, 1, list.Total)
}

func TestTerminate(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	r := b.Start(t)
	require.NoError(t, b.Runs.Changer.Terminate(t.Context(), r.ID))
	got, err := b.Runs.Reader.Get(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, run.Terminating, got.Status)
	require.Equal(t, wfv1.ShutdownStrategyTerminate, b.Workflow(t, r).Spec.Shutdown, "it has no exit handler")
	require.NoError(t, b.Runs.Changer.Terminate(t.Context(), r.ID), "asking twice is no error")

	require.NoError(t, b.Store.SetStatus(t.Context(), r.ID, run.Succeeded, ""))
	err = b.Runs.Changer.Terminate(t.Context(), r.ID)
	requireKind(t, apierr.Invalid, err)
	require.ErrorContains(t, err, "the run has ended (Succeeded)")
	requireKind(t, apierr.NotFound, b.Runs.Changer.Terminate(t.Context(), "none"))
}

func TestTerminateBeforeTheWorkflowIsMade(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	failCreates(b, 1, apierrors.NewServiceUnavailable("starting"), false)
	r := b.Start(t)
	require.NoError(t, b.Runs.Changer.Terminate(t.Context(), r.ID))
	got, err := b.Runs.Reader.Get(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, []any{run.Terminated, "terminated before its workflow was created", true}, []any{got.Status, got.Message, got.Settled})
	left, err := b.Store.Unsubmitted(t.Context())
	require.NoError(t, err)
	require.Empty(t, left, "and it never will be made")
}

func TestTerminateWhileTheClusterIsAway(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	failCreates(b, 1, apierrors.NewServiceUnavailable("starting"), false)
	r := b.Start(t)
	away := 2
	b.Argo.PrependReactor("get", "workflows", func(clienttesting.Action) (bool, runtime.Object, error) {
		away--
		return away >= 0, nil, apierrors.NewServiceUnavailable("still starting")
	})
	require.NoError(t, b.Runs.Changer.Terminate(t.Context(), r.ID))
	got, err := b.Runs.Reader.Get(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, run.Terminating, got.Status)
	work(t, b)
	got = b.Until(t, r.ID, func(r run.Run) bool { return r.Settled })
	require.Equal(t, run.Terminated, got.Status)
	require.Nil(t, b.Workflow(t, r), "a run that was stopped in time is never made")
}

func TestDelete(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	r := b.Start(t)
	require.NoError(t, b.Artifacts.Put(t.Context(), "runs/"+r.ID+"/n/main.log.gz", strings.NewReader("x"), 1))
	_, err := b.Store.Record(t.Context(), r.ID, run.State{Status: run.Running, Nodes: []run.Node{{ID: "n"}}})
	require.NoError(t, err)
	require.NoError(t, b.Store.SetHarvested(t.Context(), r.ID, "n", "runs/"+r.ID+"/n/main.log.gz", nil))

	b.Argo.PrependReactor("delete", "workflows", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewServiceUnavailable("away")
	})
	requireKind(t, apierr.Unavailable, b.Runs.Changer.Delete(t.Context(), r.ID)) // what runs must not be forgotten
	b.Argo.ReactionChain = b.Argo.ReactionChain[1:]
	require.NoError(t, b.Runs.Changer.Delete(t.Context(), r.ID))
	require.Nil(t, b.Workflow(t, r), "a run that is going is stopped")
	require.Zero(t, b.Artifacts.Keys())
	_, err = b.Runs.Reader.Get(t.Context(), r.ID)
	requireKind(t, apierr.NotFound, err)
	requireKind(t, apierr.NotFound, b.Runs.Changer.Delete(t.Context(), r.ID))
}

func TestReportMetrics(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	r := b.Start(t)
	of := func(node, name string, value float64) run.Metric {
		return run.Metric{NodeID: node, Name: name, Value: value, Format: run.Raw}
	}
	reports, err := b.Runs.Changer.ReportMetrics(t.Context(), r.ID, []run.Metric{
		of("n", "accuracy", 0.9), of("n", "images/sec", 134), of("n", "accuracy", 0.8), of("n", "1st", 1), of("n", "", 1), of("n", "a b", 1),
		of("", "loss", 1), of(strings.Repeat("n", 129), "loss", 1), of("n", "nan", math.NaN()), of("n", strings.Repeat("x", 65), 1),
	})
	require.NoError(t, err)
	var statuses []string
	for _, report := range reports {
		statuses = append(statuses, report.Status)
		require.Equal(t, report.Status == run.ReportOK, report.Message == "", "%+v", report)
	}
	bad := run.ReportInvalid
	require.Equal(t, []string{run.ReportOK, run.ReportOK, run.ReportDuplicate, bad, bad, bad, bad, bad, bad, bad}, statuses)
	reports, err = b.Runs.Changer.ReportMetrics(t.Context(), r.ID, []run.Metric{of("n", "accuracy", 1), of("m", "accuracy", 1)})
	require.NoError(t, err)
	require.Equal(t, []string{run.ReportDuplicate, run.ReportOK}, []string{reports[0].Status, reports[1].Status})
	_, err = b.Runs.Changer.ReportMetrics(t.Context(), "none", nil)
	requireKind(t, apierr.NotFound, err)
}

// pod makes the pod of a node, whose main container is in a state.
func pod(t *testing.T, b *enginetest.Bundle, id, name string, phase corev1.PodPhase, state corev1.ContainerState) {
	t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: enginetest.Namespace, UID: "uid", Labels: map[string]string{run.Label: id}, Annotations: map[string]string{"workflows.argoproj.io/node-id": "n"},
	}}
	p.Status.Phase = phase
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: state}}
	pods := b.Kube.CoreV1().Pods(enginetest.Namespace)
	if _, err := pods.Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
		_, err = pods.Update(t.Context(), p, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	r := b.Start(t)
	_, err := b.Store.Record(t.Context(), r.ID, run.State{Status: run.Running, Nodes: []run.Node{
		{ID: "dag", Type: "DAG", DisplayName: "all"},
		{ID: "n", Type: "Pod", DisplayName: "step", PodName: "p", Phase: run.Pending, Message: "ErrImagePull"},
	}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	archived := make(chan error, 1)
	watched := b.PodsWatched(1)
	go func() { archived <- b.Logs.Run(ctx) }()
	enginetest.Await(t, watched)
	defer func() { cancel(); require.NoError(t, <-archived) }()
	_, err = b.Runs.Logs.Text(t.Context(), logs.Query{RunID: r.ID, NodeID: "none"}, false)
	requireKind(t, apierr.NotFound, err)
	_, err = b.Runs.Logs.Text(t.Context(), logs.Query{RunID: r.ID, NodeID: "dag", Follow: true}, false)
	require.ErrorContains(t, err, "step all is a DAG and runs no container")
	_, err = b.Runs.Logs.Text(t.Context(), logs.Query{RunID: r.ID, NodeID: "n"}, false)
	require.ErrorContains(t, err, "step step has no log: it is Pending: ErrImagePull")

	// A follower that comes too early gets the log once the container starts.
	text := make(chan string, 1)
	go func() {
		log, err := b.Runs.Logs.Text(t.Context(), logs.Query{RunID: r.ID, NodeID: "n", Follow: true}, false)
		if err != nil {
			text <- err.Error()
			return
		}
		defer log.Close()
		all, _ := io.ReadAll(log)
		text <- string(all)
	}()
	pod(t, b, r.ID, "p", corev1.PodPending, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}})
	_, err = b.Runs.Logs.Text(t.Context(), logs.Query{RunID: r.ID, NodeID: "n"}, false)
	requireKind(t, apierr.NotFound, err)
	pod(t, b, r.ID, "p", corev1.PodRunning, corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
	pod(t, b, r.ID, "p", corev1.PodSucceeded, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}})
	require.Equal(t, "fake logs", <-text)
}

func TestLogFollowEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	r := b.Start(t)
	_, err := b.Store.Record(t.Context(), r.ID, run.State{Status: run.Running, Nodes: []run.Node{{ID: "n", Type: "Pod", PodName: "p"}}})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = b.Runs.Logs.Text(ctx, logs.Query{RunID: r.ID, NodeID: "n", Follow: true}, false)
	require.Error(t, err)
}

func TestReadArtifact(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	r := b.Start(t)
	_, err := b.Store.Record(t.Context(), r.ID, run.State{Nodes: []run.Node{{ID: "n", Artifacts: []run.Artifact{{Name: "model", Key: "k"}}}}})
	require.NoError(t, err)
	require.NoError(t, b.Artifacts.Put(t.Context(), "k", strings.NewReader("weights"), 7))
	object, err := b.Runs.Reader.ReadArtifact(t.Context(), r.ID, "n", "model")
	require.NoError(t, err)
	data, err := io.ReadAll(object)
	require.NoError(t, err)
	require.Equal(t, "weights", string(data))
	_, err = b.Runs.Reader.ReadArtifact(t.Context(), r.ID, "n", "none")
	requireKind(t, apierr.NotFound, err)
}

// A folder that is stored file by file is named as one; a lost artifact is not found.
func TestReadArtifactWithoutArchive(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t, func(c *run.Config) { c.Bucket = "bucket" })
	r := b.Start(t)
	artifacts := []run.Artifact{{Name: "model", Key: "run/model"}, {Name: "gone", Key: "run/gone"}}
	_, err := b.Store.Record(t.Context(), r.ID, run.State{Nodes: []run.Node{{ID: "n", Artifacts: artifacts}}})
	require.NoError(t, err)
	require.NoError(t, b.Artifacts.Put(t.Context(), "run/model/a", strings.NewReader("123"), 3))
	require.NoError(t, b.Artifacts.Put(t.Context(), "run/model/b/c", strings.NewReader("4567"), 4))
	_, err = b.Runs.Reader.ReadArtifact(t.Context(), r.ID, "n", "model")
	requireKind(t, apierr.Aborted, err)
	require.ErrorContains(t, err, "folder of 7 bytes")
	require.ErrorContains(t, err, "aws s3 cp --recursive s3://bucket/run/model/ model")
	_, err = b.Runs.Reader.ReadArtifact(t.Context(), r.ID, "n", "gone")
	requireKind(t, apierr.NotFound, err)
}

func TestFeed(t *testing.T) {
	t.Parallel()
	var f run.Feed
	one, all := f.Subscribe("a"), f.Subscribe("")
	f.Publish("b")
	f.Publish("a")
	f.Publish("a")
	<-one.C()
	require.Equal(t, []string{"a"}, one.Changed())
	<-all.C()
	require.Equal(t, []string{"a", "b"}, all.Changed())
	require.Empty(t, all.Changed())
	one.Close()
	one.Close()
	f.Publish("a")
	require.Empty(t, one.C())
	all.Close()
}
