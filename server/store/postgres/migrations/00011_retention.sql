-- +goose Up

-- What retention has removed of runs that stay.
ALTER TABLE runs ADD COLUMN artifacts_gone SMALLINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN logs_gone SMALLINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE runs DROP COLUMN logs_gone;
ALTER TABLE runs DROP COLUMN artifacts_gone;
