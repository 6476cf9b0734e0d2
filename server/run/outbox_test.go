package run_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/run"
)

func TestOutboxRetriesUntilTheClusterAnswers(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	failCreates(b, 3, apierrors.NewServiceUnavailable("starting"), false)
	r := b.Start(t)
	require.Nil(t, b.Workflow(t, r), "accepted, though the cluster did not answer")
	work(t, b)
	require.Eventually(t, func() bool { left, err := b.Store.Unsubmitted(t.Context()); return err == nil && len(left) == 0 }, 5*time.Minute, 10*time.Millisecond)
	require.Equal(t, r.Workflow, b.Workflow(t, r).Name)
}

func TestOutboxNeverMakesTwo(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	failCreates(b, 1, apierrors.NewTimeoutError("the answer got lost", 1), true)
	r := b.Start(t)
	work(t, b)
	require.Eventually(t, func() bool { left, err := b.Store.Unsubmitted(t.Context()); return err == nil && len(left) == 0 }, 5*time.Minute, 10*time.Millisecond)
	all, err := b.Argo.ArgoprojV1alpha1().Workflows(enginetest.Namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, all.Items, 1)
	require.Equal(t, r.Workflow, all.Items[0].Name)
}

func TestOutboxAbandonsWhatTheClusterWillNeverTake(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	failCreates(b, 1, apierrors.NewServiceUnavailable("starting"), false)
	r := b.Start(t)
	failCreates(b, 1, apierrors.NewBadRequest("no such field"), false)
	work(t, b)
	r = b.Until(t, r.ID, func(r run.Run) bool { return r.Settled })
	require.Equal(t, run.Error, r.Status)
	require.Contains(t, r.Message, "no such field")
	require.False(t, r.FinishedAt.IsZero())
}
