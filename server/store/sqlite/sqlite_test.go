package sqlite_test

import (
	"database/sql"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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

// TestCurvesFromBefore: the curves of an older Argosy get the figures that lists show when this one opens its file.
func TestCurvesFromBefore(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "argosy.db")
	s, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	require.NoError(t, s.Accept(t.Context(), run.Run{ID: "r"}, []byte("m"), []byte("{}")))
	_, err = s.Record(t.Context(), "r", run.State{Status: run.Running, Nodes: []run.Node{{ID: "n", PodName: "p"}}})
	require.NoError(t, err)
	var points []run.Point
	for i, value := range []float64{3, -1, math.NaN(), 2} {
		points = append(points, run.Point{Name: "loss", Index: int64(i), Value: value})
	}
	points = append(points, run.Point{Name: "odd", Value: math.NaN()})
	_, err = s.AddPoints(t.Context(), "r", "n", "p", points)
	require.NoError(t, err)
	before, err := s.Run(t.Context(), "r")
	require.NoError(t, err)
	require.NoError(t, s.Close())

	db, err := sql.Open(sqlite.Driver, file)
	require.NoError(t, err)
	for _, column := range []string{"newest", "latest", "greatest", "least"} {
		_, err = db.Exec("ALTER TABLE series DROP COLUMN " + column)
		require.NoError(t, err)
	}
	_, err = db.Exec("DELETE FROM goose_db_version WHERE version_id = 24")
	require.NoError(t, err)
	require.NoError(t, db.Close())

	after, err := open(t, file).Run(t.Context(), "r")
	require.NoError(t, err)
	require.Len(t, before.Curves, 2)
	require.Empty(t, cmp.Diff(before.Curves, after.Curves, cmpopts.EquateNaNs()))
	require.InDelta(t, 2, after.Curves[0].Last, 0)
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
