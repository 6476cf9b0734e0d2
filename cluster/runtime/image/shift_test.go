package image

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestShift(t *testing.T) {
	t.Parallel()
	s, err := Open(filepath.Join(t.TempDir(), "images"))
	require.NoError(t, err)
	require.NoError(t, s.Shift(1000, 100), "nothing was unpacked")
	layer := s.path("layers", rootKey, "layer")
	require.NoError(t, os.MkdirAll(filepath.Join(layer, "opaque"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(layer, "file"), nil, 0o600))
	require.NoError(t, os.Symlink("/", filepath.Join(layer, "link")))
	root := os.Geteuid() == 0 // who alone sets the mark, and gives files away
	if root {
		require.NoError(t, unix.Lsetxattr(filepath.Join(layer, "opaque"), opaqueOfRoot, []byte("y"), 0))
		require.NoError(t, os.Lchown(filepath.Join(layer, "file"), 7, 70000))
		require.NoError(t, s.Shift(1000, 100))
	} else {
		require.NoError(t, s.Shift(1000, 1<<32))
	}
	require.NoDirExists(t, s.path("layers", rootKey))
	if !root {
		return
	}
	layer = s.path("layers", "ids-0-1000-100", "layer")
	value := make([]byte, 1)
	_, err = unix.Lgetxattr(filepath.Join(layer, "opaque"), opaqueOfUser, value)
	require.NoError(t, err)
	require.Equal(t, "y", string(value))
	_, err = unix.Lgetxattr(layer, opaqueOfUser, value)
	require.ErrorIs(t, err, unix.ENODATA)
	var st unix.Stat_t
	require.NoError(t, unix.Lstat(filepath.Join(layer, "file"), &st))
	require.Equal(t, []uint32{7, overflowID}, []uint32{st.Uid, st.Gid})
}
