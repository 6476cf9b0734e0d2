-- name: PutRunLabel :exec
INSERT INTO run_labels (run, name, value) VALUES (?, ?, ?);

-- name: DeleteRunLabels :exec
DELETE FROM run_labels WHERE run = ?;

-- name: RunLabels :many
SELECT * FROM run_labels WHERE run IN (sqlc.slice(runs)) ORDER BY run, name;

-- name: SetRunParameter :execrows
UPDATE run_parameters SET value = ?, given = 1 WHERE run = ? AND name = ?;

-- name: NodesByID :many
SELECT * FROM nodes WHERE run = sqlc.arg(run) AND id IN (sqlc.slice(ids));

-- name: RunsByStatus :many
SELECT status, CAST(SUM(n) AS BIGINT) AS n FROM run_counts GROUP BY status;

-- name: OutboxSize :one
SELECT COUNT(*) FROM runs WHERE settled = 0 AND submitted = 0;
