package conformance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/cache"
	"github.com/argosy-ml/argosy/server/run"
)

func cached(t *testing.T, s Store) {
	ctx := t.Context()
	for i := range 3 {
		accept(t, s, newRun(i))
	}
	entry := func(i int, key string) cache.Entry {
		e := entryOf(i)
		e.Key, e.Family = key, "family of "+key
		return e
	}
	none := entry(9, "k")
	requireKind(t, apierr.NotFound, s.PutCacheEntry(ctx, none))
	for i := range 2 {
		require.NoError(t, s.PutCacheEntry(ctx, entry(i, "k")))
		require.NoError(t, s.PutCacheEntry(ctx, entry(i, "k")), "again")
	}
	known, err := s.CachedFamilies(ctx, []string{"family of k", "family of x"})
	require.NoError(t, err)
	require.Equal(t, []string{"family of k"}, known)
	known, err = s.CachedFamilies(ctx, nil)
	require.NoError(t, err)
	require.Empty(t, known)

	found, err := s.CacheEntries(ctx, "k", time.Time{})
	require.NoError(t, err)
	require.Equal(t, []cache.Entry{entry(1, "k"), entry(0, "k")}, found, "newest first")
	found, err = s.CacheEntries(ctx, "k", at(1))
	require.NoError(t, err)
	require.Equal(t, []cache.Entry{entry(1, "k")}, found)

	taker := newRun(2).ID
	requireKind(t, apierr.NotFound, s.Reuse(ctx, "no such run", "m", found[0]))
	requireKind(t, apierr.NotFound, s.Reuse(ctx, taker, "m", none))
	require.NoError(t, s.Reuse(ctx, taker, "m", entry(0, "k")))
	require.NoError(t, s.Reuse(ctx, taker, "m", found[0]), "the last one counts")
	attempt := int64(0)
	record := func(phase string) run.Node {
		state := run.State{Status: run.Running, Attempt: attempt, Nodes: []run.Node{{ID: "m", Name: "m", Phase: phase}}}
		_, err := s.Record(ctx, taker, state)
		require.NoError(t, err)
		nodes, err := s.Nodes(ctx, taker)
		require.NoError(t, err)
		return nodes[0]
	}
	require.Equal(t, &run.Origin{RunID: found[0].RunID, NodeID: "n"}, record(run.Succeeded).CachedFrom)
	require.NoError(t, s.DeleteRun(ctx, found[0].RunID))
	found, err = s.CacheEntries(ctx, "k", time.Time{})
	require.NoError(t, err)
	require.Equal(t, []cache.Entry{entry(0, "k")}, found, "an entry goes with its run")
	require.NotNil(t, record(run.Failed).CachedFrom, "what came from it stays marked")
	require.NoError(t, s.ForgetReuse(ctx, taker, "m"))
	require.Nil(t, record(run.Running).CachedFrom)

	require.NoError(t, s.PutCacheEntry(ctx, entry(2, "other")))
	require.NoError(t, s.Reuse(ctx, taker, "m", entry(0, "k")))
	require.NoError(t, s.Retry(ctx, taker, 1, run.Again{Workflow: []byte("{}"), Dropped: []string{"m", "n"}}))
	attempt++
	require.Nil(t, record(run.Pending).CachedFrom, "a node that runs again took nothing yet")
	found, err = s.CacheEntries(ctx, "other", time.Time{})
	require.NoError(t, err)
	require.Empty(t, found, "nor does what it left before count")
	require.NoError(t, s.DropCacheEntry(ctx, newRun(0).ID, "n"))
	requireKind(t, apierr.NotFound, s.Reuse(ctx, taker, "m", entry(0, "k")))
}

func entryOf(i int) cache.Entry {
	return cache.Entry{
		Key: "k", Family: "f", RunID: newRun(i).ID, NodeID: "n", FinishedAt: at(i), Outputs: []byte(`{"parameters":[]}`), Artifacts: []string{"a", "b"},
	}
}
