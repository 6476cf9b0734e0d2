-- name: Tick :one
UPDATE clock SET revision = revision + 1 WHERE id = 1 RETURNING revision;

-- name: Now :one
SELECT revision, point, epoch FROM clock WHERE id = 1;

-- name: InsertRemoval :exec
INSERT INTO removals (revision, run_id, node_id) VALUES (?, ?, ?);

-- name: ChangedRuns :many
SELECT seq, id, revision FROM runs
WHERE revision >= sqlc.arg(revision) AND (revision > sqlc.arg(revision) OR seq > sqlc.arg(seq))
ORDER BY revision, seq LIMIT sqlc.arg(most);

-- name: RemovedRuns :many
SELECT run_id, revision FROM removals
WHERE revision > sqlc.arg(above) AND revision <= sqlc.arg(upto) AND node_id = '' ORDER BY revision, run_id;

-- name: RemovedNodes :many
SELECT node_id FROM removals
WHERE run_id = sqlc.arg(run_id) AND revision > sqlc.arg(above) AND revision <= sqlc.arg(upto) AND node_id <> '' ORDER BY revision, node_id;

-- name: ChangedNodes :many
SELECT * FROM nodes
WHERE run = sqlc.arg(run) AND revision > sqlc.arg(above) AND revision <= sqlc.arg(upto)
ORDER BY started_at = 0, started_at, id;

-- name: PruneRemovals :exec
DELETE FROM removals WHERE revision < ?;
