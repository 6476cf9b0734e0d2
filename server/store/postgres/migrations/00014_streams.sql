-- As the file of the same number for SQLite.

-- +goose Up

-- How far the logs of steps that measure were scanned for points.
CREATE TABLE scans (
    run     BIGINT NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    node_id TEXT COLLATE "C" NOT NULL,
    pod     TEXT COLLATE "C" NOT NULL, -- whose log it was
    state   TEXT COLLATE "C" NOT NULL, -- JSON
    PRIMARY KEY (run, node_id)
);

-- What steps left for the UI to draw (mlpipeline-ui-metadata): one row for each output, and what is wrong with it.
CREATE TABLE visuals (
    run     BIGINT NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    node_id TEXT COLLATE "C" NOT NULL,
    number  BIGINT NOT NULL, -- place in the step's file, from 1; 0: the file itself, which is wrong
    type    TEXT COLLATE "C" NOT NULL, -- as the step wrote it
    body    BYTEA NOT NULL, -- JSON as the step wrote it, compressed
    problem TEXT COLLATE "C" NOT NULL, -- why it cannot be drawn; empty: it can
    PRIMARY KEY (run, node_id, number)
);

-- +goose Down
DROP TABLE visuals;
DROP TABLE scans;
