//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStart runs the commands of docs/start.md in one shell, as a reader would. `make run` is TestMainJob's; here argosy up stands for it.
func TestStart(t *testing.T) {
	t.Parallel()
	a := up(t, t.TempDir())
	page, err := os.ReadFile(filepath.Join(repository, "docs/start.md"))
	require.NoError(t, err)
	var commands string
	var said []string
	for i, part := range strings.Split("\n"+string(page), "\n```") {
		language, code, _ := strings.Cut(part, "\n")
		switch {
		case i%2 == 0 || code == "make run":
		case language == "sh":
			commands += code + "\n"
		default:
			said = append(said, code)
		}
	}
	require.Contains(t, string(page), "\nmake run\n")

	home := t.TempDir()
	shell := exec.CommandContext(t.Context(), "bash", "-e", "-u", "-o", "pipefail")
	shell.Dir, shell.Stdin = repository, strings.NewReader(commands)
	shell.Env = append(os.Environ(), "HOME="+home, "ARGOSY_URL="+a.url)
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOENV"} { // they are below the real home
		value, err := exec.Command("go", "env", name).Output()
		require.NoError(t, err)
		shell.Env = append(shell.Env, name+"="+strings.TrimSpace(string(value)))
	}
	var printed, errs bytes.Buffer
	shell.Stdout, shell.Stderr = &printed, &errs
	require.NoError(t, shell.Run(), "%s%s", &printed, &errs)

	require.NotEmpty(t, said)
	for _, text := range said {
		require.Contains(t, printed.String(), text)
	}
	require.Contains(t, printed.String(), "weights [ 1. -2.  3.]")
	run := a.named(t, "two-workers")
	require.Less(t, run.metric(t, "loss"), 0.02, "the noise has a variance of 0.01")
	require.Contains(t, run.Nodes[run.node(t, "train")].Outputs, nameValue{"world-size", "2"})
}
