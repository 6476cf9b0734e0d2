package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlite"
)

// TestPromises: what was accepted survives a power cut, readers wait for no writer, there is one writer, and readers write nothing.
func TestPromises(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "argosy.db")
	s := open(t, file)
	connect := func(write bool) *sql.DB {
		db, err := sql.Open(sqlite.Driver, sqlite.DSN(file, write))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		return db
	}
	writes, reads := connect(true), connect(false)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"} { // 2 is FULL
		var is string
		require.NoError(t, writes.QueryRow("PRAGMA "+pragma).Scan(&is))
		require.Equal(t, want, is, pragma)
	}
	_, err := reads.Exec("DELETE FROM runs")
	require.ErrorContains(t, err, "readonly")

	tx, err := writes.Begin() // takes the right to write at once
	require.NoError(t, err)
	second, err := sql.Open(sqlite.Driver, strings.Replace(sqlite.DSN(file, true), "10000", "1", 1)) // which does not wait
	require.NoError(t, err)
	_, err = second.Begin()
	require.ErrorContains(t, err, "locked")
	require.NoError(t, second.Close())
	_, err = s.Run(t.Context(), "none") // reads on meanwhile
	require.ErrorContains(t, err, "not found")
	require.NoError(t, tx.Rollback())
	require.NoError(t, s.Accept(t.Context(), run.Run{ID: "r"}, []byte("m"), []byte("{}")))
}

// TestOpenFindsDamage: a page of the file that was overwritten is found before anything is served from it.
func TestOpenFindsDamage(t *testing.T) {
	t.Parallel()
	file := closedStore(t)
	overwriteRuns(t, file)
	_, err := sqlite.Open(t.Context(), file)
	require.ErrorContains(t, err, "the file is damaged")
	require.ErrorContains(t, err, "restore it from a backup")
}

// TestLargeFilesAreReadAfterACrash: reading a large file takes long, so a start after a clean stop leaves that out. Damage is an error
// where it is met.
func TestLargeFilesAreReadAfterACrash(t *testing.T) {
	t.Parallel()
	file := closedStore(t)
	db, err := sql.Open(sqlite.Driver, file)
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE large AS SELECT zeroblob(?) AS data", sqlite.QuicklyRead)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	overwriteRuns(t, file)
	s, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	_, err = s.Run(t.Context(), "r")
	require.ErrorContains(t, err, "the store failed")
	require.NoError(t, s.Close())

	require.NoError(t, os.WriteFile(file+"-wal", []byte("left by a server that was killed"), 0o600))
	_, err = sqlite.Open(t.Context(), file)
	require.ErrorContains(t, err, "the file is damaged")
}

// closedStore is the file of a store with one run.
func closedStore(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "argosy.db")
	s, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	require.NoError(t, s.Accept(t.Context(), run.Run{ID: "r"}, []byte("m"), []byte("{}")))
	require.NoError(t, s.Close())
	return file
}

// overwriteRuns fills the first page of the table of runs with zeros.
func overwriteRuns(t *testing.T, file string) {
	t.Helper()
	db, err := sql.Open(sqlite.Driver, file)
	require.NoError(t, err)
	var page, size int64
	require.NoError(t, db.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = 'runs'").Scan(&page))
	require.NoError(t, db.QueryRow("PRAGMA page_size").Scan(&size))
	require.NoError(t, db.Close())
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteAt(make([]byte, size), (page-1)*size)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}
