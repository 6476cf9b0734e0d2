//go:build e2e

package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUpWithPassword: a password that is given to argosy up counts, and the command sends it.
func TestUpWithPassword(t *testing.T) {
	t.Parallel()
	const password = "ARGOSY_PASSWORD=correct-horse-battery"
	a := up(t, filepath.Join(t.TempDir(), "home"), func(c *exec.Cmd) { c.Env = append(os.Environ(), password) })
	for header, want := range map[string]int{"": 401, "Bearer wrong": 401, "Bearer correct-horse-battery": 200} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.url+"/apis/v1beta1/runs", nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", header)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode, header)
	}
	list := exec.CommandContext(t.Context(), binary("argosy"), "run", "list", "--server", a.url)
	out, err := list.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "asks for a password")
	list = exec.CommandContext(t.Context(), binary("argosy"), "run", "list", "--server", a.url)
	list.Env = append(os.Environ(), password)
	out, err = list.CombinedOutput()
	require.NoError(t, err, "%s", out)

	short := exec.CommandContext(t.Context(), binary("argosy"), "up", "--home", t.TempDir())
	short.Env = append(os.Environ(), "ARGOSY_PASSWORD=short")
	out, err = short.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "has 5 bytes")
}
