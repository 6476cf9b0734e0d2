-- Times are microseconds since 1970 UTC, 0 when unset. Big texts (manifests, Workflows) lie in tables of their own,
-- so that lists read none of them.

-- +goose Up

-- Manifests by content: a thousand runs of one pipeline share one.
CREATE TABLE manifests (
    seq    INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE, -- SHA-256 of the text
    data   BLOB NOT NULL         -- zstd
);

CREATE TABLE experiments (
    seq           INTEGER PRIMARY KEY,
    id            TEXT    NOT NULL UNIQUE,
    name          TEXT    NOT NULL UNIQUE,
    description   TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    storage_state TEXT    NOT NULL -- as on the wire, so that filters compare it as it is
);
CREATE INDEX experiments_created ON experiments (created_at, id);

CREATE TABLE pipelines (
    seq             INTEGER PRIMARY KEY,
    id              TEXT    NOT NULL UNIQUE,
    name            TEXT    NOT NULL UNIQUE,
    description     TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    default_version TEXT    NOT NULL -- empty once the last version is deleted
);
CREATE INDEX pipelines_created ON pipelines (created_at, id);

CREATE TABLE versions (
    seq             INTEGER PRIMARY KEY,
    id              TEXT    NOT NULL UNIQUE,
    pipeline_id     TEXT    NOT NULL REFERENCES pipelines (id) ON DELETE CASCADE,
    name            TEXT    NOT NULL,
    description     TEXT    NOT NULL,
    code_source_url TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    parameters      TEXT    NOT NULL, -- JSON
    manifest        INTEGER NOT NULL REFERENCES manifests (seq),
    UNIQUE (pipeline_id, name)
);
CREATE INDEX versions_created ON versions (pipeline_id, created_at, id);
CREATE INDEX versions_manifest ON versions (manifest);

CREATE TABLE runs (
    seq             INTEGER PRIMARY KEY,
    id              TEXT    NOT NULL UNIQUE,
    name            TEXT    NOT NULL,
    description     TEXT    NOT NULL,
    experiment_id   TEXT    NOT NULL, -- no reference: deleting an experiment leaves its runs
    pipeline_id     TEXT    NOT NULL,
    pipeline_name   TEXT    NOT NULL,
    version_id      TEXT    NOT NULL,
    version_name    TEXT    NOT NULL,
    service_account TEXT    NOT NULL,
    namespace       TEXT    NOT NULL,
    workflow        TEXT    NOT NULL,
    status          TEXT    NOT NULL,
    message         TEXT    NOT NULL,
    storage_state   TEXT    NOT NULL,
    warnings        TEXT    NOT NULL, -- JSON
    created_at      INTEGER NOT NULL,
    scheduled_at    INTEGER NOT NULL,
    started_at      INTEGER NOT NULL,
    finished_at     INTEGER NOT NULL,
    submitted       BOOLEAN NOT NULL, -- its Workflow exists, or existed
    settled         BOOLEAN NOT NULL,
    revision        INTEGER NOT NULL,
    manifest        INTEGER NOT NULL REFERENCES manifests (seq)
);
CREATE INDEX runs_created ON runs (created_at, id);
CREATE INDEX runs_scheduled ON runs (scheduled_at, id);
CREATE INDEX runs_experiment ON runs (experiment_id, created_at, id);
CREATE INDEX runs_pipeline ON runs (pipeline_id, created_at, id);
CREATE INDEX runs_status ON runs (status, created_at, id);
CREATE INDEX runs_name ON runs (name, id);
CREATE INDEX runs_open ON runs (seq) WHERE settled = 0;
CREATE INDEX runs_manifest ON runs (manifest);

CREATE TABLE run_workflows (
    run    INTEGER PRIMARY KEY REFERENCES runs (seq) ON DELETE CASCADE,
    digest INTEGER NOT NULL, -- tells whether it has to be written again
    data   BLOB    NOT NULL  -- zstd of the JSON
);

CREATE TABLE run_parameters (
    run      INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    name     TEXT    NOT NULL,
    value    TEXT    NOT NULL,
    given    BOOLEAN NOT NULL, -- by the request; otherwise the manifest's default
    PRIMARY KEY (run, position)
) WITHOUT ROWID;

CREATE TABLE run_metrics (
    seq     INTEGER PRIMARY KEY,
    run     INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    node_id TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    value   REAL    NOT NULL,
    format  TEXT    NOT NULL,
    leading BOOLEAN NOT NULL, -- the first of its name in the run: the one that runs are sorted by
    UNIQUE (run, node_id, name)
);
CREATE INDEX run_metrics_value ON run_metrics (name, value, run) WHERE leading = 1;

CREATE TABLE nodes (
    run          INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    id           TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    display_name TEXT    NOT NULL,
    type         TEXT    NOT NULL,
    template     TEXT    NOT NULL,
    phase        TEXT    NOT NULL,
    message      TEXT    NOT NULL,
    exit_code    TEXT    NOT NULL,
    pod_name     TEXT    NOT NULL,
    boundary_id  TEXT    NOT NULL,
    children     TEXT    NOT NULL, -- JSON, as are inputs, outputs and artifacts
    inputs       TEXT    NOT NULL,
    outputs      TEXT    NOT NULL,
    artifacts    TEXT    NOT NULL,
    started_at   INTEGER NOT NULL,
    finished_at  INTEGER NOT NULL,
    log_key      TEXT    NOT NULL,
    harvested    BOOLEAN NOT NULL, -- ended, with its log and metrics in
    digest       INTEGER NOT NULL, -- of all but log_key and harvested; tells whether the row has to be written again
    PRIMARY KEY (run, id)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE nodes;
DROP TABLE run_metrics;
DROP TABLE run_parameters;
DROP TABLE run_workflows;
DROP TABLE runs;
DROP TABLE versions;
DROP TABLE pipelines;
DROP TABLE experiments;
DROP TABLE manifests;
