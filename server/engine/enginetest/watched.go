package enginetest

import (
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
)

// PodsWatched is closed once so many watches of pods are open, counted from now on. A test that changes pods must wait for it: a fake
// cluster does not pass on what changes between an informer's list and its watch.
func (b *Bundle) PodsWatched(watches int32) <-chan struct{} {
	return Watched(&b.Kube.Fake, b.Kube.Tracker(), "pods", watches)
}

// WorkflowsWatched is PodsWatched for Workflows.
func (b *Bundle) WorkflowsWatched(watches int32) <-chan struct{} {
	return Watched(&b.Argo.Fake, b.Argo.Tracker(), "workflows", watches)
}

// Watched is PodsWatched for the objects of a kind in a fake cluster without a bundle.
func Watched(fake *clienttesting.Fake, tracker clienttesting.ObjectTracker, resource string, watches int32) <-chan struct{} {
	open := make(chan struct{})
	var left atomic.Int32
	left.Store(watches)
	fake.PrependWatchReactor(resource, func(a clienttesting.Action) (bool, watch.Interface, error) {
		w, err := tracker.Watch(a.GetResource(), a.GetNamespace())
		if left.Add(-1) == 0 {
			close(open)
		}
		return true, w, err
	})
	return open
}

// Await waits until the watches are open.
func Await(t *testing.T, watched <-chan struct{}) {
	t.Helper()
	select {
	case <-watched:
	case <-time.After(patience):
		t.Fatal("the cluster is not watched")
	}
}
