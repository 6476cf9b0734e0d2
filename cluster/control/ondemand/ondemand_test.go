package ondemand

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var jobs = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "tfjobs"}

func TestAnObjectThatIsThereIsFound(t *testing.T) {
	t.Parallel()
	client := fake.NewSimpleMetadataClient(scheme(t), job("a"))
	require.NoError(t, First(t.Context(), client, Kind{Resource: jobs}, silent(t)))
}

func TestAnObjectThatComesIsFound(t *testing.T) {
	t.Parallel()
	client, events := watched(t)
	found := make(chan error, 1)
	go func() { found <- First(t.Context(), client, Kind{Resource: jobs}, silent(t)) }()
	first := <-events
	first.Delete(job("late"))
	first.Stop() // as an apiserver does from time to time
	second := <-events
	require.Empty(t, found)
	second.Add(job("a"))
	require.NoError(t, <-found)
}

func TestAnExpiredVersionIsListedAnew(t *testing.T) {
	t.Parallel()
	client, events := watched(t)
	found := make(chan error, 1)
	go func() { found <- First(t.Context(), client, Kind{Resource: jobs}, silent(t)) }()
	(<-events).Error(&metav1.Status{Status: metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired})
	(<-events).Add(job("a"))
	require.NoError(t, <-found)
}

func TestFailuresAreToldAndTriedAgain(t *testing.T) {
	t.Parallel()
	client, events := watched(t)
	failures := make(chan error, 1)
	failed := false
	client.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		if failed {
			return false, nil, nil
		}
		failed = true
		return true, nil, errors.New("connection refused")
	})
	found := make(chan error, 1)
	go func() {
		found <- First(t.Context(), client, Kind{Resource: jobs}, func(err error) { failures <- err })
	}()
	require.EqualError(t, <-failures, "look for tfjobs.kubeflow.org: connection refused")
	(<-events).Add(job("a"))
	require.NoError(t, <-found)
}

func TestItEndsWithItsContext(t *testing.T) {
	t.Parallel()
	client, events := watched(t)
	ctx, cancel := context.WithCancel(t.Context())
	found := make(chan error, 1)
	go func() { found <- First(ctx, client, Kind{Resource: jobs}, silent(t)) }()
	w := <-events
	cancel()
	w.Stop() // a watch ends with its context; the fake's does not
	select {
	case err := <-found:
		require.ErrorIs(t, err, context.Canceled)
	case <-time.After(5 * time.Minute):
		t.Fatal("it goes on")
	}
}

// watched is an empty cluster that hands out the other end of every watch.
func watched(t *testing.T) (*fake.FakeMetadataClient, <-chan *watch.FakeWatcher) {
	t.Helper()
	client := fake.NewSimpleMetadataClient(scheme(t))
	events := make(chan *watch.FakeWatcher)
	client.PrependWatchReactor("*", func(clienttesting.Action) (bool, watch.Interface, error) {
		w := watch.NewFake()
		select {
		case events <- w:
		case <-t.Context().Done():
		}
		return true, w, nil
	})
	return client, events
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := fake.NewTestScheme()
	require.NoError(t, metav1.AddMetaToScheme(s))
	return s
}

func job(name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: jobs.GroupVersion().String(), Kind: "TFJob"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
	}
}

func silent(t *testing.T) func(error) {
	t.Helper()
	return func(err error) { t.Error(err) }
}
