-- +goose Up

-- One clock for all that changes: each change of a run takes its next revision, in the order in which changes become
-- visible, so that whoever has seen all up to a revision asks for what came after it and misses nothing.
CREATE TABLE clock (
    id       INTEGER PRIMARY KEY, -- 1: there is one
    revision INTEGER NOT NULL,
    point    INTEGER NOT NULL -- number of the newest point of a series
);
INSERT INTO clock (id, revision, point) SELECT 1, COALESCE(MAX(seq), 0) + 1, 0 FROM runs;
UPDATE runs SET revision = seq;
CREATE INDEX runs_revision ON runs (revision, seq);

ALTER TABLE nodes ADD COLUMN revision INTEGER NOT NULL DEFAULT 1; -- of its run, when the node last changed
ALTER TABLE nodes ADD COLUMN log_revision INTEGER NOT NULL DEFAULT 1; -- of its run, when its log was complete
ALTER TABLE nodes ADD COLUMN scrape TEXT NOT NULL DEFAULT ''; -- JSON: what to look for in its log
CREATE INDEX nodes_revision ON nodes (run, revision);

-- Runs and nodes that are gone, for those who were not there when they went.
CREATE TABLE removals (
    revision INTEGER NOT NULL,
    run_id   TEXT    NOT NULL,
    node_id  TEXT    NOT NULL, -- empty: the run itself
    PRIMARY KEY (revision, run_id, node_id)
);
CREATE INDEX removals_run ON removals (run_id, revision);

-- The curves that steps print: one for each name and rank.
CREATE TABLE series (
    seq     INTEGER PRIMARY KEY,
    run     INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    node_id TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    rank    INTEGER NOT NULL, -- -1: printed by nobody in particular
    format  TEXT    NOT NULL,
    size    INTEGER NOT NULL, -- its points
    UNIQUE (run, node_id, name, rank)
);
CREATE TABLE points (
    n          INTEGER PRIMARY KEY, -- in the order of their coming, over all runs
    series     INTEGER NOT NULL REFERENCES series (seq) ON DELETE CASCADE,
    step       INTEGER NOT NULL,
    printed_at INTEGER NOT NULL, -- 0: not known
    value      REAL -- NULL: NaN or infinite
);
CREATE INDEX points_series ON points (series, n);

-- +goose Down
DROP TABLE points;
DROP TABLE series;
DROP TABLE removals;
DROP INDEX nodes_revision;
ALTER TABLE nodes DROP COLUMN scrape;
ALTER TABLE nodes DROP COLUMN log_revision;
ALTER TABLE nodes DROP COLUMN revision;
DROP INDEX runs_revision;
DROP TABLE clock;
