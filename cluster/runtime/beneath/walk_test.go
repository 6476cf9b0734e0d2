package beneath

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A pod exchanges a folder of a volume for a link to one outside, again and again, while the volume is given to a group.
func TestWalksStayInTheVolume(t *testing.T) {
	t.Parallel()
	group := 4242
	if os.Geteuid() != 0 { // whose only group it is
		group = os.Getegid()
	}
	volume, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	for i := range 50 {
		for dir, size := range map[string]int{volume + "/real": 4 << 10, outside: 64 << 10} {
			require.NoError(t, os.MkdirAll(dir, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), make([]byte, size), 0o600))
		}
	}
	require.NoError(t, os.Symlink(outside, volume+"/link"))
	var exchanging sync.WaitGroup
	stop := make(chan struct{})
	exchanging.Go(func() {
		for {
			select {
			case <-stop:
				return
			default: // both names are there at any moment: which of them is the folder changes
				_ = unix.Renameat2(unix.AT_FDCWD, volume+"/real", unix.AT_FDCWD, volume+"/link", unix.RENAME_EXCHANGE)
			}
		}
	})
	root, err := os.OpenRoot(volume)
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	for range 300 {
		require.NoError(t, GiveGroup(root, int64(group), 0o660))
		// The folder may be met under both names, and count twice.
		require.Less(t, DiskUsage(volume), int64(2*60*4096), "what is outside does not count")
	}
	close(stop)
	exchanging.Wait()
	require.NoError(t, filepath.WalkDir(outside, func(path string, _ fs.DirEntry, err error) error {
		var st unix.Stat_t
		require.NoError(t, unix.Lstat(path, &st))
		require.Equal(t, uint32(os.Getegid()), st.Gid, path)
		require.Zero(t, st.Mode&0o077, path)
		return err
	}))
	var st unix.Stat_t
	require.NoError(t, GiveGroup(root, int64(group), 0o660))
	for _, dir := range []string{"/real", "/link"} {
		if unix.Lstat(volume+dir, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
			require.NoError(t, unix.Stat(volume+dir+"/f1", &st))
			require.Equal(t, uint32(group), st.Gid, "what is inside has the group")
			require.Equal(t, uint32(0o660), st.Mode&0o777)
		}
	}
}
