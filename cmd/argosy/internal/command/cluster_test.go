package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// Folders of this machine come from flags, else from the environment, and are there.
func TestFoldersForPods(t *testing.T) {
	dir := t.TempDir()
	one, other := filepath.Join(dir, "one"), filepath.Join(dir, "other")
	require.NoError(t, os.Mkdir(one, 0o755))
	require.NoError(t, os.Mkdir(other, 0o755))
	t.Chdir(dir)
	t.Setenv("ARGOSY_HOST_PATH", other)
	t.Setenv("ARGOSY_HOST_SHOW", one+string(os.PathListSeparator)+other)
	paths := func(args ...string) ([]string, []string, error) {
		var f clusterFlags
		cmd := &cobra.Command{}
		f.add(cmd)
		require.NoError(t, cmd.ParseFlags(args))
		o, err := f.options(cmd)
		return o.HostPaths, o.HostShow, err
	}
	volumes, shown, err := paths("--host-path", "one", "--host-path", other)
	require.NoError(t, err)
	require.Equal(t, []string{one, other}, volumes)
	require.Equal(t, []string{one, other}, shown)
	volumes, _, err = paths()
	require.NoError(t, err)
	require.Equal(t, []string{other}, volumes)
	_, _, err = paths("--host-show", "none")
	require.ErrorContains(t, err, "--host-show none: no such folder")
}
