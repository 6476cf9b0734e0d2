package beneath

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Whatever links there are, a tree ends where its folder does.
func TestNothingLeadsOut(t *testing.T) {
	t.Parallel()
	outer := t.TempDir()
	top := filepath.Join(outer, "top")
	require.NoError(t, os.MkdirAll(filepath.Join(top, "in"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(outer, "secret"), nil, 0o600))
	for link, target := range map[string]string{"up": "../..", "absolute": "/", "inside": "/in", "loop": "loop", "nowhere": "/none"} {
		require.NoError(t, os.Symlink(target, filepath.Join(top, link)))
	}
	tr, err := Open(top)
	require.NoError(t, err)
	defer tr.Close()
	for _, name := range []string{"", "up", "absolute", "up/up/absolute", "../../.."} {
		d, err := tr.Find(name)
		require.NoError(t, err, name)
		kind, err := d.Kind("secret")
		require.NoError(t, err)
		require.Zero(t, kind, name)
		kind, err = d.Kind("in")
		require.NoError(t, err)
		require.Equal(t, uint32(unix.S_IFDIR), kind, name)
		d.Close()
	}
	_, err = tr.Find("loop")
	require.ErrorIs(t, err, unix.ELOOP)
	_, err = tr.Find("none")
	require.ErrorIs(t, err, unix.ENOENT)

	d, err := tr.Folder("inside/made/for/it")
	require.NoError(t, err)
	f, err := d.Create("f")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.FileExists(t, filepath.Join(top, "in/made/for/it/f"))
	_, err = tr.Folder("nowhere/x")
	require.Error(t, err)
	require.NoError(t, d.Symlink("../..", "link"))
	require.NoError(t, d.Remove("link", unix.S_IFLNK))
	again, err := tr.Folder("/inside/made/../made/for/it/")
	require.NoError(t, err)
	require.NoError(t, again.Remove("f", unix.S_IFREG))
	require.NoFileExists(t, filepath.Join(top, "in/made/for/it/f"))
}
