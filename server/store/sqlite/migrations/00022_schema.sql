-- The schema of release 0.1.0. Times are microseconds since 1970 UTC, 0 when unset. Big texts (manifests, Workflows) have tables of their
-- own, so that lists do not read them. PostgreSQL's file has the same tables, columns and indexes under the same names.

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

-- Deleted experiments, so that they can be restored: runs and schedules keep the ids of theirs.
CREATE TABLE deleted_experiments (
    id            TEXT    NOT NULL PRIMARY KEY,
    name          TEXT    NOT NULL, -- another experiment may have it by now
    description   TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    storage_state TEXT    NOT NULL,
    deleted_at    INTEGER NOT NULL
);
CREATE INDEX deleted_experiments_name ON deleted_experiments (name, deleted_at);

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

-- Recurring runs (jobs, on the wire). The manifest is the one of the day on which the schedule was made.
CREATE TABLE schedules (
    seq              INTEGER PRIMARY KEY,
    id               TEXT    NOT NULL UNIQUE,
    name             TEXT    NOT NULL,
    description      TEXT    NOT NULL,
    experiment_id    TEXT    NOT NULL, -- no reference: deleting an experiment leaves its schedules
    pipeline_id      TEXT    NOT NULL,
    pipeline_name    TEXT    NOT NULL,
    version_id       TEXT    NOT NULL,
    version_name     TEXT    NOT NULL,
    service_account  TEXT    NOT NULL,
    resource         TEXT    NOT NULL, -- what the names of its Workflows begin with
    cron             TEXT    NOT NULL,
    interval_seconds INTEGER NOT NULL,
    starts_at        INTEGER NOT NULL,
    ends_at          INTEGER NOT NULL,
    max_concurrency  INTEGER NOT NULL,
    enabled          BOOLEAN NOT NULL,
    no_catchup       BOOLEAN NOT NULL,
    parameters       TEXT    NOT NULL, -- JSON
    message          TEXT    NOT NULL, -- why the last run could not be made
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    last_at          INTEGER NOT NULL, -- the newest of its times that made a run or was skipped
    last_index       INTEGER NOT NULL, -- number of its newest run, from 1
    manifest         INTEGER NOT NULL REFERENCES manifests (seq),
    by_version       BOOLEAN NOT NULL DEFAULT 0 -- the request named a version alone: KFP's API then names no pipeline
);
CREATE INDEX schedules_created ON schedules (created_at, id);
CREATE INDEX schedules_experiment ON schedules (experiment_id, created_at, id);
CREATE INDEX schedules_manifest ON schedules (manifest);

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
    revision        INTEGER NOT NULL, -- of the clock, when the run last changed
    manifest        INTEGER NOT NULL REFERENCES manifests (seq),
    schedule_id     TEXT    NOT NULL DEFAULT '',
    schedule_name   TEXT    NOT NULL DEFAULT '',
    attempt         INTEGER NOT NULL DEFAULT 0, -- how often the run was retried
    artifacts_gone  BOOLEAN NOT NULL DEFAULT 0, -- retention has removed them
    logs_gone       BOOLEAN NOT NULL DEFAULT 0, -- retention has removed them
    by_version      BOOLEAN NOT NULL DEFAULT 0 -- the request named a version alone: KFP's API then names no pipeline
);
CREATE INDEX runs_open ON runs (seq) WHERE settled = 0;
CREATE INDEX runs_manifest ON runs (manifest);
CREATE INDEX runs_revision ON runs (revision, seq);

