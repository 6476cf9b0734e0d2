-- +goose Up

-- What a list of runs shows of each curve, so that no list reads points.
ALTER TABLE series ADD COLUMN least DOUBLE PRECISION; -- of the finite values; NULL: there is none
ALTER TABLE series ADD COLUMN greatest DOUBLE PRECISION;
ALTER TABLE series ADD COLUMN latest DOUBLE PRECISION; -- value of the last point; NULL: NaN or infinite
ALTER TABLE series ADD COLUMN newest BIGINT NOT NULL DEFAULT 0; -- n of the last point

UPDATE series SET least = p.least, greatest = p.greatest, newest = p.newest
FROM (SELECT series, MIN(value) AS least, MAX(value) AS greatest, MAX(n) AS newest FROM points GROUP BY series) AS p
WHERE p.series = series.seq;
UPDATE series SET latest = (SELECT value FROM points WHERE points.n = series.newest);

-- +goose Down
ALTER TABLE series DROP COLUMN newest;
ALTER TABLE series DROP COLUMN latest;
ALTER TABLE series DROP COLUMN greatest;
ALTER TABLE series DROP COLUMN least;
