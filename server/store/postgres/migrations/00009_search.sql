-- As the file of the same number for SQLite.

-- +goose Up

CREATE TABLE run_labels (
    run   BIGINT NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    name  TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run, name)
);
CREATE INDEX run_labels_value ON run_labels (name, value, run);
-- Values may be long, and an index on all of them large: it has their beginnings.
CREATE INDEX run_parameters_value ON run_parameters (name, substr(value, 1, 64), run);

-- +goose Down
DROP INDEX run_parameters_value;
DROP TABLE run_labels;
