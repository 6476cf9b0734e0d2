package seed

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/argosy-ml/argosy/server/store/sqlite"
)

// withNodes is how many of the newest runs have nodes, and a whole Workflow: lists read none, and a store of a million runs
// shall stay small.
const withNodes = 1000

// Fill makes a store in a file that is not there yet: the world through the store's own code, the runs in bulk.
func Fill(ctx context.Context, file string, w *World) error {
	if err := fillWorld(ctx, file, w); err != nil {
		return err
	}
	db, err := sql.Open(sqliteDriver(), file)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	err = fillRuns(ctx, db, w)
	return errors.Join(err, db.Close())
}

// sqliteDriver is the one that the store is built with.
func sqliteDriver() string {
	if slices.Contains(sql.Drivers(), "sqlite3") {
		return "sqlite3"
	}
	return "sqlite"
}

func fillWorld(ctx context.Context, file string, w *World) error {
	s, err := sqlite.Open(ctx, file)
	if err != nil {
		return err
	}
	for _, e := range w.Experiments {
		err = errors.Join(err, s.CreateExperiment(ctx, e))
	}
	for i, p := range w.Pipelines {
		err = errors.Join(err, s.CreatePipeline(ctx, p, w.Manifest(p.Default)))
		for _, v := range w.versionOf[i][1:] {
			err = errors.Join(err, s.CreateVersion(ctx, w.Versions[v], w.Manifest(w.Versions[v])))
		}
	}
	for i, c := range w.Schedules {
		err = errors.Join(err, s.CreateSchedule(ctx, c, w.Manifest(w.Pipelines[i].Default)))
	}
	return errors.Join(err, s.Close())
}

// fillRuns inserts with the indexes away, which are made again in the end, as the schema has them.
func fillRuns(ctx context.Context, db *sql.DB, w *World) error {
	for _, pragma := range []string{"journal_mode = OFF", "synchronous = OFF", "cache_size = -200000", "temp_store = FILE", "foreign_keys = OFF"} {
		if _, err := db.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return err
		}
	}
	indexes, err := definitions(ctx, db)
	if err != nil {
		return err
	}
	b := &bulk{ctx: ctx, db: db}
	for name := range indexes {
		b.exec("DROP INDEX " + name)
	}
	b.exec("BEGIN")
	b.runs(w)
	b.exec("UPDATE clock SET revision = ?", w.Runs+1)
	b.exec("COMMIT")
	for _, definition := range indexes {
		b.exec(definition)
	}
	b.exec("PRAGMA journal_mode = WAL")
	return b.err
}

// definitions gives the statements that make the indexes on runs and metrics.
func definitions(ctx context.Context, db *sql.DB) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('runs', 'run_metrics')")
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	found := map[string]string{}
	for rows.Next() {
		var name, definition string
		if err := rows.Scan(&name, &definition); err != nil {
			return nil, err
		}
		found[name] = definition
	}
	return found, rows.Err()
}

// bulk writes many rows a statement. Its first error stops it.
type bulk struct {
	ctx    context.Context //nolint:containedctx // it lives as long as one call
	db     *sql.DB
	err    error
	tables []*table
}

func (b *bulk) exec(statement string, args ...any) {
	if b.err == nil {
		if _, err := b.db.ExecContext(b.ctx, statement, args...); err != nil {
			b.err = fmt.Errorf("%.200s: %w", statement, err)
		}
	}
}

// A table collects rows.
type table struct {
	bulk   *bulk
	insert string
	row    string // placeholders of one
	rows   int
	args   []any
}

const rowsPerStatement = 200

func (b *bulk) table(name, columns string) *table {
	n := strings.Count(columns, ",") + 1
	t := &table{bulk: b, insert: fmt.Sprintf("INSERT INTO %s (%s) VALUES ", name, columns), row: "(?" + strings.Repeat(",?", n-1) + ")"}
	b.tables = append(b.tables, t)
	return t
}

