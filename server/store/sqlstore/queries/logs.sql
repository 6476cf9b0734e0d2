-- name: PodLogs :many
SELECT * FROM logs WHERE run = ? AND pod_uid = ?;

-- name: RunLogs :many
SELECT logs.* FROM logs JOIN runs ON runs.seq = logs.run
WHERE runs.id = ?
ORDER BY logs.started_at, logs.seq;

-- name: LiveLogs :many
SELECT sqlc.embed(logs), runs.id AS run_id FROM logs JOIN runs ON runs.seq = logs.run
WHERE logs.state = 'live'
ORDER BY logs.seq;

-- name: LogSeq :one
SELECT logs.seq FROM logs JOIN runs ON runs.seq = logs.run
WHERE runs.id = ? AND logs.pod_uid = ? AND logs.container = ? AND logs.restart = ?;

-- name: PutLog :one
INSERT INTO logs (
    run, node_id, attempt, namespace, pod, pod_uid, container, restart, role, rank, started_at, last_at, line_count, byte_count, state, message
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run, pod_uid, container, restart) DO UPDATE SET
    started_at = excluded.started_at, last_at = excluded.last_at, line_count = excluded.line_count, byte_count = excluded.byte_count,
    state = excluded.state, message = excluded.message
RETURNING seq;

-- name: PutLogPart :exec
INSERT INTO log_parts (log, number, line_count, byte_count, last_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (log, number) DO UPDATE SET line_count = excluded.line_count, byte_count = excluded.byte_count, last_at = excluded.last_at;

-- name: LogParts :many
SELECT * FROM log_parts WHERE log = ? ORDER BY number;

-- name: DeleteLogs :exec
DELETE FROM logs WHERE run = ?;

-- name: LogTotals :one
SELECT COUNT(*) AS logs, CAST(COALESCE(SUM(byte_count), 0) AS BIGINT) AS bytes,
    -- what lies behind the parts that are full is one more
    (SELECT COUNT(*) FROM log_parts) + CAST(COALESCE(SUM(CASE WHEN line_count > 0 THEN 1 ELSE 0 END), 0) AS BIGINT) AS parts
FROM logs;
