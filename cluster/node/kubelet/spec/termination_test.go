package spec

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/sandbox"
	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

// A container may write as much as it likes: the message is the end of it, and the kubelet reads no more than that.
func TestTerminationMessage(t *testing.T) {
	t.Parallel()
	c := &corev1.Container{Name: "c", TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError}
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, sandbox.Messages), 0o755))
	life := podlog.Life{Folder: filepath.Join(dir, shim.LogFolder, "c")}
	messageOf := func(code int) string {
		return TerminationMessage(dir, c, life, code, slog.New(slog.DiscardHandler))
	}
	file := filepath.Join(dir, sandbox.Messages, "c")
	require.NoError(t, os.WriteFile(file, []byte("the cause\n"), 0o600))
	require.Equal(t, "the cause\n", messageOf(1))

	const huge = 1 << 40
	require.NoError(t, os.Truncate(file, huge))
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("the end"), huge-7)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	message := messageOf(1)
	require.Len(t, message, maxMessage)
	require.True(t, strings.HasSuffix(message, "the end"))

	require.NoError(t, os.Truncate(file, 0))
	log, err := podlog.Create(life)
	require.NoError(t, err)
	require.NoError(t, log.Pump(podlog.Stdout, strings.NewReader(strings.Repeat("x", 1<<20)+" last words\n")))
	require.NoError(t, log.Close())
	message = messageOf(1)
	require.Len(t, message, maxFallback)
	require.True(t, strings.HasSuffix(message, "last words\n"))
	require.Empty(t, messageOf(0), "a container that did its work has nothing to explain")
}
