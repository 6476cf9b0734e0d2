package conformance

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/task"
)

func tasks(t *testing.T, s Store) {
	ctx := t.Context()
	accept(t, s, newRun(1))
	one := task.Task{ID: "t1", Namespace: "n", Pipeline: "namespace/n/pipeline/p", RunID: "run-001", Execution: "7", Fingerprint: "f", CreatedAt: at(1), FinishedAt: at(2)}
	two := task.Task{ID: "t2", Pipeline: "pipeline/p", RunID: "run-001", Execution: "8", Fingerprint: "f", CreatedAt: at(3)}
	require.NoError(t, s.CreateTask(ctx, one))
	require.NoError(t, s.CreateTask(ctx, two))
	requireKind(t, apierr.Conflict, s.CreateTask(ctx, one))
	requireKind(t, apierr.NotFound, s.CreateTask(ctx, task.Task{ID: "t3", RunID: "none", CreatedAt: at(1)}))

	list := func(q listing.Query, sc task.Scope) []task.Task {
		p, err := s.Tasks(ctx, q, sc)
		require.NoError(t, err)
		require.EqualValues(t, len(p.Items), p.Total)
		return p.Items
	}
	require.Empty(t, cmp.Diff([]task.Task{two, one}, list(listing.Query{Size: 10, SortBy: "created_at", Desc: true}, task.Scope{})))
	require.Empty(t, cmp.Diff([]task.Task{one}, list(listing.Query{Size: 10}, task.Scope{Namespace: "n"})))
	require.Empty(t, cmp.Diff([]task.Task{two}, list(listing.Query{Size: 10}, task.Scope{Pipeline: "pipeline/p"})))
	require.Empty(t, cmp.Diff([]task.Task{two}, list(listing.Query{Size: 10, Filter: []listing.Predicate{
		{Key: "fingerprint", Op: listing.Equals, Values: []any{"f"}}, {Key: "finished_at", Op: listing.LessThan, Values: []any{int64(1)}},
	}}, task.Scope{})))
	require.NoError(t, s.DeleteRun(ctx, "run-001"))
	require.Empty(t, list(listing.Query{Size: 10}, task.Scope{}), "tasks go with their run")
}
