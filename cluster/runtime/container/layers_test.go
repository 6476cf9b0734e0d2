package container

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const mountinfo = `21 1 254:0 / / rw,relatime - ext4 /dev/vda rw
22 21 0:20 / /proc rw - proc proc rw
23 21 8:1 / /home rw,relatime shared:1 - ext4 /dev/sda rw
24 23 8:2 / /home/ann/my\040data rw,relatime shared:1 master:2 - xfs /dev/sdb rw
25 21 0:30 / /var/lib/docker/overlay2/x/merged rw - overlay overlay rw
26 21 0:31 / /run/user/1000 rw - tmpfs tmpfs rw
27 21 7:1 / /snap/core/1 ro - squashfs /dev/loop1 ro
28 21 0:32 / /mnt/win rw - fuse.sshfs host: rw
29 28 0:33 / /mnt/win/deep rw - nfs4 server:/x rw
30 28 0:33 / /mnt/win/deep rw - nfs4 server:/x rw
31 21 0:34 / /root/data rw - ext4 /dev/sdc rw
`

func TestMountPoints(t *testing.T) {
	t.Parallel()
	points, err := readMounts(strings.NewReader(mountinfo))
	require.NoError(t, err)
	require.Len(t, points, 11)
	require.Equal(t, MountPoint{"/home/ann/my data", "xfs", false}, points[3])
	require.Equal(t, MountPoint{"/snap/core/1", "squashfs", true}, points[6])
	require.Equal(t, []string{"/mnt/win", "/home/ann/my data", "/mnt/win/deep"}, dataMounts(points), "data file systems below the top, outermost first, once each")
	require.True(t, readOnly(points, "/snap/core/1"))
	require.False(t, readOnly(append(points, MountPoint{Path: "/snap/core/1"}), "/snap/core/1"), "what is mounted over it counts")
	_, err = readMounts(strings.NewReader("nonsense\n"))
	require.ErrorContains(t, err, "cannot read line")
}

func FuzzMountPoints(f *testing.F) {
	f.Add(mountinfo)
	f.Add(`1 2 3:4 / /a/b\0 rw - ext4 x y`)
	f.Add(`1 2 3:4 / /a/\777 rw - ext4 x y`)
	f.Fuzz(func(t *testing.T, table string) {
		points, err := readMounts(strings.NewReader(table))
		for _, p := range dataMounts(points) {
			if err == nil && strings.Count(p, "/") < 2 {
				t.Fatalf("%q is not below a folder of the root", p)
			}
		}
	})
}

func TestWithin(t *testing.T) {
	t.Parallel()
	require.True(t, within("/a", []string{"/x", "/a"}))
	require.True(t, within("/a/b", []string{"/a/"}))
	require.False(t, within("/ab", []string{"/a"}))
	require.False(t, within("/", []string{"/a"}))
}

func TestEscapeOption(t *testing.T) {
	t.Parallel()
	require.Equal(t, `/a\,b\:c\\d`, escapeOption(`/a,b:c\d`, true))
	require.Equal(t, `/a\,b:c`, escapeOption(`/a,b:c`, false))
}

// testRoot has one layer, a folder made for the test.
func testRoot(t *testing.T) (r *root, host string) {
	t.Helper()
	dir := t.TempDir()
	// The test cannot choose a place outside /tmp, so it names the folder as the layer.
	host = filepath.Join(dir, "host")
	require.NoError(t, os.MkdirAll(filepath.Join(host, "there", "deep"), 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(host, "file"), nil, 0o600))
	spec := &Spec{Scratch: filepath.Join(dir, "scratch"), Layers: []Layer{{Path: host, Kind: Overlay}}}
	r = &root{spec: spec, dir: filepath.Join(dir, "root")}
	require.NoError(t, copyFolder(host, r.upper(host)))
	return r, host
}

func TestFoldersForMountsAreMadeInTheUpperLayer(t *testing.T) {
	own := ownFolders
	ownFolders = []string{"/dev", "/proc"} // the test's folder may lie below /tmp
	t.Cleanup(func() { ownFolders = own })
	r, host := testRoot(t)

	require.NoError(t, r.makeUpper(filepath.Join(host, "there", "deep", "new", "er")))
	upper := r.upper(host)
	require.DirExists(t, filepath.Join(upper, "there/deep/new/er"))
	fi, err := os.Stat(filepath.Join(upper, "there"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o750), fi.Mode().Perm(), "a folder that merges keeps its mode")

	require.NoError(t, r.makeUpperFile(filepath.Join(host, "x", "f")))
	require.FileExists(t, filepath.Join(upper, "x", "f"))
	require.NoError(t, r.makeUpperFile(filepath.Join(host, "file")))
	require.NoFileExists(t, filepath.Join(upper, "file"), "what the host has need not be made")
	require.ErrorContains(t, r.makeUpper(filepath.Join(host, "file", "below")), "is a file on this machine")
	require.NoError(t, r.makeUpper("/elsewhere"), "what is in no layer is made later, in the root")
}

func TestResolveFollowsLinksAsTheContainerSeesThem(t *testing.T) {
	own := ownFolders
	ownFolders = []string{"/dev", "/proc", "/run"}
	t.Cleanup(func() { ownFolders = own })
	r, host := testRoot(t)
	link := func(target, name string) { require.NoError(t, os.Symlink(target, filepath.Join(host, name))) }
	link("there/deep", "relative")
	link("/run", "run")
	link(host+"/relative", "absolute")
	link("loop", "loop")
	for in, want := range map[string]string{
		"/nowhere/x":         "/nowhere/x",
		host + "/relative/x": host + "/there/deep/x",
		host + "/absolute":   host + "/there/deep",
		host + "/run/argo":   "/run/argo",
		host + "/there/../x": host + "/x",
		"/":                  "/",
	} {
		got, err := r.resolve(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
	}
	_, err := r.resolve(host + "/loop")
	require.ErrorContains(t, err, "too many symbolic links")

	// What the container has of its own is not looked up on the host.
	r.spec.Private = []string{host + "/relative"}
	got, err := r.resolve(host + "/relative/x")
	require.NoError(t, err)
	require.Equal(t, host+"/relative/x", got)
}