-- Every order has two indexes, one of the archived runs and one of the others: most lists want one kind, archived runs are
-- mostly old ones, and a list of both kinds is merged. server/store/sqlstore/runlist.go names them.
CREATE INDEX runs_available_created_at ON runs (created_at, id) WHERE storage_state = 'STORAGESTATE_AVAILABLE';
CREATE INDEX runs_archived_created_at ON runs (created_at, id) WHERE storage_state = 'STORAGESTATE_ARCHIVED';
CREATE INDEX runs_available_scheduled_at ON runs (scheduled_at, id) WHERE storage_state = 'STORAGESTATE_AVAILABLE';
CREATE INDEX runs_archived_scheduled_at ON runs (scheduled_at, id) WHERE storage_state = 'STORAGESTATE_ARCHIVED';
CREATE INDEX runs_available_finished_at ON runs (finished_at, id) WHERE storage_state = 'STORAGESTATE_AVAILABLE';
CREATE INDEX runs_archived_finished_at ON runs (finished_at, id) WHERE storage_state = 'STORAGESTATE_ARCHIVED';
CREATE INDEX runs_available_name ON runs (name, id) WHERE storage_state = 'STORAGESTATE_AVAILABLE';
CREATE INDEX runs_archived_name ON runs (name, id) WHERE storage_state = 'STORAGESTATE_ARCHIVED';
CREATE INDEX runs_available_experiment_id_created_at ON runs (experiment_id, created_at, id) WHERE storage_state = 'STORAGESTATE_AVAILABLE';
CREATE INDEX runs_archived_experiment_id_created_at ON runs (experiment_id, created_at, id) WHERE storage_state = 'STORAGESTATE_ARCHIVED';
CREATE INDEX runs_available_experiment_id_finished_at ON runs (experiment_id, finished_at, id) WHERE storage_state = 'STORAGESTATE_AVAILABLE';
CREATE INDEX runs_archived_experiment_id_finished_at ON runs (experiment_id, finished_at, id) WHERE storage_state = 'STORAGESTATE_ARCHIVED';
CREATE INDEX runs_available_experiment_id_name ON runs (experiment_id, name, id) WHERE storage_state = 'STORAGESTATE_AVAILABLE';
CREATE INDEX runs_archived_experiment_id_name ON runs (experiment_id, name, id) WHERE storage_state = 'STORAGESTATE_ARCHIVED';
CREATE INDEX runs_archived_experiment_id_scheduled_at ON runs (experiment_id, scheduled_at, id) WHERE storage_state = 'STORAGESTATE_ARCHIVED';
CREATE INDEX runs_available_experiment_id_scheduled_at ON runs (experiment_id, scheduled_at, id) WHERE storage_state = 'STORAGESTATE_AVAILABLE';
CREATE INDEX runs_available_schedule_id_created_at ON runs (schedule_id, created_at, id) WHERE storage_state = 'STORAGESTATE_AVAILABLE' AND schedule_id <> '';
CREATE INDEX runs_archived_schedule_id_created_at ON runs (schedule_id, created_at, id) WHERE storage_state = 'STORAGESTATE_ARCHIVED' AND schedule_id <> '';
CREATE INDEX runs_archived_schedule_id_name ON runs (schedule_id, name, id) WHERE storage_state = 'STORAGESTATE_ARCHIVED' AND schedule_id <> '';
CREATE INDEX runs_available_schedule_id_name ON runs (schedule_id, name, id) WHERE storage_state = 'STORAGESTATE_AVAILABLE' AND schedule_id <> '';
CREATE INDEX runs_archived_schedule_id_scheduled_at ON runs (schedule_id, scheduled_at, id) WHERE storage_state = 'STORAGESTATE_ARCHIVED' AND schedule_id <> '';
CREATE INDEX runs_available_schedule_id_scheduled_at ON runs (schedule_id, scheduled_at, id) WHERE storage_state = 'STORAGESTATE_AVAILABLE' AND schedule_id <> '';
CREATE INDEX runs_available_pipeline_id_created_at ON runs (pipeline_id, created_at, id) WHERE storage_state = 'STORAGESTATE_AVAILABLE';
CREATE INDEX runs_archived_pipeline_id_created_at ON runs (pipeline_id, created_at, id) WHERE storage_state = 'STORAGESTATE_ARCHIVED';
CREATE INDEX runs_archived_pipeline_id_name ON runs (pipeline_id, name, id) WHERE storage_state = 'STORAGESTATE_ARCHIVED';
CREATE INDEX runs_available_pipeline_id_name ON runs (pipeline_id, name, id) WHERE storage_state = 'STORAGESTATE_AVAILABLE';
CREATE INDEX runs_available_status_created_at ON runs (status, created_at, id) WHERE storage_state = 'STORAGESTATE_AVAILABLE';
CREATE INDEX runs_archived_status_created_at ON runs (status, created_at, id) WHERE storage_state = 'STORAGESTATE_ARCHIVED';
-- Columns without an index in the order of a list are found by server/store/columns.

-- How many runs there are of each kind: what a list counts without looking at them. Triggers keep it.
CREATE TABLE run_counts (
    experiment_id TEXT    NOT NULL,
    schedule_id   TEXT    NOT NULL,
    pipeline_id   TEXT    NOT NULL,
    status        TEXT    NOT NULL,
    storage_state TEXT    NOT NULL,
    n             INTEGER NOT NULL,
    PRIMARY KEY (experiment_id, schedule_id, pipeline_id, status, storage_state)
) WITHOUT ROWID;
CREATE INDEX run_counts_schedule ON run_counts (schedule_id);

