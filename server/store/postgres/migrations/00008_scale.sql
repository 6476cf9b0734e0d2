-- Lists of runs that cost their page, however many runs there are.

-- +goose Up

-- How many runs there are of each kind: what a list counts without looking at them. Triggers keep it.
CREATE TABLE run_counts (
    experiment_id TEXT COLLATE "C" NOT NULL,
    schedule_id TEXT COLLATE "C" NOT NULL,
    pipeline_id TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    storage_state TEXT COLLATE "C" NOT NULL,
    n BIGINT NOT NULL,
    PRIMARY KEY (experiment_id, schedule_id, pipeline_id, status, storage_state)
);
CREATE INDEX run_counts_schedule ON run_counts (schedule_id);
INSERT INTO run_counts (experiment_id, schedule_id, pipeline_id, status, storage_state, n)
SELECT experiment_id, schedule_id, pipeline_id, status, storage_state, COUNT(*) FROM runs GROUP BY 1, 2, 3, 4, 5;

-- +goose StatementBegin
CREATE FUNCTION runs_count() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE run_counts SET n = n - 1
        WHERE experiment_id = OLD.experiment_id AND schedule_id = OLD.schedule_id AND pipeline_id = OLD.pipeline_id
          AND status = OLD.status AND storage_state = OLD.storage_state;
        DELETE FROM run_counts
        WHERE experiment_id = OLD.experiment_id AND schedule_id = OLD.schedule_id AND pipeline_id = OLD.pipeline_id
          AND status = OLD.status AND storage_state = OLD.storage_state AND n = 0;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO run_counts VALUES (NEW.experiment_id, NEW.schedule_id, NEW.pipeline_id, NEW.status, NEW.storage_state, 1)
        ON CONFLICT (experiment_id, schedule_id, pipeline_id, status, storage_state) DO UPDATE SET n = run_counts.n + 1;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER runs_counted AFTER INSERT OR DELETE ON runs FOR EACH ROW EXECUTE FUNCTION runs_count();
CREATE TRIGGER runs_recounted AFTER UPDATE OF experiment_id, schedule_id, pipeline_id, status, storage_state ON runs FOR EACH ROW
WHEN (OLD.status <> NEW.status OR OLD.storage_state <> NEW.storage_state OR OLD.experiment_id <> NEW.experiment_id
  OR OLD.schedule_id <> NEW.schedule_id OR OLD.pipeline_id <> NEW.pipeline_id) EXECUTE FUNCTION runs_count();

-- Every order has two indexes, one of the archived runs and one of the others: most lists want one kind, archived runs are
-- mostly old ones, and a list of both kinds is merged. server/store/sqlstore/runlist.go names them.
-- None for descriptions, which may be longer than an entry of an index here.
DROP INDEX runs_created;
DROP INDEX runs_scheduled;
DROP INDEX runs_experiment;
DROP INDEX runs_pipeline;
DROP INDEX runs_status;
DROP INDEX runs_name;
DROP INDEX runs_schedule;
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

-- Metrics say which experiment they are of, so that those of one are found in order.
ALTER TABLE run_metrics ADD COLUMN experiment_id TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE run_metrics SET experiment_id = (SELECT runs.experiment_id FROM runs WHERE runs.seq = run_metrics.run);
CREATE INDEX run_metrics_experiment ON run_metrics (experiment_id, name, value, run) WHERE leads = 1;

-- +goose Down
DROP INDEX run_metrics_experiment;
ALTER TABLE run_metrics DROP COLUMN experiment_id;
DROP TRIGGER runs_recounted ON runs;
DROP TRIGGER runs_counted ON runs;
DROP FUNCTION runs_count();
DROP TABLE run_counts;
DROP INDEX runs_available_created_at;
DROP INDEX runs_archived_created_at;
DROP INDEX runs_available_scheduled_at;
DROP INDEX runs_archived_scheduled_at;
DROP INDEX runs_available_finished_at;
DROP INDEX runs_archived_finished_at;
DROP INDEX runs_available_name;
DROP INDEX runs_archived_name;
DROP INDEX runs_available_experiment_id_created_at;
DROP INDEX runs_archived_experiment_id_created_at;
DROP INDEX runs_available_experiment_id_finished_at;
DROP INDEX runs_archived_experiment_id_finished_at;
DROP INDEX runs_available_experiment_id_name;
DROP INDEX runs_archived_experiment_id_name;
DROP INDEX runs_archived_experiment_id_scheduled_at;
DROP INDEX runs_available_experiment_id_scheduled_at;
DROP INDEX runs_available_schedule_id_created_at;
DROP INDEX runs_archived_schedule_id_created_at;
DROP INDEX runs_archived_schedule_id_name;
DROP INDEX runs_available_schedule_id_name;
DROP INDEX runs_archived_schedule_id_scheduled_at;
DROP INDEX runs_available_schedule_id_scheduled_at;
DROP INDEX runs_available_pipeline_id_created_at;
DROP INDEX runs_archived_pipeline_id_created_at;
DROP INDEX runs_archived_pipeline_id_name;
DROP INDEX runs_available_pipeline_id_name;
DROP INDEX runs_available_status_created_at;
DROP INDEX runs_archived_status_created_at;
CREATE INDEX runs_created ON runs (created_at, id);
CREATE INDEX runs_scheduled ON runs (scheduled_at, id);
CREATE INDEX runs_experiment ON runs (experiment_id, created_at, id);
CREATE INDEX runs_pipeline ON runs (pipeline_id, created_at, id);
CREATE INDEX runs_status ON runs (status, created_at, id);
CREATE INDEX runs_name ON runs (name, id);
CREATE INDEX runs_schedule ON runs (schedule_id, created_at, id) WHERE schedule_id <> '';
