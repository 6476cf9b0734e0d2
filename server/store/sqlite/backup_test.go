package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlite"
)

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, backup := filepath.Join(dir, "argosy.db"), filepath.Join(dir, "a backup?.db")
	s, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	accept := func(from, to int) {
		for i := from; i < to; i++ {
			require.NoError(t, s.Accept(t.Context(), run.Run{ID: fmt.Sprintf("r%03d", i)}, []byte("m"), []byte("{}")))
		}
	}
	accept(0, 20)
	taken := make(chan error, 1)
	go func() { taken <- sqlite.Backup(t.Context(), file, backup) }()
	accept(20, 60) // while the backup is taken
	require.NoError(t, <-taken)
	info, err := os.Stat(backup)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.ErrorContains(t, sqlite.Backup(t.Context(), file, backup), "does not replace another")
	require.NoError(t, s.Close())

	kept, err := sqlite.Restore(t.Context(), backup, file)
	require.NoError(t, err)
	restored := open(t, file)
	p, err := restored.Runs(t.Context(), listing.Query{Size: 200, SortBy: "id"}, run.Scope{})
	require.NoError(t, err)
	require.GreaterOrEqual(t, p.Total, int64(20))
	for i, r := range p.Items {
		require.Equal(t, fmt.Sprintf("r%03d", i), r.ID, "the store as it was at one moment")
	}
	before := open(t, kept)
	p, err = before.Runs(t.Context(), listing.Query{Size: 1}, run.Scope{})
	require.NoError(t, err)
	require.EqualValues(t, 60, p.Total, "what was there is kept")

	elsewhere := filepath.Join(dir, "new.db")
	kept, err = sqlite.Restore(t.Context(), backup, elsewhere)
	require.NoError(t, err)
	require.Empty(t, kept)
	left, err := filepath.Glob(filepath.Join(dir, "*.part*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestRestoreRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "argosy.db")
	s, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	require.NoError(t, s.Accept(t.Context(), run.Run{ID: "r"}, []byte("m"), []byte("{}")))
	require.NoError(t, s.Close())
	bad := filepath.Join(dir, "bad")
	require.NoError(t, os.WriteFile(bad, []byte(strings.Repeat("no database ", 1000)), 0o600))
	_, err = sqlite.Restore(t.Context(), bad, file)
	require.ErrorContains(t, err, "not a readable SQLite database")
	_, err = sqlite.Restore(t.Context(), filepath.Join(dir, "none"), file)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorIs(t, sqlite.Backup(t.Context(), filepath.Join(dir, "none"), filepath.Join(dir, "b")), os.ErrNotExist)
	require.ErrorContains(t, sqlite.Backup(t.Context(), bad, filepath.Join(dir, "b")), "back up")
	_, err = open(t, file).Run(t.Context(), "r")
	require.NoError(t, err, "what is there stays when the backup is refused")
	entries, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for _, e := range entries {
		require.NotContains(t, e, ".restore")
		require.NotContains(t, e, ".part")
	}
}
