package logs_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/logs/logtest"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlite"
	"github.com/argosy-ml/argosy/server/store/sqlstore"
	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) {
	leaks.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}

// bench is an archive on a real store, with a cluster and objects in memory.
type bench struct {
	*logs.Archive
	config  logs.Config
	store   *sqlstore.Store
	cluster *logtest.Cluster
	objects *enginetest.Objects
	kill    func() // ends it without any farewell
}

func newBench(t *testing.T) *bench {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "argosy.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	require.NoError(t, store.Accept(t.Context(), run.Run{ID: "r", Name: "a run", CreatedAt: time.Now()}, []byte("{}"), []byte("{}")))
	b := &bench{store: store, cluster: &logtest.Cluster{}, objects: &enginetest.Objects{}}
	b.config = logs.Config{Store: store, Cluster: b.cluster, Artifacts: b.objects, Log: slog.New(slog.DiscardHandler)}
	b.start(t)
	return b
}

// start begins an archive, a new one after kill.
func (b *bench) start(t *testing.T) {
	t.Helper()
	b.Archive = logs.New(b.config)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func(a *logs.Archive) { done <- a.Run(ctx) }(b.Archive)
	b.kill = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(b.kill)
}

func stepPod(name string) logs.Pod {
	return logs.Pod{RunID: "r", NodeID: "step", Namespace: "kubeflow", Name: name, UID: "uid-" + name}
}

func (b *bench) finish(t *testing.T, pod string) {
	t.Helper()
	require.Eventually(t, func() bool { // what fails is tried again, as the reconciler does
		key, err := b.Finish(t.Context(), logs.Step{RunID: "r", NodeID: "step", Namespace: "kubeflow", Pod: pod})
		return err == nil && key != ""
	}, 5*time.Minute, 10*time.Millisecond)
}

// open waits until there is a log, and reads it with q.
func (b *bench) open(t *testing.T, q logs.Query) *logs.Reader {
	t.Helper()
	q.RunID, q.NodeID = "r", "step"
	for {
		changed, stop := b.Watch("r")
		d, err := b.Open(t.Context(), q)
		if err == nil {
			stop()
			t.Cleanup(d.Close)
			return d
		}
		require.ErrorIs(t, err, logs.ErrNone)
		select {
		case <-changed:
			stop()
		case <-time.After(5 * time.Minute):
			t.Fatal("no such log comes")
		}
	}
}

func (b *bench) read(t *testing.T, q logs.Query) string {
	t.Helper()
	text, err := io.ReadAll(b.open(t, q).Text(t.Context(), false))
	require.NoError(t, err)
	return string(text)
}

func (b *bench) only(t *testing.T) logs.Log {
	t.Helper()
	list, err := b.List(t.Context(), "r", "step")
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}

func numbered(from, to int) string {
	var s strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&s, "line %d\n", i)
	}
	return s.String()
}
