-- +goose Up

-- Lists find the metrics of an experiment by column.
ALTER TABLE run_metrics DROP COLUMN experiment_id;

-- +goose Down
ALTER TABLE run_metrics ADD COLUMN experiment_id TEXT NOT NULL DEFAULT '';
UPDATE run_metrics SET experiment_id = (SELECT runs.experiment_id FROM runs WHERE runs.seq = run_metrics.run);
