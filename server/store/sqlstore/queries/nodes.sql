-- name: Nodes :many
SELECT nodes.* FROM nodes JOIN runs ON runs.seq = nodes.run
WHERE runs.id = ?
ORDER BY nodes.started_at = 0, nodes.started_at, nodes.id;

-- name: Node :one
SELECT nodes.* FROM nodes JOIN runs ON runs.seq = nodes.run
WHERE runs.id = ? AND nodes.id = ?;

-- name: NodeDigests :many
SELECT id, digest FROM nodes WHERE run = ?;

-- name: PutNode :exec
INSERT INTO nodes (
    run, id, name, display_name, type, template, phase, message, exit_code, pod_name, boundary_id,
    children, inputs, outputs, artifacts, started_at, finished_at, digest, scrape, revision,
    from_run, from_node, waiting, log_key, harvested, log_revision
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0, 0)
ON CONFLICT (run, id) DO UPDATE SET
    name = excluded.name, display_name = excluded.display_name, type = excluded.type, template = excluded.template,
    phase = excluded.phase, message = excluded.message, exit_code = excluded.exit_code,
    -- the pods of a retry have names of another form, but those of the steps that stay are those that they had
    pod_name = CASE WHEN nodes.harvested = 1 AND nodes.pod_name <> '' AND excluded.pod_name <> '' AND excluded.finished_at = nodes.finished_at
        THEN nodes.pod_name ELSE excluded.pod_name END,
    boundary_id = excluded.boundary_id, children = excluded.children, inputs = excluded.inputs, outputs = excluded.outputs,
    artifacts = excluded.artifacts, started_at = excluded.started_at, finished_at = excluded.finished_at, digest = excluded.digest,
    scrape = excluded.scrape, revision = excluded.revision, from_run = excluded.from_run, from_node = excluded.from_node,
    waiting = excluded.waiting,
    -- a node that was run again, under its old id, is to be harvested again
    harvested = CASE WHEN excluded.finished_at = nodes.finished_at THEN nodes.harvested ELSE 0 END;

-- name: DeleteNode :execrows
DELETE FROM nodes WHERE run = ? AND id = ?;

-- name: SetNodeHarvested :execrows
UPDATE nodes SET harvested = 1, log_key = sqlc.arg(log_key), artifacts = sqlc.arg(artifacts), revision = sqlc.arg(revision), log_revision = sqlc.arg(revision)
WHERE run = sqlc.arg(run) AND id = sqlc.arg(id);

-- name: NodeArtifacts :one
SELECT artifacts FROM nodes WHERE run = ? AND id = ?;

-- name: NodePod :one
SELECT pod_name FROM nodes WHERE run = ? AND id = ?;

-- name: WaitingNodes :many
SELECT waiting.run, waiting.why, waiting.steps, nodes.id, nodes.display_name
FROM (
    SELECT w.run AS run, w.waiting AS why, COUNT(*) AS steps, MIN(w.id) AS id
    FROM nodes AS w
    WHERE w.run IN (sqlc.slice(runs)) AND w.waiting <> '' AND w.type = 'Pod' AND w.phase IN ('Pending', 'Running')
        AND NOT EXISTS (
            SELECT 1 FROM nodes AS going
            WHERE going.run = w.run AND going.phase = 'Running' AND going.type = 'Pod' AND going.waiting = ''
        )
    GROUP BY w.run, w.waiting
) AS waiting JOIN nodes ON nodes.run = waiting.run AND nodes.id = waiting.id
ORDER BY waiting.run, waiting.steps DESC, nodes.id;

-- name: NodeNames :many
SELECT nodes.id, nodes.display_name FROM nodes JOIN runs ON runs.seq = nodes.run WHERE runs.id = sqlc.arg(run_id) AND nodes.id IN (sqlc.slice(ids));
