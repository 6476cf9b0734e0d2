-- +goose Up

-- What the containers of runs printed: one row for each life of a container. The lines lie in the artifact store.
CREATE TABLE logs (
    seq        INTEGER PRIMARY KEY,
    run        INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    node_id    TEXT    NOT NULL,
    attempt    INTEGER NOT NULL, -- that the run was at
    namespace  TEXT    NOT NULL,
    pod        TEXT    NOT NULL,
    pod_uid    TEXT    NOT NULL,
    container  TEXT    NOT NULL,
    restart    INTEGER NOT NULL,
    role       TEXT    NOT NULL, -- in a distributed job; empty for the step's own pod
    rank       INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    last_at    INTEGER NOT NULL,
    line_count INTEGER NOT NULL, -- of a live log as of the last part that was closed
    byte_count INTEGER NOT NULL,
    state      TEXT    NOT NULL,
    message    TEXT    NOT NULL,
    UNIQUE (run, pod_uid, container, restart)
);
CREATE INDEX logs_live ON logs (seq) WHERE state = 'live';

-- The parts of logs that are written no more: how far the log goes with the end of each.
CREATE TABLE log_parts (
    log        INTEGER NOT NULL REFERENCES logs (seq) ON DELETE CASCADE,
    number     INTEGER NOT NULL, -- from 0
    line_count INTEGER NOT NULL,
    byte_count INTEGER NOT NULL,
    last_at    INTEGER NOT NULL,
    PRIMARY KEY (log, number)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE log_parts;
DROP TABLE logs;
