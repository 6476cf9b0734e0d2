package job

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/sdk/train/option"
)

// The clientset is client-go's fake: it keeps objects and lets errors be put in
// its way. That is enough to tell creating from attaching; whole jobs run in test/e2e.
func newFakeLauncher(t *testing.T, pod types.UID, jobs ...runtime.Object) (*Launcher, *fake.FakeDynamicClient, *strings.Builder) {
	t.Helper()
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{mpiJob.GVR(): "MPIJobList"}, jobs...)
	var out strings.Builder
	o := Options{"name": {"train"}, "image": {"i"}, "workers": {"2"}}
	spec, err := o.Spec(&mpiJob, "mpirun x")
	require.NoError(t, err)
	id := Identity{Namespace: "kubeflow", Workflow: "wf", Node: "wf-1", Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: pod}}}
	return &Launcher{Jobs: client.Resource(mpiJob.GVR()).Namespace("kubeflow"), Spec: spec, ID: id, out: &console{w: &out}}, client, &out
}

// existing is the step's job as the pod with this uid created it.
func existing(t *testing.T, creator types.UID, change func(*unstructured.Unstructured)) *unstructured.Unstructured {
	t.Helper()
	l, _, _ := newFakeLauncher(t, creator)
	job, err := Build(l.Spec, l.ID)
	require.NoError(t, err)
	job.SetUID("old")
	change(job)
	return job
}

// is makes a condition true.
func is(condition string) func(*unstructured.Unstructured) {
	return func(job *unstructured.Unstructured) {
		job.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": condition, "status": "True"}}}
	}
}

var failed = is("Failed")

func TestEnsureCreates(t *testing.T) {
	t.Parallel()
	l, client, out := newFakeLauncher(t, "me")
	job, err := l.ensure(t.Context())
	require.NoError(t, err)
	require.Equal(t, l.Spec.name(l.ID), job.GetName())
	require.Contains(t, out.String(), "argosy: created MPIJob "+job.GetName()+" in kubeflow: 2 workers with 1 slot each\n")
	list, err := client.Resource(mpiJob.GVR()).Namespace("kubeflow").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
}

func TestEnsureAttaches(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*unstructured.Unstructured){
		"running":   func(*unstructured.Unstructured) {},
		"succeeded": is("Succeeded"),
	} {
		l, client, out := newFakeLauncher(t, "another", existing(t, "me", change))
		job, err := l.ensure(t.Context())
		require.NoError(t, err, name)
		require.Equal(t, types.UID("old"), job.GetUID(), name)
		require.Contains(t, out.String(), "going on with MPIJob", name)
		require.False(t, asked(client, "delete"), name)
	}
	// A failure of this very pod, whose container was started again, is still to be reported.
	l, _, _ := newFakeLauncher(t, "me", existing(t, "me", failed))
	job, err := l.ensure(t.Context())
	require.NoError(t, err)
	require.Equal(t, types.UID("old"), job.GetUID())
}

// Argo keeps the node when a failed step is retried by hand: a job that failed
// under another pod has been reported, and makes room.
func TestEnsureReplacesReportedFailure(t *testing.T) {
	t.Parallel()
	l, client, out := newFakeLauncher(t, "retry", existing(t, "first", failed))
	job, err := l.ensure(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, types.UID("old"), job.GetUID())
	require.Equal(t, "retry", job.GetAnnotations()[annotationLauncher])
	require.True(t, asked(client, "delete"))
	require.Contains(t, out.String(), "replacing it")
}

func TestEnsureRefusesForeignJob(t *testing.T) {
	t.Parallel()
	l, client, _ := newFakeLauncher(t, "me", existing(t, "me", func(j *unstructured.Unstructured) { j.SetLabels(map[string]string{labelNode: "someone"}) }))
	_, err := l.ensure(t.Context())
	require.ErrorContains(t, err, "does not belong to this step")
	require.NoError(t, l.removeOwn(t.Context()))
	require.False(t, asked(client, "delete"), "what is not ours stays")
}

