-- name: CachedFamilies :many
SELECT DISTINCT family FROM cache_entries WHERE family IN (sqlc.slice(families));

-- name: CacheEntries :many
SELECT runs.id AS run_id, cache_entries.node_id, cache_entries.family, cache_entries.finished_at, cache_entries.artifacts, cache_entries.outputs
FROM cache_entries JOIN runs ON runs.seq = cache_entries.run
WHERE cache_entries.execution_key = ? AND cache_entries.finished_at >= ?
ORDER BY cache_entries.finished_at DESC, runs.seq DESC
LIMIT 20;

-- name: PutCacheEntry :exec
INSERT INTO cache_entries (run, node_id, execution_key, family, finished_at, artifacts, outputs) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run, node_id) DO UPDATE SET
    execution_key = excluded.execution_key, family = excluded.family, finished_at = excluded.finished_at,
    artifacts = excluded.artifacts, outputs = excluded.outputs;

-- name: CacheEntryRuns :many
SELECT cache_entries.run FROM cache_entries JOIN runs ON runs.seq = cache_entries.run
WHERE runs.id = ? AND cache_entries.node_id = ? AND cache_entries.execution_key = ?;

-- name: DeleteCacheEntry :exec
DELETE FROM cache_entries WHERE run = ? AND node_id = ?;

-- name: PutCacheHit :exec
INSERT INTO cache_hits (run, node_id, from_run, from_node) VALUES (?, ?, ?, ?)
ON CONFLICT (run, node_id) DO UPDATE SET from_run = excluded.from_run, from_node = excluded.from_node;

-- name: DeleteCacheHit :execrows
DELETE FROM cache_hits WHERE run = ? AND node_id = ?;

-- name: CacheHits :many
SELECT node_id, from_run, from_node FROM cache_hits WHERE run = ?;
