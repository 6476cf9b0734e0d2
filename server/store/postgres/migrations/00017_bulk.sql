-- +goose Up

-- Lists find the metrics of an experiment by column.
ALTER TABLE run_metrics DROP COLUMN experiment_id;

-- What counts runs looks at all that a statement changes at once: a row of run_counts that is changed again and again in one
-- transaction leaves a dead one behind each time, all of which the next change walks past.
DROP TRIGGER runs_counted ON runs;
DROP TRIGGER runs_recounted ON runs;
DROP FUNCTION runs_count();

-- +goose StatementBegin
CREATE FUNCTION runs_count() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    kinds REFCURSOR;
    kind RECORD;
BEGIN
    IF TG_OP = 'INSERT' THEN
        OPEN kinds FOR SELECT experiment_id, schedule_id, pipeline_id, status, storage_state, COUNT(*) AS n FROM came GROUP BY 1, 2, 3, 4, 5;
    ELSIF TG_OP = 'DELETE' THEN
        OPEN kinds FOR SELECT experiment_id, schedule_id, pipeline_id, status, storage_state, -COUNT(*) AS n FROM went GROUP BY 1, 2, 3, 4, 5;
    ELSE
        OPEN kinds FOR SELECT experiment_id, schedule_id, pipeline_id, status, storage_state, SUM(d) AS n FROM (
            SELECT experiment_id, schedule_id, pipeline_id, status, storage_state, 1 AS d FROM came
            UNION ALL SELECT experiment_id, schedule_id, pipeline_id, status, storage_state, -1 FROM went
        ) AS changed GROUP BY 1, 2, 3, 4, 5 HAVING SUM(d) <> 0;
    END IF;
    LOOP
        FETCH kinds INTO kind;
        EXIT WHEN NOT FOUND;
        INSERT INTO run_counts VALUES (kind.experiment_id, kind.schedule_id, kind.pipeline_id, kind.status, kind.storage_state, kind.n)
        ON CONFLICT (experiment_id, schedule_id, pipeline_id, status, storage_state) DO UPDATE SET n = run_counts.n + EXCLUDED.n;
        DELETE FROM run_counts
        WHERE experiment_id = kind.experiment_id AND schedule_id = kind.schedule_id AND pipeline_id = kind.pipeline_id
          AND status = kind.status AND storage_state = kind.storage_state AND n = 0;
    END LOOP;
    CLOSE kinds;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER runs_counted AFTER INSERT ON runs REFERENCING NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION runs_count();
CREATE TRIGGER runs_discounted AFTER DELETE ON runs REFERENCING OLD TABLE AS went FOR EACH STATEMENT EXECUTE FUNCTION runs_count();
CREATE TRIGGER runs_recounted AFTER UPDATE ON runs REFERENCING OLD TABLE AS went NEW TABLE AS came FOR EACH STATEMENT EXECUTE FUNCTION runs_count();

-- +goose Down
DROP TRIGGER runs_recounted ON runs;
DROP TRIGGER runs_discounted ON runs;
DROP TRIGGER runs_counted ON runs;
DROP FUNCTION runs_count();
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
ALTER TABLE run_metrics ADD COLUMN experiment_id TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE run_metrics SET experiment_id = (SELECT runs.experiment_id FROM runs WHERE runs.seq = run_metrics.run);
