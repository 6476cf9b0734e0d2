package leftovers

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var discard = slog.New(slog.DiscardHandler)

// ended returns the folder of a pod that is gone otherwise.
func ended(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"containers/main/upper", "logs/main"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	return dir
}

func TestLeftoversWaitForAMomentOfCalm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New()
		first, second := ended(t), ended(t)
		require.Nil(t, l.next(true))
		l.Add(first, discard)
		l.Add(second, discard)
		require.Nil(t, l.next(false), "others are being set up")
		require.Equal(t, first, l.next(true).dir)
		time.Sleep(clearWithin) // of the test's clock
		require.Equal(t, second, l.next(false).dir, "it has waited long enough")
		require.True(t, l.empty())
	})
}

func TestLeftoversAreCleared(t *testing.T) {
	t.Parallel()
	l := New()
	var busy atomic.Bool
	ctx, end := context.WithCancel(t.Context())
	cleared := make(chan struct{})
	go func() { defer close(cleared); l.Clear(ctx, func() bool { return !busy.Load() }) }()
	dir := ended(t)
	l.Add(dir, discard)
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(dir, "containers"))
		return os.IsNotExist(err)
	}, 5*time.Minute, time.Millisecond)
	require.DirExists(t, filepath.Join(dir, "logs"))

	busy.Store(true) // a pod is being set up, and the node ends
	dir = ended(t)
	l.Add(dir, discard)
	end()
	<-cleared
	require.NoDirExists(t, filepath.Join(dir, "containers"))
}

// The node ends while it looks whether it is time.
func TestLeftoversAreClearedAtTheEnd(t *testing.T) {
	t.Parallel()
	l, dir := New(), ended(t)
	ctx, end := context.WithCancel(t.Context())
	l.Add(dir, discard)
	l.Clear(ctx, func() bool { end(); return false })
	require.NoDirExists(t, filepath.Join(dir, "containers"))
}
