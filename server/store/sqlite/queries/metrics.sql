-- name: InsertMetric :execrows
INSERT INTO run_metrics (run, node_id, name, value, format, leading)
VALUES (?1, ?2, ?3, ?4, ?5, NOT EXISTS (SELECT 1 FROM run_metrics WHERE run = ?1 AND name = ?3))
ON CONFLICT (run, node_id, name) DO NOTHING;

-- name: RunMetrics :many
SELECT * FROM run_metrics WHERE run IN (sqlc.slice(runs)) ORDER BY seq;

-- name: DeleteNodeMetrics :exec
DELETE FROM run_metrics WHERE run = ? AND node_id = ?;

-- name: LeadMetrics :exec
UPDATE run_metrics SET leading = seq IN (SELECT MIN(m.seq) FROM run_metrics m WHERE m.run = ?1 GROUP BY m.name) WHERE run_metrics.run = ?1;
