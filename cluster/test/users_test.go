package test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	nobody     = 65534 // has no ranges in /etc/subuid: the poorest of users
	withRanges = 1     // daemon; upWithRanges gives it ranges
)

// asOrdinaryUsers runs a test on clusters of users with and without subordinate ids, when it may become them.
func asOrdinaryUsers(t *testing.T, test func(*testing.T, *cluster)) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	t.Run("ordinary user", func(t *testing.T) { test(t, upAs(t, nobody)) })
	t.Run("ordinary user with subordinate ids", func(t *testing.T) { test(t, upWithRanges(t)) })
}

// upAs starts a cluster as another user, with a home and binaries that this user can reach.
func upAs(t *testing.T, uid int, args ...string) *cluster {
	t.Helper()
	home, program := homeFor(t, uid)
	cmd := exec.Command(program, upArgs(home, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	return startThere(t, home, cmd)
}

// upWithRanges starts a cluster as a user who has 65,536 subordinate ids. The machine needs no such user: the cluster's mount namespace
// has an /etc/subuid and an /etc/subgid of the test's own.
func upWithRanges(t *testing.T, args ...string) *cluster {
	t.Helper()
	home, program := homeFor(t, withRanges)
	ranges := filepath.Join(filepath.Dir(home), "ranges")
	require.NoError(t, os.WriteFile(ranges, []byte(strconv.Itoa(withRanges)+":700000:65536\n"), 0o644))
	const becomeUser = `mount --bind "$0" /etc/subuid && mount --bind "$0" /etc/subgid && id=$1 && shift && exec setpriv --reuid $id --regid $id --clear-groups "$@"`
	cmd := exec.Command("unshare", append([]string{"--mount", "sh", "-c", becomeUser, ranges, strconv.Itoa(withRanges), program}, upArgs(home, args...)...)...)
	return startThere(t, home, cmd)
}

// homeFor makes a folder for a user, with the programs beside it, and returns it with the path of argosy-cluster.
func homeFor(t *testing.T, uid int) (home, program string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "argosy")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	for _, b := range []string{"argosy-cluster", "argosy-controlplane", "argosy-podinit", "argoexec"} {
		from, err := os.Open(filepath.Join(binaries, b))
		require.NoError(t, err)
		to, err := os.OpenFile(filepath.Join(dir, b), os.O_CREATE|os.O_WRONLY, 0o755)
		require.NoError(t, err)
		_, err = io.Copy(to, from)
		require.NoError(t, errors.Join(err, from.Close(), to.Close()))
	}
	home = filepath.Join(dir, "home")
	require.NoError(t, os.Mkdir(home, 0o700))
	require.NoError(t, os.Chown(home, uid, uid))
	return home, filepath.Join(dir, "argosy-cluster")
}

// startThere starts the cluster outside of the folders of tests, which its user may not enter.
func startThere(t *testing.T, home string, cmd *exec.Cmd) *cluster {
	t.Helper()
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "HOME="+home)
	return start(t, home, cmd)
}
