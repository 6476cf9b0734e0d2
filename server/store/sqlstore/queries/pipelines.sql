-- name: InsertPipeline :exec
INSERT INTO pipelines (id, name, description, created_at, default_version) VALUES (?, ?, ?, ?, ?);

-- name: InsertVersion :exec
INSERT INTO versions (id, pipeline_id, name, description, code_source_url, created_at, parameters, manifest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: Pipeline :one
SELECT * FROM pipelines WHERE id = ?;

-- name: PipelineByName :one
SELECT * FROM pipelines WHERE name = ?;

-- name: PipelinesBySeq :many
SELECT * FROM pipelines WHERE seq IN (sqlc.slice(seqs));

-- name: DeletePipeline :execrows
DELETE FROM pipelines WHERE id = ?;

-- name: SetDefaultVersion :execrows
UPDATE pipelines SET default_version = ? WHERE id = ?;

-- name: Version :one
SELECT * FROM versions WHERE id = ?;

-- name: VersionsBySeq :many
SELECT * FROM versions WHERE seq IN (sqlc.slice(seqs));

-- name: VersionsByID :many
SELECT * FROM versions WHERE id IN (sqlc.slice(ids));

-- name: NewestVersion :one
SELECT id FROM versions WHERE pipeline_id = ? ORDER BY created_at DESC, id DESC LIMIT 1;

-- name: ManifestsOfPipeline :many
SELECT DISTINCT manifest FROM versions WHERE pipeline_id = ?;

-- name: DeleteVersion :exec
DELETE FROM versions WHERE id = ?;

-- name: VersionManifest :one
SELECT manifests.data FROM versions JOIN manifests ON manifests.seq = versions.manifest WHERE versions.id = ?;
