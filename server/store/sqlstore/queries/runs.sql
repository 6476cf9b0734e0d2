-- name: InsertRun :one
INSERT INTO runs (
    id, name, description, experiment_id, pipeline_id, pipeline_name, version_id, version_name, service_account, namespace, workflow,
    status, message, storage_state, warnings, created_at, scheduled_at, started_at, finished_at, submitted, settled, revision, manifest,
    schedule_id, schedule_name, by_version
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?)
RETURNING seq;

-- name: Run :one
SELECT sqlc.embed(runs), COALESCE(experiments.name, deleted_experiments.name, '') AS experiment_name
FROM runs LEFT JOIN experiments ON experiments.id = runs.experiment_id
    LEFT JOIN deleted_experiments ON deleted_experiments.id = runs.experiment_id
WHERE runs.id = ?;

-- name: RunsBySeq :many
SELECT sqlc.embed(runs), COALESCE(experiments.name, deleted_experiments.name, '') AS experiment_name
FROM runs LEFT JOIN experiments ON experiments.id = runs.experiment_id
    LEFT JOIN deleted_experiments ON deleted_experiments.id = runs.experiment_id
WHERE runs.seq IN (sqlc.slice(seqs));

-- name: RunRow :one
SELECT * FROM runs WHERE id = ?;

-- name: UnsubmittedRuns :many
SELECT runs.id, run_workflows.data
FROM runs JOIN run_workflows ON run_workflows.run = runs.seq
WHERE runs.settled = 0 AND runs.submitted = 0
ORDER BY runs.seq;

-- name: UnsettledRuns :many
SELECT * FROM runs WHERE settled = 0 AND submitted = 1 ORDER BY seq;

-- name: SetSubmitted :execrows
UPDATE runs SET submitted = 1 WHERE id = ?;

-- name: SetSettled :execrows
UPDATE runs SET settled = 1, revision = ? WHERE id = ? AND settled = 0;

-- name: SetRunStatus :exec
UPDATE runs SET status = ?, message = ?, finished_at = ?, revision = ? WHERE seq = ?;

-- name: SetRunState :exec
UPDATE runs SET status = ?, message = ?, started_at = ?, finished_at = ?, revision = ? WHERE seq = ?;

-- name: RetryRun :exec
UPDATE runs SET
    status = ?, message = '', finished_at = 0, submitted = 0, settled = 0, attempt = ?, revision = ?, artifacts_gone = 0, logs_gone = 0
WHERE seq = ?;

-- name: SetRunStorageState :execrows
UPDATE runs SET storage_state = ?, revision = ? WHERE id = ?;

-- name: SetRunWarnings :exec
UPDATE runs SET warnings = ?, revision = ? WHERE seq = ?;

-- name: BumpRevision :exec
UPDATE runs SET revision = ? WHERE seq = ?;

-- name: DeleteRun :exec
DELETE FROM runs WHERE seq = ?;

-- name: InsertRunParameter :exec
INSERT INTO run_parameters (run, position, name, value, given) VALUES (?, ?, ?, ?, ?);

-- name: RunParameters :many
SELECT * FROM run_parameters WHERE run IN (sqlc.slice(runs)) ORDER BY run, position;

-- name: RunWorkflow :one
SELECT run_workflows.data FROM run_workflows JOIN runs ON runs.seq = run_workflows.run WHERE runs.id = ?;

-- name: RunWorkflowDigest :one
SELECT digest FROM run_workflows WHERE run = ?;

-- name: PutRunWorkflow :exec
INSERT INTO run_workflows (run, digest, data) VALUES (?, ?, ?)
ON CONFLICT (run) DO UPDATE SET digest = excluded.digest, data = excluded.data;

-- name: RunManifest :one
SELECT manifests.data FROM runs JOIN manifests ON manifests.seq = runs.manifest WHERE runs.id = ?;

-- name: ManifestsOfRuns :many
SELECT runs.id, manifests.seq, manifests.data FROM runs JOIN manifests ON manifests.seq = runs.manifest WHERE runs.id IN (sqlc.slice(ids));
