-- name: InsertSchedule :exec
INSERT INTO schedules (
    id, name, description, experiment_id, pipeline_id, pipeline_name, version_id, version_name, service_account, resource,
    cron, interval_seconds, starts_at, ends_at, max_concurrency, enabled, no_catchup, parameters, message,
    created_at, updated_at, last_at, last_index, manifest, by_version
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, 0, 0, ?, ?);

-- name: Schedule :one
SELECT sqlc.embed(schedules), COALESCE(experiments.name, deleted_experiments.name, '') AS experiment_name
FROM schedules LEFT JOIN experiments ON experiments.id = schedules.experiment_id
    LEFT JOIN deleted_experiments ON deleted_experiments.id = schedules.experiment_id
WHERE schedules.id = ?;

-- name: ScheduleRow :one
SELECT * FROM schedules WHERE id = ?;

-- name: SchedulesBySeq :many
SELECT sqlc.embed(schedules), COALESCE(experiments.name, deleted_experiments.name, '') AS experiment_name
FROM schedules LEFT JOIN experiments ON experiments.id = schedules.experiment_id
    LEFT JOIN deleted_experiments ON deleted_experiments.id = schedules.experiment_id
WHERE schedules.seq IN (sqlc.slice(seqs));

-- name: EnabledSchedules :many
SELECT sqlc.embed(schedules), COALESCE(experiments.name, deleted_experiments.name, '') AS experiment_name
FROM schedules LEFT JOIN experiments ON experiments.id = schedules.experiment_id
    LEFT JOIN deleted_experiments ON deleted_experiments.id = schedules.experiment_id
WHERE schedules.enabled = 1 ORDER BY schedules.seq;

-- name: UpdateSchedule :exec
UPDATE schedules SET name = ?, description = ?, experiment_id = ?, pipeline_id = ?, pipeline_name = ?, version_id = ?, version_name = ?,
    service_account = ?, cron = ?, interval_seconds = ?, starts_at = ?, ends_at = ?, max_concurrency = ?, no_catchup = ?, parameters = ?,
    message = '', updated_at = ?, manifest = ?, by_version = ?
WHERE id = ?;

-- name: SetScheduleLastAt :exec
UPDATE schedules SET last_at = ? WHERE id = ?;

-- name: SetScheduleEnabled :execrows
UPDATE schedules SET enabled = ?, updated_at = ? WHERE id = ?;

-- name: DisableSchedulesOfExperiment :exec
UPDATE schedules SET enabled = 0, updated_at = ? WHERE experiment_id = ? AND enabled = 1;

-- name: SetScheduleLastIndex :execrows
UPDATE schedules SET last_index = ? WHERE id = ?;

-- name: AdvanceSchedule :execrows
UPDATE schedules SET last_at = ?, message = ?
WHERE id = ? AND last_at = ? AND cron = ? AND interval_seconds = ? AND starts_at = ? AND ends_at = ?;

-- name: DeleteSchedule :exec
DELETE FROM schedules WHERE seq = ?;

-- name: ScheduleManifest :one
SELECT manifests.data FROM schedules JOIN manifests ON manifests.seq = schedules.manifest WHERE schedules.id = ?;

-- name: ManifestsOfSchedules :many
SELECT schedules.id, manifests.seq, manifests.data FROM schedules JOIN manifests ON manifests.seq = schedules.manifest WHERE schedules.id IN (sqlc.slice(ids));

-- name: OpenRunsOfSchedule :one
SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM run_counts WHERE schedule_id = ? AND schedule_id <> '' AND status NOT IN ('Succeeded', 'Failed', 'Error', 'Terminated');
