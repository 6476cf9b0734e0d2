-- +goose Up

-- Whether a run, or a job, was asked for by its version alone: KFP's API then names no pipeline.
ALTER TABLE runs ADD COLUMN by_version SMALLINT NOT NULL DEFAULT 0;
ALTER TABLE schedules ADD COLUMN by_version SMALLINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE schedules DROP COLUMN by_version;
ALTER TABLE runs DROP COLUMN by_version;
