-- +goose Up

-- What steps left that succeeded, for others that are given the same. An entry counts as long as its run is there.
CREATE TABLE cache_entries (
    run           INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    node_id       TEXT    NOT NULL,
    execution_key TEXT    NOT NULL, -- of all that the step was given
    family        TEXT    NOT NULL, -- of its template
    finished_at   INTEGER NOT NULL,
    artifacts     TEXT    NOT NULL, -- JSON: the keys in the artifact store
    outputs       BLOB    NOT NULL, -- zstd of the JSON
    PRIMARY KEY (run, node_id)
) WITHOUT ROWID;
CREATE INDEX cache_entries_execution ON cache_entries (execution_key, finished_at);
CREATE INDEX cache_entries_family ON cache_entries (family);

-- Steps that took what others left. The other run may be deleted by now.
CREATE TABLE cache_hits (
    run       INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    node_id   TEXT    NOT NULL,
    from_run  TEXT    NOT NULL,
    from_node TEXT    NOT NULL,
    PRIMARY KEY (run, node_id)
) WITHOUT ROWID;
CREATE INDEX cache_hits_from ON cache_hits (from_run);

-- The same, beside what else is shown of a step.
ALTER TABLE nodes ADD COLUMN from_run TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN from_node TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE nodes DROP COLUMN from_node;
ALTER TABLE nodes DROP COLUMN from_run;
DROP TABLE cache_hits;
DROP TABLE cache_entries;
