-- name: PutVisual :exec
INSERT INTO visuals (run, node_id, number, type, body, problem) VALUES (?, ?, ?, ?, ?, ?);

-- name: DeleteVisualsOfNode :exec
DELETE FROM visuals WHERE run = ? AND node_id = ?;

-- name: DeleteVisuals :exec
DELETE FROM visuals WHERE run = ?;

-- name: VisualsOfNode :many
SELECT visuals.* FROM visuals JOIN runs ON runs.seq = visuals.run
WHERE runs.id = ? AND visuals.node_id = ?
ORDER BY visuals.number;

-- name: Visuals :many
SELECT visuals.node_id, visuals.number, visuals.type, visuals.problem FROM visuals JOIN runs ON runs.seq = visuals.run
WHERE runs.id = ?
ORDER BY visuals.node_id, visuals.number;
