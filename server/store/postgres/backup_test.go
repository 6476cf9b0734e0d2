package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/schedule"
	"github.com/argosy-ml/argosy/server/store/postgres"
	"github.com/argosy-ml/argosy/server/store/postgres/pgtest"
	"github.com/argosy-ml/argosy/server/store/sqlite"
	"github.com/argosy-ml/argosy/server/store/sqlstore"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 123_000, time.UTC)

func accept(t *testing.T, s *sqlstore.Store, id string) {
	t.Helper()
	r := run.Run{
		ID: id, Name: "näme of " + id, ExperimentID: "e", CreatedAt: noon, Workflow: "wf-" + id,
		Parameters: []run.Parameter{{Name: "p", Value: "\"quoted\"\n"}}, Defaults: []run.Parameter{{Name: "d"}},
	}
	require.NoError(t, s.Accept(t.Context(), r, []byte("manifest"), []byte(`{"run":"`+id+`"}`)))
}

// inhabit puts something of everything into a store.
func inhabit(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	ctx := t.Context()
	require.NoError(t, s.CreateExperiment(ctx, experiment.Experiment{ID: "e", Name: "e", CreatedAt: noon}))
	p := pipeline.Pipeline{ID: "p", Name: "p", CreatedAt: noon, Default: pipeline.Version{ID: "p", PipelineID: "p", Name: "p", CreatedAt: noon}}
	require.NoError(t, s.CreatePipeline(ctx, p, []byte("manifest")))
	require.NoError(t, s.CreateSchedule(ctx, schedule.Schedule{ID: "s", Name: "s", Enabled: true, Trigger: schedule.Trigger{Cron: "* * * * * *"}, CreatedAt: noon}, []byte("other")))
	for i := range 30 {
		id := fmt.Sprintf("r%02d", i)
		accept(t, s, id)
		_, err := s.Record(ctx, id, run.State{Status: run.Running, StartedAt: noon, Nodes: []run.Node{{ID: "n", Phase: run.Failed, Message: "x\x00y", Children: []string{"a"}}}})
		require.NoError(t, err)
		require.NoError(t, s.SetScanned(ctx, id, "n", "", []byte(`{"read":7}`), false))
		require.NoError(t, s.PutVisuals(ctx, id, "n", []run.Visual{{Number: 1, Type: "table", Body: []byte("{}")}}))
		_, err = s.AddMetrics(ctx, id, []run.Metric{{NodeID: "n", Name: "m", Value: float64(i) / 3, Format: run.Raw}})
		require.NoError(t, err)
	}
	require.NoError(t, s.Submitted(ctx, "r03"))
	require.NoError(t, s.DeleteRun(ctx, "r05"))
}

// contents reads all rows of all tables of a backup.
func contents(t *testing.T, file string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	require.NoError(t, sqlite.Examine(t.Context(), file, func(ctx context.Context, db *sql.DB) error {
		tables, err := sqlite.Tables(ctx, db)
		require.NoError(t, err)
		for _, table := range tables {
			table.Columns = slices.DeleteFunc(table.Columns, func(c string) bool { return c == "epoch" }) // another one with each restoring
			columns := `QUOTE("` + strings.Join(table.Columns, `") || ' ' || QUOTE("`) + `")`
			found[table.Name] = lines(t, db, "SELECT "+columns+" FROM "+table.Name)
		}
		return nil
	}))
	return found
}

// TestMoves takes a store from SQLite to PostgreSQL, from there to another database, and back, and loses nothing.
func TestMoves(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	name := func(n string) string { return filepath.Join(dir, n) }
	light, err := sqlite.Open(ctx, name("argosy.db"))
	require.NoError(t, err)
	inhabit(t, light)
	require.NoError(t, light.Close())
	require.NoError(t, sqlite.Backup(ctx, name("argosy.db"), name("first")))
	want := contents(t, name("first"))
	require.Len(t, want["runs"], 29)
	for _, table := range []string{"nodes", "run_metrics", "run_parameters", "run_workflows", "manifests", "scans", "visuals", "pipelines", "versions", "schedules", "experiments"} {
		require.NotEmpty(t, want[table], table)
	}

	one, two := pgtest.Database(t), pgtest.Database(t)
	require.NoError(t, postgres.Restore(ctx, name("first"), one))
	s := open(t, one)
	require.NoError(t, postgres.Backup(ctx, one, name("second")), "while a server has it open")
	require.Equal(t, want, contents(t, name("second")))
	require.NoError(t, postgres.Restore(ctx, name("second"), two))
	require.NoError(t, postgres.Backup(ctx, two, name("third")))
	require.Equal(t, want, contents(t, name("third")))
	_, err = sqlite.Restore(ctx, name("third"), name("argosy.db"))
	require.NoError(t, err)
	require.NoError(t, sqlite.Backup(ctx, name("argosy.db"), name("fourth")))
	require.Equal(t, want, contents(t, name("fourth")))

	accept(t, s, "new") // its number is not one that came with the backup
	require.ErrorContains(t, postgres.Backup(ctx, one, name("third")), "does not replace another")
	left, err := filepath.Glob(name("*.part*"))
	require.NoError(t, err)
	require.Empty(t, left)
	info, err := os.Stat(name("second"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestRestoreRefusals(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	address := pgtest.Database(t)
	backup, bad := filepath.Join(dir, "backup"), filepath.Join(dir, "bad")
	require.ErrorContains(t, postgres.Backup(ctx, address, backup), "there is no store to back up")
	s := open(t, address)
	accept(t, s, "r")
	require.NoError(t, postgres.Backup(ctx, address, backup))
	require.NoError(t, s.Close())
	require.ErrorContains(t, postgres.Restore(ctx, backup, address), "it holds 1 pipelines, experiments, runs and jobs")
	require.NoError(t, os.WriteFile(bad, []byte(strings.Repeat("no database ", 1000)), 0o600))
	require.ErrorContains(t, postgres.Restore(ctx, bad, address), "not a readable SQLite database")
	p, err := open(t, address).Runs(ctx, listing.Query{Size: 10}, run.Scope{})
	require.NoError(t, err)
	require.EqualValues(t, 1, p.Total)

	db := plainly(t, "pgx", address)
	_, err = db.ExecContext(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)")
	require.NoError(t, err)
	require.ErrorContains(t, postgres.Backup(ctx, address, filepath.Join(dir, "other")), "use the Argosy that its server runs")
}
