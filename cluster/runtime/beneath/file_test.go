package beneath

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder, secret := filepath.Join(dir, "folder"), filepath.Join(dir, "secret")
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "sub"), 0o755))
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "sub", "f"), []byte("text"), 0o600))
	require.NoError(t, os.Symlink("sub/f", filepath.Join(folder, "inside")))
	require.NoError(t, os.Symlink(secret, filepath.Join(folder, "absolute")))
	require.NoError(t, os.Symlink("..", filepath.Join(folder, "above")))
	require.NoError(t, unix.Mkfifo(filepath.Join(folder, "pipe"), 0o600))
	for _, name := range []string{"sub/f", "/sub/f", "inside"} {
		b, err := ReadFile(folder, name, 4)
		require.NoError(t, err, name)
		require.Equal(t, "text", string(b))
	}
	for _, name := range []string{"absolute", "above/secret", "../secret", "pipe", "sub", "none"} {
		b, err := ReadFile(folder, name, 100)
		require.Error(t, err, name)
		require.Empty(t, b)
	}
	_, err := ReadFile(folder, "sub/f", 3)
	require.ErrorContains(t, err, "larger than 3 bytes")
	for limit, want := range map[int64]string{0: "", 3: "ext", 4: "text", 9: "text"} {
		b, err := ReadEnd(folder, "sub/f", limit)
		require.NoError(t, err)
		require.Equal(t, want, string(b))
	}
	_, err = ReadEnd(folder, "pipe", 3)
	require.ErrorContains(t, err, "pipe is not a file")
}

func TestReplaceFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	victim, path := filepath.Join(dir, "victim"), filepath.Join(dir, "hosts")
	require.NoError(t, os.WriteFile(victim, []byte("kept"), 0o600))
	require.NoError(t, os.Symlink(victim, path))
	require.NoError(t, os.Symlink(victim, filepath.Join(dir, ".new.hosts")))
	require.NoError(t, Replace(path, []byte("new"), 0o644))
	b, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "kept", string(b))
	fi, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o644), fi.Mode())
}
