-- +goose Up

-- How far the logs of steps that measure were scanned for points.
CREATE TABLE scans (
    run     INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    node_id TEXT NOT NULL,
    pod     TEXT NOT NULL, -- whose log it was
    state   TEXT NOT NULL, -- JSON
    PRIMARY KEY (run, node_id)
) WITHOUT ROWID;

-- What steps left for the UI to draw (mlpipeline-ui-metadata): one row for each output, and what is wrong with it.
CREATE TABLE visuals (
    run     INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    node_id TEXT NOT NULL,
    number  INTEGER NOT NULL, -- place in the step's file, from 1; 0: the file itself, which is wrong
    type    TEXT NOT NULL, -- as the step wrote it
    body    BLOB NOT NULL, -- JSON as the step wrote it, compressed
    problem TEXT NOT NULL, -- why it cannot be drawn; empty: it can
    PRIMARY KEY (run, node_id, number)
);

-- +goose Down
DROP TABLE visuals;
DROP TABLE scans;
