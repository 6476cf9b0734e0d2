package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/conformance"
	"github.com/argosy-ml/argosy/server/store/sqlite"
	"github.com/argosy-ml/argosy/server/store/sqlstore"
	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

func open(t *testing.T, file string) *sqlstore.Store {
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

// TestSeriesFromBeforeExtremes: a series that an older Argosy began keeps all its peaks when this one goes on with it.
func TestSeriesFromBeforeExtremes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "argosy.db")
	s := open(t, file)
	state := run.State{Status: run.Running, Nodes: []run.Node{{ID: "n", PodName: "p"}}}
	require.NoError(t, s.Accept(t.Context(), run.Run{ID: "r"}, []byte("m"), []byte("{}")))
	_, err := s.Record(t.Context(), "r", state)
	require.NoError(t, err)
	add := func(from, to int64) {
		var points []run.Point
		for i := from; i < to; i++ {
			points = append(points, run.Point{Name: "loss", Index: i, Value: float64(i % 37 * i)})
		}
		_, err := s.AddPoints(t.Context(), "r", "n", "p", points)
		require.NoError(t, err)
	}
	add(0, 337)
	db, err := sql.Open(sqlite.Driver, file)
	require.NoError(t, err)
	_, err = db.Exec("DELETE FROM extremes")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	add(337, 1500)
	for _, stretch := range run.Stretches(1500) {
		var given int
		var greatest [1500]float64 // of each stretch
		require.NoError(t, s.PointsOf(t.Context(), "r", "n", "loss", 0, run.WholeSeries(stretch), func(p run.Point) {
			given++
			greatest[p.Index/stretch] = max(greatest[p.Index/stretch], p.Value)
		}))
		require.Less(t, given, 1500)
		for i := range int64(1500) {
			require.GreaterOrEqual(t, greatest[i/stretch], float64(i%37*i), "point %d, stretches of %d", i, stretch)
		}
	}
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

func TestOpenRefusesAnotherSchema(t *testing.T) {
	t.Parallel()
	for version, want := range map[int]string{
		9999: "schema 9999, written by a newer Argosy",
		18:   "schema 18, of a version before the first release; this one knows schemas from 22 on: use another store",
	} {
		file := filepath.Join(t.TempDir(), "argosy.db")
		s, err := sqlite.Open(t.Context(), file)
		require.NoError(t, err)
		require.NoError(t, s.Close())
		db, err := sql.Open(sqlite.Driver, file)
		require.NoError(t, err)
		_, err = db.Exec("UPDATE goose_db_version SET version_id = ? WHERE version_id > 0", version)
		require.NoError(t, err)
		require.NoError(t, db.Close())
		_, err = sqlite.Open(t.Context(), file)
		require.ErrorContains(t, err, want)
	}
}

func TestOpenRefusesADamagedFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "argosy.db")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("not a database ", 1000)), 0o600))
	_, err := sqlite.Open(t.Context(), file)
	require.ErrorContains(t, err, "not a readable SQLite database")
}
