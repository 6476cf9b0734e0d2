package volumes

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A pod that may write to a volume made from objects of the API leads its links elsewhere.
func TestRefreshedVolumesStayInTheVolume(t *testing.T) {
	t.Parallel()
	volume, outside := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(outside+"/a", []byte("kept"), 0o600))
	files := map[string]projected{"a": {data: []byte("secret"), mode: 0o600}, "b/c": {data: []byte("too"), mode: 0o600}}
	require.NoError(t, os.Symlink(outside, volume+"/..data"))
	require.NoError(t, os.Symlink(outside, volume+"/b"))
	require.NoError(t, writeVolume(volume, files, nil))
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	b, err := os.ReadFile(outside + "/a")
	require.NoError(t, err)
	require.Equal(t, "kept", string(b))
	b, err = os.ReadFile(volume + "/a")
	require.NoError(t, err)
	require.Equal(t, "secret", string(b))
	require.NoError(t, unix.Mkfifo(volume+"/..data/pipe", 0o600))
	require.NoError(t, writeVolume(volume, files, nil), "it is written anew, and the pipe is not waited for")
	require.NoFileExists(t, volume+"/..data/pipe")
}
