// Package kernel tests on a Linux kernel of its own what the machine's kernel may lack: control groups of version 2, and refused
// namespaces.
package kernel

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// build makes the programs that guest.sh runs. The virtual machine has no C library, and the race detector needs one.
func build(t *testing.T) (programs []string) {
	t.Helper()
	dir := t.TempDir()
	tests, cluster := filepath.Join(dir, "cgroup.test"), filepath.Join(dir, "argosy-cluster")
	for _, args := range [][]string{
		{"test", "-c", "-trimpath", "-o", tests, "../../runtime/cgroup"},
		{"build", "-trimpath", "-ldflags", "-s -w", "-o", cluster, "../../cmd/argosy-cluster"},
	} {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return []string{tests, cluster}
}

// run runs guest.sh and returns what each part printed. Without a virtual machine there is nothing to test, which only CI takes for a failure.
func run(t *testing.T) map[string]string {
	t.Helper()
	const unable = 125
	out, err := exec.Command("./vm.sh", append([]string{"guest.sh"}, build(t)...)...).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == unable && os.Getenv("CI") == "" {
		t.Skipf("no other kernel was tried: %s", out)
	}
	require.NoError(t, err, "%s", out)
	parts, name := map[string]string{}, ""
	for line := range strings.Lines(string(out)) {
		if title, is := strings.CutPrefix(line, "== "); is && !strings.HasPrefix(title, "exit ") {
			name = strings.TrimSpace(title)
		}
		parts[name] += line
	}
	return parts
}

func TestOnAnotherKernel(t *testing.T) {
	t.Parallel()
	const (
		limited   = "ok     limits       the kernel keeps each container within its CPU, memory and number of processes\n"
		refused   = "the kernel refuses user namespaces to ordinary users"
		debians   = "sudo sysctl -w kernel.unprivileged_userns_clone=1    # it is 0\n"
		setToNone = "sudo sysctl -w user.max_user_namespaces=15000    # it is 0\n"
	)
	parts := run(t)
	for part, says := range map[string][]string{
		"root: limits":               {"--- PASS: TestKernel ", "--- PASS: TestKernelHandedOver ", "== exit 0\n"},
		"root: doctor":               {"ok     namespaces   pods get user, mount, network and process namespaces of their own\n", limited},
		"not delegated: doctor":      {"ok     namespaces   this user may make user namespaces", "warn   limits       the control group /sys/fs/cgroup is not delegated to this user"},
		"delegated: limits":          {"--- PASS: TestKernel", "== exit 0\n"},
		"delegated: doctor":          {"ok     overlay      ", limited},
		"debian's switch: doctor":    {"block  namespaces   " + refused, debians, "== exit 1\n"},
		"debian's switch: up":        {"argosy-cluster: " + refused, debians, "== exit 4\n"},
		"no user namespaces: doctor": {"block  namespaces   " + refused, setToNone, "== exit 1\n"},
	} {
		for _, s := range says {
			require.Contains(t, parts[part], s, part)
		}
	}
}