-- +goose StatementBegin
CREATE TRIGGER runs_counted AFTER INSERT ON runs BEGIN
    INSERT INTO run_counts VALUES (NEW.experiment_id, NEW.schedule_id, NEW.pipeline_id, NEW.status, NEW.storage_state, 1)
    ON CONFLICT (experiment_id, schedule_id, pipeline_id, status, storage_state) DO UPDATE SET n = run_counts.n + 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER runs_discounted AFTER DELETE ON runs BEGIN
    UPDATE run_counts SET n = n - 1
    WHERE experiment_id = OLD.experiment_id AND schedule_id = OLD.schedule_id AND pipeline_id = OLD.pipeline_id
      AND status = OLD.status AND storage_state = OLD.storage_state;
    DELETE FROM run_counts
    WHERE experiment_id = OLD.experiment_id AND schedule_id = OLD.schedule_id AND pipeline_id = OLD.pipeline_id
      AND status = OLD.status AND storage_state = OLD.storage_state AND n = 0;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER runs_recounted AFTER UPDATE OF experiment_id, schedule_id, pipeline_id, status, storage_state ON runs
WHEN OLD.status <> NEW.status OR OLD.storage_state <> NEW.storage_state OR OLD.experiment_id <> NEW.experiment_id
  OR OLD.schedule_id <> NEW.schedule_id OR OLD.pipeline_id <> NEW.pipeline_id
BEGIN
    UPDATE run_counts SET n = n - 1
    WHERE experiment_id = OLD.experiment_id AND schedule_id = OLD.schedule_id AND pipeline_id = OLD.pipeline_id
      AND status = OLD.status AND storage_state = OLD.storage_state;
    DELETE FROM run_counts
    WHERE experiment_id = OLD.experiment_id AND schedule_id = OLD.schedule_id AND pipeline_id = OLD.pipeline_id
      AND status = OLD.status AND storage_state = OLD.storage_state AND n = 0;
    INSERT INTO run_counts VALUES (NEW.experiment_id, NEW.schedule_id, NEW.pipeline_id, NEW.status, NEW.storage_state, 1)
    ON CONFLICT (experiment_id, schedule_id, pipeline_id, status, storage_state) DO UPDATE SET n = run_counts.n + 1;
END;
-- +goose StatementEnd

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

CREATE TABLE run_labels (
    run   INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    name  TEXT    NOT NULL,
    value TEXT    NOT NULL,
    PRIMARY KEY (run, name)
);

CREATE TABLE run_metrics (
    seq     INTEGER PRIMARY KEY,
    run     INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    node_id TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    value   REAL    NOT NULL,
    format  TEXT    NOT NULL,
    leads   BOOLEAN NOT NULL, -- the first of its name in the run: the one that runs are sorted by
    UNIQUE (run, node_id, name)
);

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
    from_run     TEXT    NOT NULL DEFAULT '', -- whose outputs the step took from the cache
    from_node    TEXT    NOT NULL DEFAULT '',
    revision     INTEGER NOT NULL DEFAULT 1, -- of its run, when the node last changed
    log_revision INTEGER NOT NULL DEFAULT 1, -- of its run, when its log was complete
    scrape       TEXT    NOT NULL DEFAULT '', -- JSON: what to look for in its log
    waiting      TEXT    NOT NULL DEFAULT '', -- for what it waits before it starts, in a sentence; empty when it does not
    PRIMARY KEY (run, id)
) WITHOUT ROWID;
CREATE INDEX nodes_revision ON nodes (run, revision);
CREATE INDEX nodes_waiting ON nodes (run) WHERE waiting <> ''; -- few nodes wait, and lists find them without the others

-- One clock for all that changes: each change of a run takes its next revision, in the order in which changes become
-- visible, so that whoever has seen all up to a revision asks for what came after it and misses nothing.
CREATE TABLE clock (
    id       INTEGER PRIMARY KEY, -- 1: there is one
    revision INTEGER NOT NULL,
    point    INTEGER NOT NULL, -- number of the newest point of a series
    epoch    INTEGER NOT NULL DEFAULT 0 -- life of the store that revisions and numbers of points belong to: restoring a backup begins another
);
INSERT INTO clock (id, revision, point) VALUES (1, 1, 0);

-- Runs and nodes that are gone, for those who were not there when they went.
CREATE TABLE removals (
    revision INTEGER NOT NULL,
    run_id   TEXT    NOT NULL,
    node_id  TEXT    NOT NULL, -- empty: the run itself
    PRIMARY KEY (revision, run_id, node_id)
);
CREATE INDEX removals_run ON removals (run_id, revision);

