package reconcile_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/reconcile"
	"github.com/argosy-ml/argosy/server/run"
)

// TestRetry: what the cluster still says of the attempt before does not end the new one.
func TestRetry(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	var away atomic.Bool
	b.Argo.PrependReactor("update", "workflows", func(clienttesting.Action) (bool, runtime.Object, error) { // before others use the chain
		return away.Load(), nil, apierrors.NewServiceUnavailable("starting")
	})
	start(t, b)
	r := b.Start(t)
	end(t, b, r, wfv1.WorkflowFailed, "")
	r = b.Until(t, r.ID, settled)
	require.Equal(t, run.Failed, r.Status)

	away.Store(true)
	require.NoError(t, b.Runs.Changer.Retry(t.Context(), r.ID), "accepted, though the cluster does not answer")
	away.Store(false)
	b.Update(t, r, func(wf *wfv1.Workflow) { wf.Labels["touched"] = "yes" }) // an event of the old attempt
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Runs.Outbox.Run(ctx) }()
	defer func() { cancel(); require.NoError(t, <-done) }()
	require.Eventually(t, func() bool { return b.Workflow(t, r).Status.Phase != wfv1.WorkflowFailed }, 5*time.Minute, 5*time.Millisecond)
	got, err := b.Runs.Reader.Get(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, []any{false, int64(1), false}, []any{run.Final(got.Status), got.Attempt, got.Settled})
	end(t, b, r, wfv1.WorkflowSucceeded, "")
	got = b.Until(t, r.ID, settled)
	require.Equal(t, run.Succeeded, got.Status)
	require.Equal(t, "true", b.Workflow(t, r).Labels["pipeline/persistedFinalState"])
	err = b.Runs.Changer.Retry(t.Context(), r.ID)
	require.Equal(t, apierr.Aborted, apierr.KindOf(err), "%v", err)
}

// lateStore gives a run as it was before its retry to the first who asks, as when the retry comes between two looks.
type lateStore struct {
	run.Store
	mu  sync.Mutex
	old *run.Run
}

func (s *lateStore) Run(ctx context.Context, id string) (run.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.old; old != nil && old.ID == id {
		s.old = nil
		return *old, nil
	}
	return s.Store.Run(ctx, id)
}

// TestRetryBetweenTwoLooks: a reconciler that knows a run as failed meets the Workflow of its next attempt, and leaves it alone.
func TestRetryBetweenTwoLooks(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	stop := start(t, b)
	r := b.Start(t)
	end(t, b, r, wfv1.WorkflowFailed, "")
	failed := b.Until(t, r.ID, settled)
	stop()
	require.NoError(t, b.Runs.Changer.Retry(t.Context(), r.ID))
	b.Update(t, r, func(wf *wfv1.Workflow) { wf.Status.Phase = wfv1.WorkflowRunning })

	for name, was := range map[string]func(*run.Run){"settled": func(*run.Run) {}, "not settled": func(r *run.Run) { r.Settled = false }} {
		old := failed
		was(&old)
		late := &lateStore{Store: b.Store, old: &old}
		again := reconcile.New(reconcile.Config{Store: late, Cache: b.Store, Cluster: b.Engine, Artifacts: b.Artifacts, Logs: b.Logs, Feed: b.Feed, Log: b.Log})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- again.Run(ctx) }()
		require.Eventually(t, func() bool {
			late.mu.Lock()
			defer late.mu.Unlock()
			return late.old == nil
		}, 5*time.Minute, time.Millisecond)
		require.Eventually(t, func() bool {
			now, err := b.Store.Run(t.Context(), r.ID)
			return err == nil && now.Status == run.Running
		}, 5*time.Minute, time.Millisecond)
		cancel()
		require.NoError(t, <-done)
		require.Empty(t, b.Workflow(t, r).Spec.Shutdown, name)
	}
}
