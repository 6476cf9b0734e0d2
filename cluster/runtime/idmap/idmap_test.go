package idmap

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/host/home"
)

func TestARangeIsNoOneElses(t *testing.T) {
	t.Parallel()
	first, err := choose("/a", nil)
	require.NoError(t, err)
	require.Zero(t, first.First%Count)
	require.GreaterOrEqual(t, first.First, uint32(lowest))
	other, err := choose("/b", nil)
	require.NoError(t, err)
	require.NotEqual(t, first, other)
	for _, taken := range []span{{uint64(first.First), 1}, {uint64(first.First) + Count - 1, 10}, {0, uint64(first.First) + 1}} {
		next, err := choose("/a", []span{taken})
		require.NoError(t, err)
		require.False(t, next.overlaps([]span{taken}), "%v", taken)
	}
	_, err = choose("/a", []span{{0, 1 << 32}})
	require.ErrorContains(t, err, "leave no 65536 user ids")
}

func TestARangeIsKept(t *testing.T) {
	t.Parallel()
	h, err := home.Open(t.TempDir())
	require.NoError(t, err)
	first, err := Take(h)
	require.NoError(t, err)
	again, err := Take(h)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.NoError(t, os.WriteFile(h.IDs(), []byte(`{"first":0}`), 0o600))
	_, err = Take(h)
	require.ErrorContains(t, err, "holds no range of user ids")
}

func TestSubordinate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "subuid")
	require.NoError(t, os.WriteFile(file, []byte("ann:100000:65536\n# bob\nbob:x:1\n\ncarol:165536:65536\n"), 0o600))
	taken, err := subordinate(file, file+".none")
	require.NoError(t, err)
	require.Equal(t, []span{{100000, 65536}, {165536, 65536}}, taken)
}

// run runs a script in a view of the folders, as root does it for the sandbox.
func run(t *testing.T, hidden []string, script string, folders ...string) (out string, covered []string) {
	t.Helper()
	ids, err := choose(t.Name(), nil)
	require.NoError(t, err)
	v, err := NewView(ids, folders...)
	require.NoError(t, err)
	v.Hide(hidden...)
	cmd := exec.Command("sh", "-c", script)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &b, &b, "/"
	require.NoError(t, v.Start(cmd))
	status, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/status")
	require.NoError(t, err)
	require.Contains(t, string(status), "Uid:\t"+strconv.FormatUint(uint64(ids.First), 10))
	require.Contains(t, string(status), "Gid:\t"+strconv.FormatUint(uint64(ids.First), 10))
	require.NoError(t, cmd.Wait(), "%s", b.String())
	return b.String(), v.Covered
}

func TestView(t *testing.T) {
	t.Parallel()
	if !Needed() {
		for _, path := range []string{"/", "/usr/bin"} {
			require.True(t, Reachable(path), path)
		}
		return // the rest is for root of the machine
	}
	top := t.TempDir() // in a folder that others may not enter
	own, beside := filepath.Join(top, "closed", "own"), filepath.Join(top, "closed", "beside")
	require.NoError(t, os.MkdirAll(filepath.Join(own, "data"), 0o700))
	require.NoError(t, os.MkdirAll(beside, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(own, "data", "secret"), []byte("mine\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(beside, "f"), []byte("secret\n"), 0o644))
	require.NoError(t, os.Symlink("closed", filepath.Join(top, "link")))
	require.False(t, Reachable(own))

	out, covered := run(t, nil, `
id -u; id -G; cat `+own+`/data/secret
stat -c %u /etc/passwd; test -e `+beside+` && echo beside
echo x > `+own+`/data/made; chown 1000:1000 `+own+`/data/made; stat -c '%u %g' `+own+`/data/made
umount `+own+` 2>/dev/null && echo unmounted
( echo x > /proc/sys/kernel/core_pattern ) 2>/dev/null && echo core_pattern
touch /etc/argosy-view 2>/dev/null && echo wrote
exit 0`, own)
	require.Equal(t, "0\n0\nmine\n65534\n1000 1000\n", out)
	require.Equal(t, []string{filepath.Dir(top)}, covered)
	var st unix.Stat_t
	require.NoError(t, unix.Stat(filepath.Join(own, "data", "made"), &st))
	require.Equal(t, []uint32{1000, 1000}, []uint32{st.Uid, st.Gid}, "on the disk files have the ids that they have in pods")

	// Through a link, and through two.
	out, _ = run(t, []string{own, filepath.Join(beside, "f"), filepath.Join(beside, "gone")}, `umount `+own+` `+beside+`/f; cat `+beside+`/f; ls -A `+own+`; ls `+beside, beside, own)
	require.Contains(t, out, "\nf\n")
	require.NotContains(t, out, "secret")
	out, _ = run(t, nil, `cat `+top+`/link/own/data/secret; ls `+beside+`/f && echo there`, filepath.Join(top, "link", "own"), beside)
	require.Equal(t, "mine\n"+beside+"/f\nthere\n", out)
	require.NotContains(t, strings.Join(mounts(t), " "), top, "nothing of it is mounted outside")
}

func mounts(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	return strings.Fields(string(b))
}
