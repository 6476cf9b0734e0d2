-- +goose Up

-- What drivers of KFP's v2-compatible mode noted of the tasks of runs.
CREATE TABLE tasks (
    seq           INTEGER PRIMARY KEY,
    id            TEXT    NOT NULL UNIQUE,
    run_id        TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    namespace     TEXT    NOT NULL,
    pipeline_name TEXT    NOT NULL,
    execution_id  TEXT    NOT NULL, -- in the metadata store
    fingerprint   TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    finished_at   INTEGER NOT NULL -- 0: not said
);
CREATE INDEX tasks_created ON tasks (created_at, id);
CREATE INDEX tasks_fingerprint ON tasks (fingerprint, created_at, id);
CREATE INDEX tasks_run ON tasks (run_id);

-- +goose Down
DROP TABLE tasks;
