package quick

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/argoproj/argo-workflows/v3/workflow/controller"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
)

// A key that is due at several times comes at each of them, though it is asked for earlier.
func TestEveryTimeIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newDueQueue(workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()))
		time.Sleep(2 * firstLooks) // of the test's clock
		begin := time.Now()
		for range 100 { // looks that compute the same deadline
			q.AddAfter("a/wf", 400*time.Millisecond)
			q.AddAfter("a/wf", resync)
		}
		q.AddAfter("a/wf", time.Second)
		q.AddAfter("a/wf", 2*time.Millisecond)
		q.Add("a/other")
		for _, want := range []struct {
			key string
			at  time.Duration
		}{{"a/other", 0}, {"a/wf", 10 * time.Millisecond}, {"a/wf", 410 * time.Millisecond}, {"a/wf", 1010 * time.Millisecond}} {
			key, shutdown := q.Get()
			require.False(t, shutdown)
			require.Equal(t, want.key, key)
			require.InDelta(t, want.at, time.Since(begin), float64(duePrecision))
			q.Done(key)
		}
		require.Empty(t, q.due)
		q.ShutDown()
		_, shutdown := q.Get()
		require.True(t, shutdown)
	})
}

// A workflow that was there at the start is looked at again, for what happened to its pods before the first look.
func TestFirstLooksCauseOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newDueQueue(workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()))
		looks := func(key string, at ...time.Duration) {
			begin := time.Now()
			q.Add(key)
			for _, at := range append([]time.Duration{0}, at...) {
				got, _ := q.Get()
				require.Equal(t, key, got)
				require.InDelta(t, at, time.Since(begin), float64(2*duePrecision))
				q.Done(got)
			}
			require.Empty(t, q.due)
		}
		looks("a/left", looksAgain...)
		looks("a/left")
		time.Sleep(2 * firstLooks) // of the test's clock
		looks("a/new")
		q.ShutDown()
	})
}

func TestArgoHasTheQueue(t *testing.T) {
	t.Parallel()
	require.NoError(t, lookWhenDue(&controller.WorkflowController{}))
}
