-- name: InsertExperiment :exec
INSERT INTO experiments (id, name, description, created_at, storage_state) VALUES (?, ?, ?, ?, ?);

-- name: Experiment :one
SELECT * FROM experiments WHERE id = ?;

-- name: ExperimentByName :one
SELECT * FROM experiments WHERE name = ?;

-- name: ExperimentsBySeq :many
SELECT * FROM experiments WHERE seq IN (sqlc.slice(seqs));

-- name: SetExperimentState :execrows
UPDATE experiments SET storage_state = ? WHERE id = ?;

-- name: ArchiveRunsOfExperiment :exec
UPDATE runs SET storage_state = 'STORAGESTATE_ARCHIVED', revision = sqlc.arg(revision)
WHERE experiment_id = sqlc.arg(experiment_id) AND storage_state = 'STORAGESTATE_AVAILABLE';

-- name: DeleteExperiment :execrows
DELETE FROM experiments WHERE id = ?;
