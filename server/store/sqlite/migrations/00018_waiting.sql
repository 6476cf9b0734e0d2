-- +goose Up

-- What a node waits for before it starts, in a sentence; empty when it does not.
ALTER TABLE nodes ADD COLUMN waiting TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE nodes DROP COLUMN waiting;
