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

-- name: InsertDeletedExperiment :exec
INSERT INTO deleted_experiments (id, name, description, created_at, storage_state, deleted_at) VALUES (?, ?, ?, ?, ?, ?);

-- name: ExperimentOfWhatStayed :one
SELECT * FROM deleted_experiments
WHERE deleted_experiments.id = ? AND (
    EXISTS (SELECT 1 FROM runs WHERE runs.experiment_id = deleted_experiments.id)
    OR EXISTS (SELECT 1 FROM schedules WHERE schedules.experiment_id = deleted_experiments.id)
);

-- name: DeletedExperiment :one
SELECT * FROM deleted_experiments WHERE id = sqlc.arg(id_or_name) OR name = sqlc.arg(id_or_name) ORDER BY deleted_at DESC LIMIT 1;

-- name: RemoveDeletedExperiment :exec
DELETE FROM deleted_experiments WHERE id = ?;

-- name: DeletedExperiments :many
SELECT deleted_experiments.*, CAST(COALESCE((
    SELECT SUM(run_counts.n) FROM run_counts WHERE run_counts.experiment_id = deleted_experiments.id
), 0) AS BIGINT) AS runs
FROM deleted_experiments ORDER BY deleted_at DESC, id LIMIT ?;

-- name: CountDeletedExperiments :one
SELECT COUNT(*) FROM deleted_experiments;
