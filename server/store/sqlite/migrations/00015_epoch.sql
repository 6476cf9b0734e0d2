-- +goose Up

-- Which life of the store revisions and numbers of points belong to: restoring a backup begins another one.
ALTER TABLE clock ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE clock DROP COLUMN epoch;
