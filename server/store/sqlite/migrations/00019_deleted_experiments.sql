-- +goose Up

-- Deleted experiments, so that they can be restored: runs and schedules keep the ids of theirs.
CREATE TABLE deleted_experiments (
    id            TEXT    NOT NULL PRIMARY KEY,
    name          TEXT    NOT NULL, -- another experiment may have it by now
    description   TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    storage_state TEXT    NOT NULL,
    deleted_at    INTEGER NOT NULL
);
CREATE INDEX deleted_experiments_name ON deleted_experiments (name, deleted_at);

-- +goose Down
DROP TABLE deleted_experiments;
