-- +goose Up

-- Deleted experiments, so that they can be restored: runs and schedules keep the ids of theirs.
CREATE TABLE deleted_experiments (
    id            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name          TEXT COLLATE "C" NOT NULL, -- another experiment may have it by now
    description   TEXT COLLATE "C" NOT NULL,
    created_at    BIGINT NOT NULL,
    storage_state TEXT COLLATE "C" NOT NULL,
    deleted_at    BIGINT NOT NULL
);
CREATE INDEX deleted_experiments_name ON deleted_experiments (name, deleted_at);

-- +goose Down
DROP TABLE deleted_experiments;
