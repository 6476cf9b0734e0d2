package sandbox

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestSpread(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 2 { // a folder may have the attribute
		require.NoError(t, Spread(dir))
	}
	var fs unix.Statfs_t
	require.NoError(t, unix.Statfs(dir, &fs))
	f, err := os.Open(dir)
	require.NoError(t, err)
	defer f.Close()
	flags, err := unix.IoctlGetUint32(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if fs.Type == unix.EXT4_SUPER_MAGIC {
		require.NoError(t, err)
		require.NotZero(t, flags&topDir)
	} else if err == nil {
		require.Zero(t, flags&topDir)
	}
	require.NoError(t, Spread("/proc"), "another file system")
	require.Error(t, Spread(dir+"/missing"))
}
