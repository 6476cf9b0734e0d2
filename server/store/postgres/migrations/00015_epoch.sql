-- As the file of the same number for SQLite.

-- +goose Up

-- Which life of the store revisions and numbers of points belong to: restoring a backup begins another one.
ALTER TABLE clock ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE clock DROP COLUMN epoch;
