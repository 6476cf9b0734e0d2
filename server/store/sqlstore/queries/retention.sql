-- name: SetRunPruned :exec
UPDATE runs SET artifacts_gone = sqlc.arg(artifacts_gone), logs_gone = sqlc.arg(logs_gone), warnings = sqlc.arg(warnings),
    revision = sqlc.arg(revision) WHERE seq = sqlc.arg(seq);

-- name: ForgetLogs :exec
UPDATE nodes SET log_key = '', revision = sqlc.arg(revision) WHERE run = sqlc.arg(run) AND log_key <> '';

-- name: DropCacheEntries :exec
DELETE FROM cache_entries WHERE run = ?;

-- name: Takers :many
SELECT DISTINCT runs.id FROM cache_hits JOIN runs ON runs.seq = cache_hits.run
WHERE cache_hits.from_run = ? AND runs.artifacts_gone = 0 AND runs.id <> cache_hits.from_run
ORDER BY runs.id;
