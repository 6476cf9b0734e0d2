package conformance

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/retention"
	"github.com/argosy-ml/argosy/server/run"
)

func prunable(t *testing.T, s Store) {
	ctx := t.Context()
	for i := range 6 {
		r := newRun(i)
		if i%2 == 1 {
			r.ExperimentID = "odd"
		}
		accept(t, s, r)
		if i == 5 {
			break // it goes on
		}
		_, err := s.Record(ctx, r.ID, run.State{
			Status: run.Succeeded, FinishedAt: at(i), Nodes: []run.Node{{ID: "n", Name: "n", Type: "Pod", Phase: run.Succeeded}},
		})
		require.NoError(t, err)
		require.NoError(t, s.SetHarvested(ctx, r.ID, "n", "log", nil))
		require.NoError(t, s.Settle(ctx, r.ID))
	}
	all := retention.Cut{Newest: math.MaxInt64}
	find := func(runs, artifacts, logs retention.Cut, limit int) (ids []string) {
		t.Helper()
		var last retention.Candidate
		for {
			found, err := s.Prunable(ctx, runs, artifacts, logs, last, limit)
			require.NoError(t, err)
			require.LessOrEqual(t, len(found), limit)
			if len(found) == 0 {
				return ids
			}
			for _, last = range found {
				ids = append(ids, last.ID)
			}
		}
	}
	id := func(i int) string { return newRun(i).ID }
	require.Empty(t, find(all, all, all, 2))
	old := retention.Cut{Before: at(2), Newest: math.MaxInt64}
	require.Equal(t, []string{id(0), id(1)}, find(old, all, all, 1))
	require.Equal(t, []string{id(0), id(1), id(2), id(3)}, find(retention.Cut{Newest: 1}, all, all, 3), "the newest of each experiment stay, ended or not")

	require.NoError(t, s.ArchiveRun(ctx, id(4), true))
	require.Equal(t, []string{id(0)}, find(retention.Cut{Newest: 1}, old, all, 2)[:1])
	require.NotContains(t, find(retention.Cut{Newest: 1}, all, all, 2), id(2), "an archived run does not count")

	require.NoError(t, s.SetPruned(ctx, id(0), true, false, "removed"))
	require.NoError(t, s.SetPruned(ctx, id(0), false, false, "removed"))
	require.Equal(t, []string{id(1)}, find(all, old, all, 2))
	require.Equal(t, []string{id(0), id(1)}, find(all, old, old, 2))
	require.NoError(t, s.SetPruned(ctx, id(0), false, true, "removed"))
	require.Equal(t, []string{id(1)}, find(all, old, old, 2))
	got, err := s.Run(ctx, id(0))
	require.NoError(t, err)
	require.Equal(t, []string{"removed"}, got.Warnings)
	nodes, err := s.Nodes(ctx, id(0))
	require.NoError(t, err)
	require.Equal(t, []any{"", true}, []any{nodes[0].LogKey, nodes[0].Harvested})
	found, err := s.Prunable(ctx, old, all, all, retention.Candidate{}, 9)
	require.NoError(t, err)
	require.Equal(t, retention.Candidate{ID: id(0), FinishedAt: at(0), ArtifactsGone: true, LogsGone: true}, found[0])
	requireKind(t, apierr.NotFound, s.SetPruned(ctx, "none", true, true, ""))
}

func takers(t *testing.T, s Store) {
	ctx := t.Context()
	for i := range 2 {
		accept(t, s, newRun(i))
	}
	id := func(i int) string { return newRun(i).ID }
	e := entryOf(0)
	require.NoError(t, s.PutCacheEntry(ctx, e))
	require.NoError(t, s.Reuse(ctx, id(1), "n", e))
	require.NoError(t, s.Reuse(ctx, id(0), "n", e), "of itself")
	found, err := s.Takers(ctx, id(0))
	require.NoError(t, err)
	require.Equal(t, []string{id(1)}, found)
	require.NoError(t, s.SetPruned(ctx, id(1), true, false, "removed"))
	found, err = s.Takers(ctx, id(0))
	require.NoError(t, err)
	require.Empty(t, found)
	require.NoError(t, s.DropCacheEntries(ctx, id(0)))
	entries, err := s.CacheEntries(ctx, e.Key, time.Time{})
	require.NoError(t, err)
	require.Empty(t, entries)
}
