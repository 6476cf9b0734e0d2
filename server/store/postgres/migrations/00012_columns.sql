-- As the file of the same number for SQLite.

-- +goose Up

-- What no index has in the order of the list is found by column (server/store/columns).
DROP INDEX run_metrics_value;
DROP INDEX run_metrics_experiment;
DROP INDEX run_parameters_value;
DROP INDEX run_labels_value;

-- +goose Down
CREATE INDEX run_labels_value ON run_labels (name, value, run);
CREATE INDEX run_parameters_value ON run_parameters (name, substr(value, 1, 64), run);
CREATE INDEX run_metrics_experiment ON run_metrics (experiment_id, name, value, run) WHERE leads = 1;
CREATE INDEX run_metrics_value ON run_metrics (name, value, run) WHERE leads = 1;
