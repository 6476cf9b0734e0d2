package test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cluster/doctor"
	"github.com/argosy-ml/argosy/cluster/host/home"
)

// withoutNamespaces is argosy-cluster for an ordinary user who gets no user namespaces: the limit on them counts inside
// each of them, so it can be set to none in one of our own.
func withoutNamespaces(args ...string) *exec.Cmd {
	const ordinaryUser, capSysResource = 1000, 24
	cmd := exec.Command("sh", append([]string{
		"-c", `echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"`, "sh",
		filepath.Join(binaries, "argosy-cluster"),
	}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: ordinaryUser, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: ordinaryUser, HostID: os.Getegid(), Size: 1}},
		AmbientCaps: []uintptr{capSysResource},
	}
	return cmd
}

// Where an ordinary user gets no user namespaces, `up` says so and names the setting.
func TestRefusedNamespaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := withoutNamespaces("up", "--home", dir)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, 4, cmd.ProcessState.ExitCode(), string(out))
	require.Contains(t, string(out), "sysctl -w user.max_user_namespaces=15000")
	_, err = os.Stat(home.Home(dir).Kubeconfig())
	require.ErrorIs(t, err, fs.ErrNotExist, "nothing is started")
}

func examine(t *testing.T, cmd *exec.Cmd) (code int, found map[string]doctor.Finding) {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		failed := (*exec.ExitError)(nil)
		require.ErrorAs(t, err, &failed)
	}
	var r doctor.Report
	require.NoError(t, json.Unmarshal(out, &r), "%s", out)
	found = map[string]doctor.Finding{}
	for _, f := range r.Findings {
		found[f.Check] = f
	}
	return cmd.ProcessState.ExitCode(), found
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "later")
	code, found := examine(t, command("doctor", "--home", dir, "-o", "json"))
	require.Zero(t, code, "%+v", found)
	for _, check := range []string{"system", "namespaces", "overlay", "programs"} {
		require.Equal(t, doctor.OK, found[check].Level, "%+v", found[check])
	}
	for _, check := range []string{"memory", "disk"} { // other programs take of them
		require.Contains(t, found, check)
	}
	left, err := os.ReadDir(filepath.Dir(filepath.Dir(dir)))
	require.NoError(t, err)
	require.Empty(t, left, "nothing is made")
}

func TestDoctorFindsRefusedNamespaces(t *testing.T) {
	t.Parallel()
	code, found := examine(t, withoutNamespaces("doctor", "--home", t.TempDir(), "-o", "json"))
	require.Equal(t, 1, code)
	require.Equal(t, doctor.Block, found["namespaces"].Level)
	require.Contains(t, found["namespaces"].Says, "the kernel refuses user namespaces to ordinary users")
	require.Contains(t, found["namespaces"].Mend, "sudo sysctl -w user.max_user_namespaces=15000    # it is 0")
	require.NotContains(t, found, "overlay", "it was not tried")
}

// A folder that pods cannot write over is found before a cluster is started on it.
func TestDoctorFindsAWrongFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	code, found := examine(t, command("doctor", "--home", filepath.Join(file, "below"), "-o", "json"))
	require.Equal(t, 1, code)
	require.Contains(t, found["data folder"].Says, "not a directory")

	code, found = examine(t, command("doctor", "--home", "/proc/argosy", "-o", "json"))
	require.Equal(t, 1, code)
	require.Equal(t, doctor.Block, found["data folder"].Level)
}
