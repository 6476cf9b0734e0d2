package mpijob

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// runScript runs the launcher's script as a pod does.
func runScript(t *testing.T, command string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", launcherScript, "sh", command)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestLauncherScript(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		command, out string
		code         int
	}{
		{"echo hello", "hello\n", 0},
		{"exit 7", "", 7},
		{"\n    printf '%s' \"it's $0 a\"\\\n b\n    ", "it's sh ab", 0},
		{"sh -c 'exit 3'; echo after; exit 4", "after\n", 4},
	} {
		out, code := runScript(t, tc.command)
		require.Equal(t, tc.code, code, tc.command)
		require.Equal(t, tc.out, out, tc.command)
	}
	_, code := runScript(t, "kill -9 $$") // shells say something about it, each its own
	require.Equal(t, 137, code)
}

// A signal to the script reaches the command, and the command's end is awaited.
func TestLauncherScriptPassesSignals(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		`trap 'echo saving; exit 9' TERM; echo up; while :; do sleep 0.05; done`,                                        // the command itself
		"sh -c 'trap \"echo saving; exit 9\" TERM; echo up; while :; do sleep 0.05; done'",                              // a single program, as mpirun is
		"trap 'wait' TERM\nsh -c 'trap \"echo saving; exit 9\" TERM; echo up; while :; do sleep 0.05; done' &\nwait $!", // one that it started
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", launcherScript, "sh", command)
		cmd.Stderr = os.Stderr
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(stdout)
		require.True(t, lines.Scan())
		require.Equal(t, "up", lines.Text())
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.True(t, lines.Scan(), command)
		require.Equal(t, "saving", lines.Text())
		for lines.Scan() {
			t.Log(lines.Text())
		}
		require.Error(t, cmd.Wait())
	}
}

// Kubernetes takes $( and $$ in commands for its own.
func TestScriptsNeedNoEscape(t *testing.T) {
	t.Parallel()
	for _, script := range []string{launcherScript, workerScript} {
		require.NotContains(t, script, "$(")
		require.NotContains(t, script, "$$")
		require.NoError(t, exec.CommandContext(t.Context(), "sh", "-n", "-c", script).Run())
	}
	require.Equal(t, "$$$$ $$(A) $$1", verbatim("$$ $(A) $1"))
	require.Equal(t, "$1 ${B}", verbatim("$1 ${B}"))
	require.False(t, strings.Contains(verbatim("$(A)"), " "))
}
