package retention_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/cache"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/retention"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) {
	leaks.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}

func TestKeep(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]retention.Rule{
		"": {}, "90d": {Age: 90 * day}, "12h30m": {Age: 12*time.Hour + 30*time.Minute}, "1000": {Newest: 1000}, "90d, 1000": {90 * day, 1000}, "5,1d": {day, 5},
	} {
		got, err := retention.Keep(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		again, err := retention.Keep(got.String())
		require.NoError(t, err)
		require.Equal(t, want, again)
	}
	for _, text := range []string{"0", "-1", "0d", "-1h", "1d,2d", "1,2", "soon", "1,", "99999999999d", "200000d", "1w"} {
		_, err := retention.Keep(text)
		require.ErrorContains(t, err, "is not a valid limit", text)
	}
}

func FuzzKeep(f *testing.F) {
	f.Add("90d,1000")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := retention.Keep(text)
		if err == nil {
			again, err := retention.Keep(r.String())
			require.NoError(t, err)
			require.Equal(t, r, again)
		}
	})
}

type bench struct {
	*enginetest.Bundle
	pruner *retention.Pruner
}

func newBench(t *testing.T) bench {
	b := enginetest.New(t)
	return bench{b, &retention.Pruner{Store: b.Store, Runs: b.Runs.Changer, Log: b.Log}}
}

// ended makes a run that ended a time ago, and left a file, a folder, a file at a fixed place, and a log.
func (b bench) ended(t *testing.T, ago time.Duration) run.Run {
	t.Helper()
	r := b.Start(t)
	at := time.Now().Add(-ago).Truncate(time.Second)
	n := run.Node{ID: "n", Name: "n", DisplayName: "n", Type: "Pod", Phase: run.Succeeded, PodName: r.Workflow + "-pod", StartedAt: at, FinishedAt: at}
	n.Artifacts = []run.Artifact{{Name: "file", Key: r.Workflow + "/pod/file.tgz"}, {Name: "folder", Key: r.Workflow + "/pod/folder"}, {Name: "model", Key: "models/latest"}}
	_, err := b.Store.Record(t.Context(), r.ID, run.State{Status: run.Succeeded, StartedAt: at, FinishedAt: at, Nodes: []run.Node{n}})
	require.NoError(t, err)
	for key, text := range map[string]string{n.Artifacts[0].Key: "12345", n.Artifacts[1].Key + "/a": "1", n.Artifacts[1].Key + "/b/c": "22", "models/latest": "m", b.log(r): "log"} {
		require.NoError(t, b.Artifacts.Put(t.Context(), key, strings.NewReader(text), int64(len(text))))
	}
	require.NoError(t, b.Store.SetHarvested(t.Context(), r.ID, "n", b.log(r), nil))
	require.NoError(t, b.Store.Settle(t.Context(), r.ID))
	return r
}

func (b bench) log(r run.Run) string { return "runs/" + r.ID + "/n/log" }

func (b bench) prune(t *testing.T, runs, artifacts, logs string, dry bool) (told []run.Pruned, err error) {
	t.Helper()
	var p retention.Policy
	for text, into := range map[string]*retention.Rule{runs: &p.Runs, artifacts: &p.Artifacts, logs: &p.Logs} {
		if text != "" {
			*into, err = retention.Keep(text)
			require.NoError(t, err)
		}
	}
	err = b.pruner.Prune(t.Context(), p, dry, func(p run.Pruned) { told = append(told, p) })
	return told, err
}

func (b bench) gone(t *testing.T, r run.Run) bool {
	t.Helper()
	_, err := b.Store.Run(t.Context(), r.ID)
	if err != nil {
		require.Equal(t, apierr.NotFound, apierr.KindOf(err))
	}
	return err != nil
}

// TestDryRun: the dry run states to the byte what pruning removes, and removes nothing.
func TestDryRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	old, young := b.ended(t, 48*time.Hour), b.ended(t, time.Hour)
	before := b.Artifacts.Keys()
	told, err := b.prune(t, "1d", "", "", true)
	require.NoError(t, err)
	require.Len(t, told, 1)
	require.Equal(t, old.ID, told[0].Run.ID)
	require.Equal(t, []run.Object{{Key: old.Workflow + "/pod/file.tgz", Bytes: 5}, {Key: old.Workflow + "/pod/folder", Bytes: 3}}, told[0].Artifacts)
	require.Equal(t, []run.Object{{Key: "runs/" + old.ID, Bytes: 3}}, told[0].Logs)
	require.Equal(t, int64(11), told[0].Bytes())
	require.Equal(t, before, b.Artifacts.Keys())
	require.False(t, b.gone(t, old))

	done, err := b.prune(t, "1d", "", "", false)
	require.NoError(t, err)
	require.Equal(t, told[0].Artifacts, done[0].Artifacts)
	require.Equal(t, told[0].Logs, done[0].Logs)
	require.True(t, b.gone(t, old))
	require.Nil(t, b.Workflow(t, old), "its Workflow goes too")
	require.False(t, b.gone(t, young))
	require.Equal(t, before-4, b.Artifacts.Keys(), "what lies at a place that the manifest fixed may be another run's by now")
	told, err = b.prune(t, "1d", "", "", false)
	require.NoError(t, err)
	require.Empty(t, told)
}

