-- +goose Up

-- LEADING is a word of its own in PostgreSQL.
ALTER TABLE run_metrics RENAME COLUMN leading TO leads;

-- +goose Down
ALTER TABLE run_metrics RENAME COLUMN leads TO leading;
