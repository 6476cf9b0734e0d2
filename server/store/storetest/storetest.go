// Package storetest opens the store that tests of the server run on: SQLite, or PostgreSQL where the environment says
// ARGOSY_TEST_STORE=postgres.
package storetest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/argosy-ml/argosy/server/store"
	"github.com/argosy-ml/argosy/server/store/postgres/pgtest"
	"github.com/argosy-ml/argosy/server/store/sqlstore"
)

// Main is for the TestMain of the packages that use Open; see pgtest.Main.
func Main(m *testing.M) interface{ Run() int } { return pgtest.Main(m) }

// Open opens an empty store that lives as long as the test.
func Open(t testing.TB) *sqlstore.Store {
	t.Helper()
	s, err := store.Open(t.Context(), Place(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Place is that of a new store.
func Place(t testing.TB) string {
	t.Helper()
	if os.Getenv("ARGOSY_TEST_STORE") == "postgres" {
		return pgtest.Database(t)
	}
	return filepath.Join(t.TempDir(), "argosy.db")
}
