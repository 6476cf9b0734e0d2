-- name: Series :many
SELECT * FROM series WHERE run = ? ORDER BY seq;

-- name: SeriesOfNode :many
SELECT * FROM series WHERE run = ? AND node_id = ? ORDER BY seq;

-- name: InsertSeries :one
INSERT INTO series (run, node_id, name, rank, format, size) VALUES (?, ?, ?, ?, ?, 0) RETURNING seq;

-- name: GrowSeries :exec
UPDATE series SET size = ?, least = ?, greatest = ?, latest = ?, newest = ? WHERE seq = ?;

-- name: Curves :many
SELECT run, name, format, least, greatest, latest, newest FROM series WHERE run IN (sqlc.slice(runs)) ORDER BY seq;

-- name: DeleteSeriesOfNode :exec
DELETE FROM series WHERE run = ? AND node_id = ?;

-- name: SetScan :exec
INSERT INTO scans (run, node_id, pod, state) VALUES (?, ?, ?, ?)
ON CONFLICT (run, node_id) DO UPDATE SET pod = excluded.pod, state = excluded.state;

-- name: Scan :one
SELECT scans.state FROM scans JOIN runs ON runs.seq = scans.run
WHERE runs.id = ? AND scans.node_id = ? AND scans.pod = ?;

-- name: DeleteScan :exec
DELETE FROM scans WHERE run = ? AND node_id = ?;

-- name: TakePoints :one
UPDATE clock SET point = point + sqlc.arg(count) WHERE id = 1 RETURNING point;

-- name: InsertPoint :exec
INSERT INTO points (n, series, step, printed_at, value) VALUES (?, ?, ?, ?, ?);

-- name: SeriesOfRank :one
SELECT seq FROM series WHERE run = ? AND node_id = ? AND name = ? AND rank = ?;

-- name: PointsBetween :many
SELECT n, step, printed_at, value FROM points
WHERE series = sqlc.arg(series) AND n > sqlc.arg(above) AND n < sqlc.arg(below)
ORDER BY n;

-- name: LastPoints :many
SELECT n, step, printed_at, value FROM points WHERE series = ? ORDER BY n DESC LIMIT ?;

-- name: InsertExtreme :exec
INSERT INTO extremes (series, stretch, place, n, step, printed_at, value) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: ExtremesBetween :many
SELECT place, n, step, printed_at, value FROM extremes
WHERE series = sqlc.arg(series) AND stretch = sqlc.arg(stretch) AND place >= sqlc.arg(first) AND place < sqlc.arg(below)
ORDER BY place;

-- name: ExtremeBefore :one
SELECT place, n FROM extremes
WHERE series = sqlc.arg(series) AND stretch = sqlc.arg(stretch) AND place <= sqlc.arg(place) ORDER BY place DESC LIMIT 1;

-- name: ExtremeAfter :one
SELECT place, n FROM extremes
WHERE series = sqlc.arg(series) AND stretch = sqlc.arg(stretch) AND place >= sqlc.arg(place) ORDER BY place LIMIT 1;

-- name: PointsOfRun :many
SELECT points.n, points.step, points.printed_at, points.value, series.node_id, series.name, series.rank
FROM series JOIN points ON points.series = series.seq
WHERE series.run = sqlc.arg(run) AND points.n > sqlc.arg(above)
ORDER BY points.n LIMIT sqlc.arg(most);

-- name: PointsOfAll :many
SELECT points.n, points.step, points.printed_at, points.value, series.node_id, series.name, series.rank, runs.id AS run_id
FROM points JOIN series ON series.seq = points.series JOIN runs ON runs.seq = series.run
WHERE points.n > sqlc.arg(above)
ORDER BY points.n LIMIT sqlc.arg(most);
