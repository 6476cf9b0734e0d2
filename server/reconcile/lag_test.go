package reconcile_test

import (
	"context"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/reconcile"
	"github.com/argosy-ml/argosy/server/run"
)

// TestLag: a change that cannot be recorded yet shows, until it is.
func TestLag(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	r := b.Start(t)
	held := &heldStore{Store: b.Store, held: make(chan struct{}), reached: make(chan struct{}, 1)}
	reconciler := reconcile.New(reconcile.Config{Store: held, Cache: b.Store, Cluster: b.Engine, Artifacts: b.Artifacts, Logs: b.Logs, Feed: b.Feed, Log: b.Log})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	watched := b.WorkflowsWatched(1)
	go func() { done <- reconciler.Run(ctx) }()
	enginetest.Await(t, watched)
	b.Update(t, r, func(wf *wfv1.Workflow) { wf.Status.Phase = wfv1.WorkflowRunning })
	<-held.reached
	// The sweep may have come before the watch, which tells since when.
	require.Eventually(t, func() bool { return reconciler.Lag() > 0 }, 5*time.Minute, time.Millisecond)
	close(held.held)
	require.Eventually(t, func() bool { return reconciler.Lag() == 0 }, 5*time.Minute, time.Millisecond)
	cancel()
	require.NoError(t, <-done)
}

// heldStore records nothing before it is let go.
type heldStore struct {
	run.Store
	held    chan struct{}
	reached chan struct{}
}

func (s *heldStore) Record(ctx context.Context, id string, state run.State) (bool, error) {
	select {
	case s.reached <- struct{}{}:
	default:
	}
	select {
	case <-s.held:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	return s.Store.Record(ctx, id, state)
}
