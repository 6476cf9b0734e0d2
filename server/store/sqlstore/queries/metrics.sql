-- name: InsertMetric :execrows
INSERT INTO run_metrics (run, node_id, name, value, format, leads)
VALUES (?1, ?2, ?3, ?4, ?5, CASE WHEN EXISTS (SELECT 1 FROM run_metrics WHERE run = ?1 AND name = ?3) THEN 0 ELSE 1 END)
ON CONFLICT (run, node_id, name) DO NOTHING;

-- name: RunMetrics :many
SELECT * FROM run_metrics WHERE run IN (sqlc.slice(runs)) ORDER BY seq;

-- name: DeleteNodeMetrics :exec
DELETE FROM run_metrics WHERE run = ? AND node_id = ?;

-- name: LeadMetrics :exec
UPDATE run_metrics
SET leads = CASE WHEN seq IN (SELECT MIN(m.seq) FROM run_metrics m WHERE m.run = ?1 GROUP BY m.name) THEN 1 ELSE 0 END
WHERE run_metrics.run = ?1;