func (t *table) add(values ...any) {
	t.args = append(t.args, values...)
	if t.rows++; t.rows == rowsPerStatement {
		t.flush()
	}
}

func (t *table) flush() {
	if t.rows > 0 {
		t.bulk.exec(t.insert+t.row+strings.Repeat(","+t.row, t.rows-1), t.args...)
	}
	t.rows, t.args = 0, t.args[:0]
}

// version is what the rows of runs need of a version.
type version struct {
	manifest int64 // its row
	packed   []byte
	digest   int64
}

func (b *bulk) runs(w *World) {
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		b.err = err
		return
	}
	versions, bare := b.versions(w, packer), packed(packer, []byte(`{"kind":"Workflow"}`))
	runs := b.table("runs", "seq, id, name, description, experiment_id, pipeline_id, pipeline_name, version_id, version_name, service_account, "+
		"namespace, workflow, status, message, storage_state, warnings, created_at, scheduled_at, started_at, finished_at, "+
		"submitted, settled, revision, manifest, schedule_id, schedule_name")
	workflows := b.table("run_workflows", "run, digest, data")
	parameters := b.table("run_parameters", "run, position, name, value, given")
	metrics := b.table("run_metrics", "run, node_id, name, value, format, leads")
	nodes := b.table("nodes", "run, id, name, display_name, type, template, phase, message, exit_code, pod_name, boundary_id, "+
		"children, inputs, outputs, artifacts, started_at, finished_at, log_key, harvested, digest")
	for i := 0; i < w.Runs && b.err == nil; i++ {
		r, seq := w.Run(i), int64(i+1)
		state := "STORAGESTATE_AVAILABLE"
		if r.Archived {
			state = "STORAGESTATE_ARCHIVED"
		}
		v := versions[r.VersionID]
		runs.add(seq, r.ID, r.Name, r.Description, r.ExperimentID, r.PipelineID, r.PipelineName, r.VersionID, r.VersionName, r.ServiceAccount,
			r.Namespace, r.Workflow, r.Status, r.Message, state, "null", micros(r.CreatedAt), micros(r.ScheduledAt), micros(r.StartedAt), micros(r.FinishedAt),
			// Those that run are settled too: there is no cluster that the server could ask how they do.
			true, true, r.Revision, v.manifest, r.ScheduleID, r.ScheduleName)
		if i < w.Runs-withNodes {
			v.packed, v.digest = bare.packed, bare.digest
		}
		workflows.add(seq, v.digest, v.packed)
		for j, p := range r.Parameters {
			parameters.add(seq, j, p.Name, p.Value, true)
		}
		for _, m := range r.Metrics {
			metrics.add(seq, m.NodeID, m.Name, m.Value, m.Format, true)
		}
		if i >= w.Runs-withNodes {
			for _, n := range w.Nodes(r) {
				nodes.add(seq, n.ID, n.Name, n.DisplayName, n.Type, n.Template, n.Phase, n.Message, n.ExitCode, n.PodName, n.BoundaryID,
					text(n.Children), text(n.Inputs), "null", "null", micros(n.StartedAt), micros(n.FinishedAt), "", n.Harvested, 0)
			}
		}
	}
	for _, t := range b.tables {
		t.flush()
	}
}

func packed(packer *zstd.Encoder, workflow []byte) version {
	sum := fnv.New64a()
	sum.Write(workflow)
	return version{packed: packer.EncodeAll(workflow, nil), digest: int64(sum.Sum64())}
}

func (b *bulk) versions(w *World, packer *zstd.Encoder) map[string]version {
	found := map[string]version{}
	for _, v := range w.Versions {
		manifest := w.Manifest(v)
		of := packed(packer, manifest)
		if err := b.db.QueryRowContext(b.ctx, "SELECT manifest FROM versions WHERE id = ?", v.ID).Scan(&of.manifest); err != nil {
			b.err = errors.Join(b.err, fmt.Errorf("version %s: %w", v.Name, err))
		}
		found[v.ID] = of
	}
	return found
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // slices of texts
	}
	return string(b)
}
