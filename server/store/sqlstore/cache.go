package sqlstore

import (
	"context"
	"time"

	"github.com/argosy-ml/argosy/server/cache"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

var _ cache.Store = (*Store)(nil)

// CachedFamilies implements cache.Store.
func (s *cached) CachedFamilies(ctx context.Context, families []string) ([]string, error) {
	if len(families) == 0 {
		return nil, nil
	}
	known, err := s.read().CachedFamilies(ctx, families)
	return known, trouble("read the cache", err)
}

// CacheEntries implements cache.Store.
func (s *cached) CacheEntries(ctx context.Context, key string, since time.Time) ([]cache.Entry, error) {
	rows, err := s.read().CacheEntries(ctx, query.CacheEntriesParams{ExecutionKey: key, FinishedAt: micros(since)})
	if err != nil {
		return nil, trouble("read the cache", err)
	}
	entries := make([]cache.Entry, len(rows))
	for i, row := range rows {
		e := cache.Entry{Key: key, Family: row.Family, RunID: row.RunID, NodeID: row.NodeID, FinishedAt: timeOf(row.FinishedAt)}
		if err := fromJSON(row.Artifacts, &e.Artifacts); err != nil {
			return nil, err
		}
		if e.Outputs, err = unpack(row.Outputs); err != nil {
			return nil, err
		}
		entries[i] = e
	}
	return entries, nil
}

// PutCacheEntry implements cache.Store.
func (s *cached) PutCacheEntry(ctx context.Context, e cache.Entry) error {
	return s.change(ctx, e.RunID, func(q *query.Queries, row query.Run) error {
		return trouble("keep what a step left", q.PutCacheEntry(ctx, query.PutCacheEntryParams{
			Run: row.Seq, NodeID: e.NodeID, ExecutionKey: e.Key, Family: e.Family, FinishedAt: micros(e.FinishedAt),
			Artifacts: toJSON(e.Artifacts), Outputs: pack(e.Outputs),
		}))
	})
}

// DropCacheEntry implements cache.Store.
func (s *cached) DropCacheEntry(ctx context.Context, runID, nodeID string) error {
	return s.change(ctx, runID, func(q *query.Queries, row query.Run) error {
		return trouble("drop a cache entry", q.DeleteCacheEntry(ctx, query.DeleteCacheEntryParams{Run: row.Seq, NodeID: nodeID}))
	})
}

// Reuse implements cache.Store.
func (s *cached) Reuse(ctx context.Context, runID, nodeID string, e cache.Entry) error {
	return s.change(ctx, runID, func(q *query.Queries, row query.Run) error {
		counts, err := q.CacheEntryRuns(ctx, query.CacheEntryRunsParams{ID: e.RunID, NodeID: e.NodeID, ExecutionKey: e.Key})
		if err != nil || len(counts) == 0 {
			return orNotFound("cache entry", e.RunID+"/"+e.NodeID, err)
		}
		err = q.PutCacheHit(ctx, query.PutCacheHitParams{Run: row.Seq, NodeID: nodeID, FromRun: e.RunID, FromNode: e.NodeID})
		return trouble("reuse", err)
	})
}

// ForgetReuse implements cache.Store.
func (s *cached) ForgetReuse(ctx context.Context, runID, nodeID string) error {
	return s.change(ctx, runID, func(q *query.Queries, row query.Run) error {
		_, err := q.DeleteCacheHit(ctx, query.DeleteCacheHitParams{Run: row.Seq, NodeID: nodeID})
		return trouble("forget a reuse", err)
	})
}

// forgetCached drops what the cache has of nodes of a run that will run again.
func forgetCached(ctx context.Context, q *query.Queries, run int64, nodes []string) error {
	for _, node := range nodes {
		if err := q.DeleteCacheEntry(ctx, query.DeleteCacheEntryParams{Run: run, NodeID: node}); err != nil {
			return trouble("drop a cache entry", err)
		}
		if _, err := q.DeleteCacheHit(ctx, query.DeleteCacheHitParams{Run: run, NodeID: node}); err != nil {
			return trouble("forget a reuse", err)
		}
	}
	return nil
}
