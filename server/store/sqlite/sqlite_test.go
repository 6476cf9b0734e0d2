package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/argosy-ml/argosy/server/page"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/conformance"
	"github.com/argosy-ml/argosy/server/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, file string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(t *testing.T) conformance.Store {
		return open(t, filepath.Join(t.TempDir(), "argosy.db"))
	})
}

func TestDataSurvivesReopening(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "with space?and#marks.db")
	s, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	require.NoError(t, s.Accept(t.Context(), run.Run{ID: "r"}, []byte("m"), []byte("{}")))
	require.NoError(t, s.Close())
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "manifests may hold secrets")
	_, err = open(t, file).Run(t.Context(), "r")
	require.NoError(t, err)
}

func TestOpenRefusesANewerSchema(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "argosy.db")
	s, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	db, err := sql.Open(sqlite.Driver, file)
	require.NoError(t, err)
	_, err = db.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = sqlite.Open(t.Context(), file)
	require.ErrorContains(t, err, "schema 9999, written by a newer Argosy")
}

func TestOpenRefusesADamagedFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "argosy.db")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("not a database ", 1000)), 0o600))
	_, err := sqlite.Open(t.Context(), file)
	require.ErrorContains(t, err, "no readable SQLite database")
}

// TestListsUseIndexes keeps lists O(page): no plan of a plain list may scan or sort the table of runs.
func TestListsUseIndexes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "argosy.db")
	s := open(t, file)
	for name, c := range map[string]struct {
		query page.Query
		scope run.Scope
	}{
		"newest first":      {page.Query{Size: 10, Desc: true}, run.Scope{}},
		"next page":         {page.Query{Size: 10, Desc: true, Start: &page.Cursor{Value: int64(5), ID: "r"}}, run.Scope{}},
		"of an experiment":  {page.Query{Size: 10, Desc: true}, run.Scope{ExperimentID: "e"}},
		"by name":           {page.Query{Size: 10, SortBy: "name"}, run.Scope{}},
		"of a status":       {page.Query{Size: 10, Filter: []page.Predicate{{Key: "status", Op: page.Equals, Values: []any{run.Failed}}}}, run.Scope{}},
		"of a pipeline":     {page.Query{Size: 10, Filter: []page.Predicate{{Key: "pipeline_id", Op: page.Equals, Values: []any{"p"}}}}, run.Scope{}},
		"by time scheduled": {page.Query{Size: 10, SortBy: "scheduled_at"}, run.Scope{}},
	} {
		plan, err := s.Explain(t.Context(), c.query, c.scope)
		require.NoError(t, err, name)
		require.NotContains(t, plan, "TEMP B-TREE", name)
		require.Contains(t, plan, "INDEX runs_", name)
	}
}
