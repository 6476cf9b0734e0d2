package kubelet

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ended is a pod of which only its folder is left.
func ended(t *testing.T) *pod {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"containers/main/upper", "logs/main"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	return &pod{dir: dir, log: slog.New(slog.DiscardHandler)}
}

func TestLeftoversWaitForAMomentOfCalm(t *testing.T) {
	t.Parallel()
	l := newLeftovers()
	first, second := ended(t), ended(t)
	require.Nil(t, l.next(true))
	l.add(first)
	l.add(second)
	require.Nil(t, l.next(false), "others are being set up")
	require.Same(t, first, l.next(true))
	l.left[0].since = time.Now().Add(-clearWithin)
	require.Same(t, second, l.next(false), "it has waited long enough")
	require.True(t, l.empty())
}

func TestLeftoversAreCleared(t *testing.T) {
	t.Parallel()
	k := &Kubelet{leftovers: newLeftovers(), starting: make(chan struct{}, maxStarting)}
	ctx, end := context.WithCancel(t.Context())
	cleared := make(chan struct{})
	go func() { defer close(cleared); k.clearLeftovers(ctx) }()
	p := ended(t)
	k.leftovers.add(p)
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(p.dir, "containers"))
		return os.IsNotExist(err)
	}, 30*time.Second, time.Millisecond)
	require.DirExists(t, filepath.Join(p.dir, "logs"))

	k.berths.busy.Add(1) // a pod is being set up, and the node ends
	p = ended(t)
	k.leftovers.add(p)
	end()
	<-cleared
	require.NoDirExists(t, filepath.Join(p.dir, "containers"))
}
