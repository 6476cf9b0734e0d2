-- name: ManifestByDigest :one
SELECT seq FROM manifests WHERE digest = ?;

-- name: InsertManifest :one
INSERT INTO manifests (digest, data) VALUES (?, ?) RETURNING seq;

-- name: DropManifest :exec
DELETE FROM manifests
WHERE manifests.seq = sqlc.arg(seq)
  AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.manifest = sqlc.arg(seq))
  AND NOT EXISTS (SELECT 1 FROM versions WHERE versions.manifest = sqlc.arg(seq))
  AND NOT EXISTS (SELECT 1 FROM schedules WHERE schedules.manifest = sqlc.arg(seq));