-- The curves that steps print: one for each name and rank.
CREATE TABLE series (
    seq     INTEGER PRIMARY KEY,
    run     INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    node_id TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    rank    INTEGER NOT NULL, -- -1: no rank printed it
    format  TEXT    NOT NULL,
    size    INTEGER NOT NULL, -- its points
    UNIQUE (run, node_id, name, rank)
);
CREATE TABLE points (
    n          INTEGER PRIMARY KEY, -- in the order of their coming, over all runs
    series     INTEGER NOT NULL REFERENCES series (seq) ON DELETE CASCADE,
    step       INTEGER NOT NULL,
    printed_at INTEGER NOT NULL, -- 0: not known
    value      REAL -- NULL: NaN or infinite
);
CREATE INDEX points_series ON points (series, n);

-- How far the logs of steps that measure were scanned for points.
CREATE TABLE scans (
    run     INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    node_id TEXT NOT NULL,
    pod     TEXT NOT NULL, -- whose log it was
    state   TEXT NOT NULL, -- JSON
    PRIMARY KEY (run, node_id)
) WITHOUT ROWID;

-- What the containers of runs printed: one row for each life of a container. The lines lie in the artifact store.
CREATE TABLE logs (
    seq        INTEGER PRIMARY KEY,
    run        INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    node_id    TEXT    NOT NULL,
    attempt    INTEGER NOT NULL, -- that the run was at
    namespace  TEXT    NOT NULL,
    pod        TEXT    NOT NULL,
    pod_uid    TEXT    NOT NULL,
    container  TEXT    NOT NULL,
    restart    INTEGER NOT NULL,
    role       TEXT    NOT NULL, -- in a distributed job; empty for the step's own pod
    rank       INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    last_at    INTEGER NOT NULL,
    line_count INTEGER NOT NULL, -- of a live log as of the last part that was closed
    byte_count INTEGER NOT NULL,
    state      TEXT    NOT NULL,
    message    TEXT    NOT NULL,
    UNIQUE (run, pod_uid, container, restart)
);
CREATE INDEX logs_live ON logs (seq) WHERE state = 'live';

-- The parts of logs that are written no more: how far the log goes with the end of each.
CREATE TABLE log_parts (
    log        INTEGER NOT NULL REFERENCES logs (seq) ON DELETE CASCADE,
    number     INTEGER NOT NULL, -- from 0
    line_count INTEGER NOT NULL,
    byte_count INTEGER NOT NULL,
    last_at    INTEGER NOT NULL,
    PRIMARY KEY (log, number)
) WITHOUT ROWID;

-- What steps left for the UI to draw (mlpipeline-ui-metadata): one row for each output, and what is wrong with it.
CREATE TABLE visuals (
    run     INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE,
    node_id TEXT NOT NULL,
    number  INTEGER NOT NULL, -- place in the step's file, from 1; 0: the file itself, which is wrong
    type    TEXT NOT NULL, -- as the step wrote it
    body    BLOB NOT NULL, -- JSON as the step wrote it, compressed
    problem TEXT NOT NULL, -- why it cannot be drawn; empty: it can
    PRIMARY KEY (run, node_id, number)
);

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

-- What drivers of KFP's v2-compatible mode noted of the tasks of runs.
CREATE TABLE tasks (
    seq           INTEGER PRIMARY KEY,
    id            TEXT    NOT NULL UNIQUE,
    run_id        TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    namespace     TEXT    NOT NULL,
    pipeline_name TEXT    NOT NULL,
    execution_id  TEXT    NOT NULL, -- in the metadata store
    fingerprint   TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    finished_at   INTEGER NOT NULL -- 0: not said
);
CREATE INDEX tasks_created ON tasks (created_at, id);
CREATE INDEX tasks_fingerprint ON tasks (fingerprint, created_at, id);
CREATE INDEX tasks_run ON tasks (run_id);

-- +goose Down
DROP TABLE tasks;
DROP TABLE cache_hits;
DROP TABLE cache_entries;
DROP TABLE visuals;
DROP TABLE log_parts;
DROP TABLE logs;
DROP TABLE scans;
DROP TABLE points;
DROP TABLE series;
DROP TABLE removals;
DROP TABLE clock;
DROP TABLE nodes;
DROP TABLE run_metrics;
DROP TABLE run_labels;
DROP TABLE run_parameters;
DROP TABLE run_workflows;
DROP TABLE run_counts;
DROP TABLE runs;
DROP TABLE schedules;
DROP TABLE versions;
DROP TABLE pipelines;
DROP TABLE deleted_experiments;
DROP TABLE experiments;
DROP TABLE manifests;