// A DELETE that gets lost is sent again; one that is refused is said.
func TestRemoveAsksAgain(t *testing.T) {
	t.Parallel()
	l, client, _ := newFakeLauncher(t, "me", existing(t, "me", func(*unstructured.Unstructured) {}))
	lost := true
	client.PrependReactor("delete", "mpijobs", func(clienttesting.Action) (bool, runtime.Object, error) {
		defer func() { lost = false }()
		return lost, nil, &url.Error{Op: "Delete", URL: "https://cluster", Err: io.EOF}
	})
	require.NoError(t, l.removeOwn(t.Context()))
	require.False(t, lost)
	list, err := l.Jobs.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, list.Items)

	l, client, _ = newFakeLauncher(t, "me", existing(t, "me", func(*unstructured.Unstructured) {}))
	client.PrependReactor("delete", "mpijobs", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Group: "kubeflow.org", Resource: "mpijobs"}, "x", errors.New("no"))
	})
	require.ErrorContains(t, l.removeOwn(t.Context()), "delete MPIJob train-")
}

func TestEnsureErrors(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Group: "kubeflow.org", Resource: "mpijobs"}
	for want, fault := range map[string]error{
		"install mpi-operator":   apierrors.NewNotFound(resource, ""),
		"service account needs":  apierrors.NewForbidden(resource, "x", errors.New("no")),
		"create MPIJob train-":   apierrors.NewBadRequest("strict decoding error"),
		"admission webhook says": apierrors.NewInvalid(schema.GroupKind{Kind: "MPIJob"}, "admission webhook says", nil),
	} {
		l, client, _ := newFakeLauncher(t, "me")
		client.PrependReactor("create", "mpijobs", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, fault })
		_, err := l.ensure(t.Context())
		require.ErrorContains(t, err, want)
	}
}

// An answer that never came may hide a job that was created: the second try finds it.
func TestEnsureSurvivesLostAnswers(t *testing.T) {
	t.Parallel()
	l, client, out := newFakeLauncher(t, "me")
	calls := 0
	client.PrependReactor("create", "mpijobs", func(a clienttesting.Action) (bool, runtime.Object, error) {
		calls++
		if calls > 1 {
			return false, nil, nil
		}
		create := a.(clienttesting.CreateAction)
		if err := client.Tracker().Create(a.GetResource(), create.GetObject(), "kubeflow"); err != nil {
			return true, nil, err
		}
		return true, nil, io.ErrUnexpectedEOF
	})
	job, err := l.ensure(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, calls)
	require.Contains(t, out.String(), "trying again")
	require.Contains(t, out.String(), "going on with MPIJob "+job.GetName())
}

func TestTransient(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "pods"}
	for _, err := range []error{
		io.ErrUnexpectedEOF, &url.Error{Op: "Get", URL: "https://h", Err: errors.New("connection refused")}, apierrors.NewServerTimeout(resource, "get", 1), apierrors.NewTooManyRequests("", 1),
		apierrors.NewInternalError(io.EOF), apierrors.NewServiceUnavailable(""), apierrors.NewGenericServerResponse(http.StatusBadGateway, "get", resource, "", "", 0, true), errGone,
	} {
		require.True(t, transient(err), "%v", err)
	}
	for _, err := range []error{apierrors.NewNotFound(resource, "x"), apierrors.NewForbidden(resource, "x", nil), apierrors.NewBadRequest(""), context.Canceled, errors.New("ours")} {
		require.False(t, transient(err), "%v", err)
	}
}

func TestOverdue(t *testing.T) {
	t.Parallel()
	ago := time.Now().Add(-time.Minute)
	for _, tc := range []struct {
		runs             time.Time
		pending, running time.Duration
		want             string
	}{
		{time.Time{}, 0, 0, ""},
		{time.Time{}, time.Hour, time.Second, ""},
		{time.Time{}, time.Second, 0, "pending timeout of 1s"},
		{ago, time.Second, 0, ""},
		{ago, time.Second, time.Hour, ""},
		{ago, 0, time.Second, "running timeout of 1s"},
	} {
		w := &waiting{l: &Launcher{Spec: &Spec{Values: option.Values{PendingTimeout: tc.pending, RunningTimeout: tc.running}}}, since: ago, runs: tc.runs}
		got := w.overdue()
		require.Equal(t, tc.want == "", got == "", got)
		require.Contains(t, got, tc.want)
	}
}

func asked(client *fake.FakeDynamicClient, verb string) bool {
	for _, a := range client.Actions() {
		if a.GetVerb() == verb {
			return true
		}
	}
	return false
}
