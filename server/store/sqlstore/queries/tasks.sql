-- name: InsertTask :execrows
INSERT INTO tasks (id, run_id, namespace, pipeline_name, execution_id, fingerprint, created_at, finished_at)
SELECT sqlc.arg(id), runs.id, sqlc.arg(namespace), sqlc.arg(pipeline_name), sqlc.arg(execution_id), sqlc.arg(fingerprint),
    sqlc.arg(created_at), sqlc.arg(finished_at)
FROM runs WHERE runs.id = sqlc.arg(run_id);

-- name: TasksBySeq :many
SELECT * FROM tasks WHERE seq IN (sqlc.slice(seqs));