// TestWhatStays: runs that go on and archived ones are kept whole, and do not count.
func TestWhatStays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	going, kept := b.Start(t), b.ended(t, 1000*time.Hour)
	require.NoError(t, b.Runs.Changer.Archive(t.Context(), kept.ID, true))
	var all []run.Run
	for i := range 5 {
		all = append(all, b.ended(t, time.Duration(5-i)*time.Hour))
	}
	_, err := b.prune(t, "3", "2", "1", false)
	require.NoError(t, err)
	for i, want := range []struct{ gone, artifacts, logs bool }{{gone: true}, {gone: true}, {false, false, false}, {false, true, false}, {false, true, true}} {
		require.Equal(t, want.gone, b.gone(t, all[i]), i)
		_, err := b.Artifacts.Size(t.Context(), all[i].Workflow+"/pod/file.tgz")
		require.Equal(t, want.artifacts, err == nil, i)
		_, err = b.Artifacts.Size(t.Context(), b.log(all[i]))
		require.Equal(t, want.logs, err == nil, i)
	}
	for _, r := range []run.Run{going, kept} {
		require.False(t, b.gone(t, r))
	}
	_, err = b.Artifacts.Size(t.Context(), b.log(kept))
	require.NoError(t, err)
	r, err := b.Store.Run(t.Context(), all[2].ID)
	require.NoError(t, err)
	require.Equal(t, []string{"its artifacts and logs were removed by retention (keep runs 3; artifacts 2; logs 1)"}, r.Warnings)
	told, err := b.prune(t, "3", "2", "1", false)
	require.NoError(t, err)
	require.Empty(t, told, "once")
}

// TestWhatOthersTook: a run whose outputs another one took over stays until that one has them no more.
func TestWhatOthersTook(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	origin, taker := b.ended(t, 100*time.Hour), b.ended(t, 10*time.Hour)
	entry := cache.Entry{Key: "k", Family: "f", RunID: origin.ID, NodeID: "n", FinishedAt: time.Now(), Outputs: []byte("{}")}
	require.NoError(t, b.Store.PutCacheEntry(t.Context(), entry))
	require.NoError(t, b.Store.Reuse(t.Context(), taker.ID, "n", entry))
	for _, dry := range []bool{true, false} {
		told, err := b.prune(t, "50h", "", "", dry)
		require.NoError(t, err)
		require.Len(t, told, 1)
		require.Equal(t, "run "+taker.ID+" uses its artifacts through the cache", told[0].Kept)
		require.Zero(t, told[0].Bytes())
	}
	require.False(t, b.gone(t, origin))
	entries, err := b.Store.CacheEntries(t.Context(), "k", time.Time{})
	require.NoError(t, err)
	require.Empty(t, entries, "and nobody else takes anything from it")
	_, err = b.prune(t, "50h", "5h", "", false)
	require.NoError(t, err)
	_, err = b.prune(t, "50h", "5h", "", false)
	require.NoError(t, err)
	require.True(t, b.gone(t, origin))
	require.False(t, b.gone(t, taker))
}

// TestBrokenOff: a prune that fails anywhere leaves a run that the next one completes.
func TestBrokenOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	runs := []run.Run{b.ended(t, 3*time.Hour), b.ended(t, 2*time.Hour)}
	b.Artifacts.Break(errors.New("the disk is full"))
	_, err := b.prune(t, "1h", "", "", false)
	require.EqualError(t, err, "the disk is full")
	b.Artifacts.Break(nil)
	require.NoError(t, b.Artifacts.DeleteAll(t.Context(), runs[0].Workflow), "as when the server was killed after this")
	ctx, cancel := context.WithCancel(t.Context())
	err = b.pruner.Prune(ctx, retention.Policy{Runs: retention.Rule{Age: time.Hour}}, false, func(run.Pruned) { cancel() })
	require.Error(t, err)
	require.Equal(t, []bool{true, false}, []bool{b.gone(t, runs[0]), b.gone(t, runs[1])})
	told, err := b.prune(t, "1h", "", "", false)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(told, func(p run.Pruned) bool { return p.Run.ID == runs[1].ID }))
	require.True(t, b.gone(t, runs[1]))
	require.Equal(t, 1, b.Artifacts.Keys(), "only models/latest")
}

// told hears that something was logged.
type told chan struct{}

func (c told) Write(p []byte) (int, error) {
	select {
	case c <- struct{}{}:
	default:
	}
	return len(p), nil
}

// TestEveryHour: the server prunes by its own policy, again and again, also after it was broken off.
func TestEveryHour(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	young, old := b.ended(t, time.Hour), b.ended(t, 48*time.Hour)
	var later atomic.Int64 // by how much the clock is set on
	b.pruner.Policy, b.pruner.Every = retention.Policy{Runs: retention.Rule{Age: 24 * time.Hour}}, time.Millisecond
	b.pruner.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	b.Artifacts.Break(errors.New("the disk is full"))
	broken := make(told, 1)
	b.pruner.Log = slog.New(slog.NewTextHandler(broken, nil))
	changes := b.Feed.Subscribe("")
	defer changes.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.pruner.Run(ctx) }()
	until := func(r run.Run) {
		t.Helper()
		for limit := time.After(5 * time.Minute); !b.gone(t, r); {
			select {
			case <-changes.C():
				changes.Changed()
			case <-limit:
				t.Fatal("it stays")
			}
		}
	}
	<-broken
	b.Artifacts.Break(nil)
	until(old)
	require.False(t, b.gone(t, young))
	later.Store(int64(24 * time.Hour))
	until(young)
	cancel()
	require.NoError(t, <-done)

	idle := &retention.Pruner{Store: b.Store, Runs: b.Runs.Changer, Log: b.Log, Every: time.Millisecond}
	require.NoError(t, idle.Run(ctx), "without a policy nothing is ever removed")
}
