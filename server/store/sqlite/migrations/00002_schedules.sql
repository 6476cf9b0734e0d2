-- +goose Up

-- Recurring runs (jobs, on the wire). The manifest is that of the day the schedule was made.
CREATE TABLE schedules (
    seq              INTEGER PRIMARY KEY,
    id               TEXT    NOT NULL UNIQUE,
    name             TEXT    NOT NULL,
    description      TEXT    NOT NULL,
    experiment_id    TEXT    NOT NULL, -- no reference: deleting an experiment leaves its schedules
    pipeline_id      TEXT    NOT NULL,
    pipeline_name    TEXT    NOT NULL,
    version_id       TEXT    NOT NULL,
    version_name     TEXT    NOT NULL,
    service_account  TEXT    NOT NULL,
    resource         TEXT    NOT NULL, -- what the names of its Workflows begin with
    cron             TEXT    NOT NULL,
    interval_seconds INTEGER NOT NULL,
    starts_at        INTEGER NOT NULL,
    ends_at          INTEGER NOT NULL,
    max_concurrency  INTEGER NOT NULL,
    enabled          BOOLEAN NOT NULL,
    no_catchup       BOOLEAN NOT NULL,
    parameters       TEXT    NOT NULL, -- JSON
    message          TEXT    NOT NULL, -- why the last run could not be made
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    last_at          INTEGER NOT NULL, -- the newest of its times that was dealt with
    last_index       INTEGER NOT NULL, -- of its newest run, from 1
    manifest         INTEGER NOT NULL REFERENCES manifests (seq)
);
CREATE INDEX schedules_created ON schedules (created_at, id);
CREATE INDEX schedules_experiment ON schedules (experiment_id, created_at, id);
CREATE INDEX schedules_manifest ON schedules (manifest);

ALTER TABLE runs ADD COLUMN schedule_id TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN schedule_name TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN attempt INTEGER NOT NULL DEFAULT 0; -- how often the run was retried
CREATE INDEX runs_schedule ON runs (schedule_id, created_at, id) WHERE schedule_id <> '';

-- +goose Down
DROP INDEX runs_schedule;
ALTER TABLE runs DROP COLUMN attempt;
ALTER TABLE runs DROP COLUMN schedule_name;
ALTER TABLE runs DROP COLUMN schedule_id;
DROP TABLE schedules;
