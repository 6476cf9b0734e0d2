package cgroup

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKernel once more, on a kernel that has control groups of version 2: as root, and as an ordinary user to whom a group is delegated.
func TestOnAnotherKernel(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("linux.uml"); err != nil && os.Getenv("CI") == "" {
		t.Skip("no user-mode Linux here: apt-get install user-mode-linux")
	}
	dir := t.TempDir()
	self, script := filepath.Join(dir, "cgroup.test"), filepath.Join(dir, "script")
	build := exec.Command("go", "test", "-c", "-trimpath", "-o", self) // the race detector does not run there
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755)) // for the ordinary user
	require.NoError(t, os.WriteFile(script, []byte(`set -ex
`+self+` -test.v -test.run '^TestKernel$'
cd /sys/fs/cgroup
echo "+cpu +memory" >cgroup.subtree_control
mkdir delegated
chown 1000:1000 delegated delegated/cgroup.procs delegated/cgroup.subtree_control
echo $$ >delegated/cgroup.procs
exec setpriv --reuid 1000 --regid 1000 --clear-groups `+self+` -test.v -test.run '^TestKernel$'
`), 0o600))
	out, err = exec.Command("../build/uml.sh", "256M", "sh", script).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, 2, strings.Count(string(out), "--- PASS: TestKernel"), "%s", out)
}
