package logs_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
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
	"github.com/argosy-ml/argosy/server/fault"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/logs/logtest"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlite"
	"github.com/argosy-ml/argosy/server/store/sqlstore"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
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
	}, 20*time.Second, 10*time.Millisecond)
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
		case <-time.After(20 * time.Second):
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

func TestAShortStepCostsOneRequestAndOneObject(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cluster.Start(stepPod("p"), "main")
	b.cluster.Print("p", "main", "hello\nno end")
	b.cluster.End("p")
	b.finish(t, "p")
	requests, _ := b.cluster.Requests()
	require.Equal(t, []int{1, 1}, []int{requests, b.objects.Keys()})
	require.Equal(t, "hello\nno end", b.read(t, logs.Query{}))
	l := b.only(t)
	require.Equal(t, []any{logs.Whole, int64(2), int64(len("hello\nno end\n"))}, []any{l.State, l.Lines, l.Bytes})
}

func TestAnEmptyLogCostsNoObject(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cluster.Start(stepPod("p"), "main")
	b.cluster.End("p")
	b.finish(t, "p")
	require.Zero(t, b.objects.Keys())
	require.Empty(t, b.read(t, logs.Query{}))
	require.Equal(t, logs.Whole, b.only(t).State)
}

// TestFanOut: two hundred steps that print little.
func TestFanOut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const pods = 200
	for i := range pods {
		name := fmt.Sprintf("p%d", i)
		b.cluster.Start(logs.Pod{RunID: "r", NodeID: name, Namespace: "kubeflow", Name: name, UID: name, Containers: []logs.Container{
			{Name: "wait", Begun: true, Executor: true},
		}}, "main")
		b.cluster.Print(name, "main", "hello\n")
		b.cluster.End(name)
	}
	for i := range pods {
		name := fmt.Sprintf("p%d", i)
		_, err := b.Finish(t.Context(), logs.Step{RunID: "r", NodeID: name, Namespace: "kubeflow", Pod: name})
		require.NoError(t, err)
	}
	requests, followed := b.cluster.Requests()
	t.Logf("%d pods: %d requests for logs, %d objects, %d followed at once", pods, requests, b.objects.Keys(), followed)
	require.Equal(t, pods, b.objects.Keys())
	require.LessOrEqual(t, requests, pods+pods/4, "but those that were seen running for a moment")
}

func TestKilledInMidLog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cluster.Start(stepPod("p"), "main")
	want := ""
	for round := range 5 {
		text := numbered(round*1000, round*1000+999)
		b.cluster.Print("p", "main", text[:len(text)-5]) // killed within a line
		want += text[:len(text)-5]
		require.Eventually(t, func() bool {
			return strings.Contains(b.read(t, logs.Query{}), fmt.Sprintf("line %d\n", round*1000+998))
		}, 20*time.Second, 5*time.Millisecond)
		if round%2 == 0 { // with and without a save before
			require.Eventually(t, func() bool { return b.objects.Keys() > 0 }, 20*time.Second, 5*time.Millisecond)
		}
		b.kill()
		b.start(t)
		b.cluster.Print("p", "main", text[len(text)-5:])
		want += text[len(text)-5:]
	}
	b.cluster.End("p")
	b.finish(t, "p")
	require.Equal(t, want, b.read(t, logs.Query{}))
	require.Equal(t, int64(5000), b.only(t).Lines)
}

func TestStreamsThatBreakOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cluster.Start(stepPod("p"), "main")
	d := b.open(t, logs.Query{Follow: true})
	follow := d.Text(t.Context(), false)
	for i := range 10 {
		text := fmt.Sprintf("begin %d ", i)
		b.cluster.Print("p", "main", text)
		if i%3 == 1 {
			b.cluster.Break()
		}
		got := make([]byte, len(text))
		_, err := io.ReadFull(follow, got)
		require.NoError(t, err, "what is not a whole line shows too")
		require.Equal(t, text, string(got))
		if i%3 == 2 {
			b.cluster.Break()
		}
		b.cluster.Print("p", "main", "end\n")
		_, err = io.ReadFull(follow, got[:4])
		require.NoError(t, err)
		require.Equal(t, "end\n", string(got[:4]))
	}
	b.cluster.End("p")
	rest, err := io.ReadAll(follow)
	require.NoError(t, err)
	require.Empty(t, rest)
	b.finish(t, "p")
	require.Equal(t, int64(10), b.only(t).Lines)
}

// TestFollowFromTheArchiveToLive: a follower that begins when most of the log is in parts already sees it all, once.
func TestFollowFromTheArchiveToLive(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cluster.Start(stepPod("p"), "main")
	line := strings.Repeat("0123456789abcdef", 8)
	var want strings.Builder
	printed := func(from, to int) {
		var s strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&s, "%d %s\n", i, line)
		}
		want.WriteString(s.String())
		b.cluster.Print("p", "main", s.String())
	}
	printed(0, 60_000) // 8 MiB: three parts
	require.Eventually(t, func() bool {
		l, err := b.List(t.Context(), "r", "step")
		return err == nil && len(l) == 1 && l[0].Lines == 60_000
	}, 30*time.Second, 10*time.Millisecond)
	var wg sync.WaitGroup
	got := make([]string, 8)
	for i := range got {
		follow := b.open(t, logs.Query{Follow: true}).Text(t.Context(), false)
		wg.Go(func() {
			text, err := io.ReadAll(follow)
			if err != nil {
				text = []byte(err.Error())
			}
			got[i] = string(text)
		})
		printed(60_000+i*1000, 60_000+i*1000+1000)
	}
	b.cluster.End("p")
	wg.Wait()
	for i := range got {
		require.True(t, want.String() == got[i], "follower %d: %d bytes of %d", i, len(got[i]), want.Len())
	}
	b.finish(t, "p")
	require.True(t, want.String() == b.read(t, logs.Query{}))
	require.Greater(t, b.objects.Keys(), 2)
	ok := func(q logs.Query, first, last string) {
		t.Helper()
		text := b.read(t, q)
		require.True(t, strings.HasPrefix(text, first+" "), "%.100s", text)
		require.True(t, strings.HasSuffix(text, "\n"+last+" "+line+"\n") || strings.Count(text, "\n") == 1, "%d lines", strings.Count(text, "\n"))
	}
	tail := int64(3)
	ok(logs.Query{From: 1, Lines: 2}, "0", "1")
	ok(logs.Query{From: 31_001, Lines: 5}, "31000", "31004")
	ok(logs.Query{Tail: &tail}, "67997", "67999")
	ok(logs.Query{Around: 40_001, Lines: 11}, "39995", "40005")
	require.Empty(t, b.read(t, logs.Query{From: 68_001}))
	lines, err := b.open(t, logs.Query{From: 50_001, Lines: 1}).Next(t.Context())
	require.NoError(t, err)
	ok(logs.Query{Since: lines[0].At}, "50000", "67999")
	require.Empty(t, b.read(t, logs.Query{Since: time.Now().Add(1000 * time.Hour)}))
}

func TestAPodThatIsDeletedKeepsWhatWasSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cluster.Start(stepPod("p"), "main")
	b.cluster.Print("p", "main", numbered(1, 10))
	require.Equal(t, numbered(1, 10), b.read(t, logs.Query{}))
	b.cluster.Delete("p")
	b.finish(t, "p")
	require.Equal(t, numbered(1, 10), b.read(t, logs.Query{}))

	// One that went while no server was there.
	b.cluster.Start(logs.Pod{RunID: "r", NodeID: "other", Namespace: "kubeflow", Name: "q", UID: "q"}, "main")
	b.cluster.Print("q", "main", "seen\n")
	require.Eventually(t, func() bool { return b.objects.Keys() == 2 }, 20*time.Second, 5*time.Millisecond)
	b.kill()
	b.cluster.Forget("q")
	b.start(t)
	_, err := b.Finish(t.Context(), logs.Step{RunID: "r", NodeID: "other", Namespace: "kubeflow", Pod: "q"})
	require.NoError(t, err)
	list, err := b.List(t.Context(), "r", "other")
	require.NoError(t, err)
	require.Equal(t, []any{logs.Cut, "its pod was deleted before the rest was read", int64(1)}, []any{list[0].State, list[0].Message, list[0].Lines})

	_, err = b.Finish(t.Context(), logs.Step{RunID: "r", NodeID: "unknown", Namespace: "kubeflow", Pod: "never"})
	require.Equal(t, fault.NotFound, fault.KindOf(err), "%v", err)
}

func TestAllContainersOfAStepAndItsJob(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	own := stepPod("p")
	own.Containers = []logs.Container{{Name: "init", Begun: true, Executor: true}, {Name: "wait", Begun: true, Executor: true}}
	b.cluster.Start(own, "fetch", "main", "sidecar")
	worker := logs.Pod{RunID: "r", NodeID: "step", Namespace: "kubeflow", Name: "job-worker-1", UID: "w1", Role: "worker", Rank: 1}
	b.cluster.Start(worker, "init-code", "worker")
	for _, name := range []string{"init", "fetch", "main", "sidecar", "wait"} {
		b.cluster.Print("p", name, "by "+name+"\n")
	}
	b.cluster.Print("job-worker-1", "worker", "rank 1\n")
	b.cluster.Update("p", func(p *logs.Pod) {
		for i := range p.Containers {
			c := &p.Containers[i]
			c.Ended, c.Failed = true, c.Name == "wait"
		}
	})
	b.cluster.Delete("job-worker-1") // with its job
	b.finish(t, "p")
	require.Equal(t, "by sidecar\n", b.read(t, logs.Query{Container: "sidecar"}))
	require.Equal(t, "by fetch\n", b.read(t, logs.Query{Container: "fetch"}))
	require.Equal(t, "by wait\n", b.read(t, logs.Query{Container: "wait"}), "the executor's own, as it failed")
	_, err := b.Open(t.Context(), logs.Query{RunID: "r", NodeID: "step", Container: "init"})
	require.ErrorIs(t, err, logs.ErrNone)
	list, err := b.List(t.Context(), "r", "step")
	require.NoError(t, err)
	for _, l := range list {
		if l.Role != "" {
			require.Equal(t, []any{"worker", int64(1), "job-worker-1"}, []any{l.Role, l.Rank, l.Pod})
		}
	}
}

func TestContainersThatAreRestarted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cluster.Start(stepPod("p"), "main")
	for i := range int64(3) {
		b.cluster.Print("p", "main", fmt.Sprintf("life %d\n", i))
		b.cluster.Update("p", func(p *logs.Pod) {
			p.Containers[0].Ended = true
			if i < 2 {
				p.Containers[0].Restarts, p.Containers[0].Ended = i+1, false
			}
		})
		require.Eventually(t, func() bool {
			list, err := b.List(t.Context(), "r", "step")
			return err == nil && len(list) > int(i) && list[i].State == logs.Whole
		}, 20*time.Second, 5*time.Millisecond)
	}
	b.cluster.End("p")
	b.finish(t, "p")
	require.Equal(t, "life 2\n", b.read(t, logs.Query{}))
	require.Equal(t, "life 1\n", b.read(t, logs.Query{Previous: true}))
}

func TestHostileOutput(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cluster.Start(stepPod("p"), "main")
	const length = 1 << 20
	text := strings.Repeat("\x00\xff\xfe\r", length/4)
	b.cluster.Print("p", "main", "before\n"+text+"\nafter\n")
	b.cluster.End("p")
	b.finish(t, "p")
	got := b.read(t, logs.Query{})
	require.Equal(t, "before\n"+text+"\nafter\n", unbroken(got), "every byte, in lines of 64 KiB")
	require.Equal(t, int64(2+length>>16), b.only(t).Lines)
}

// unbroken takes out the line feeds that break long lines.
func unbroken(text string) string {
	var b strings.Builder
	for line := range strings.SplitAfterSeq(text, "\n") {
		if len(line) == 64<<10+1 && !strings.HasSuffix(b.String(), "after\n") {
			line = line[:len(line)-1]
		}
		b.WriteString(line)
	}
	return strings.Replace(b.String(), "\rafter", "\r\nafter", 1)
}

func TestTheArtifactStoreComesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.objects.Break(fault.New(fault.Unavailable, "the artifact store is away"))
	b.cluster.Start(stepPod("p"), "main")
	b.cluster.Print("p", "main", numbered(1, 10))
	b.cluster.End("p")
	_, err := b.Finish(t.Context(), logs.Step{RunID: "r", NodeID: "step", Namespace: "kubeflow", Pod: "p"})
	require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
	b.objects.Break(nil)
	b.finish(t, "p")
	require.Equal(t, numbered(1, 10), b.read(t, logs.Query{}))
}

// TestGoingOnByNumber: who takes lines as they come, and notes the number of the last, goes on behind it after a kill of
// the server, and of himself, and has each line once, with its time.
func TestGoingOnByNumber(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cluster.Start(stepPod("p"), "main")
	var heard []string
	last := time.Time{}
	for round := range 5 {
		b.cluster.Print("p", "main", numbered(round*100+1, round*100+100))
		d := b.open(t, logs.Query{From: int64(len(heard)) + 1, Follow: true})
		for len(heard) < round*100+60 {
			lines, err := d.Next(t.Context())
			require.NoError(t, err)
			for _, l := range lines {
				require.Equal(t, int64(len(heard)+1), l.Number)
				require.True(t, l.At.After(last))
				heard, last = append(heard, string(l.Text)), l.At
			}
		}
		d.Close()
		b.kill()
		b.start(t)
	}
	b.cluster.End("p")
	d := b.open(t, logs.Query{From: int64(len(heard)) + 1, Follow: true})
	for {
		lines, err := d.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		for _, l := range lines {
			heard = append(heard, string(l.Text))
		}
	}
	require.Equal(t, strings.TrimSpace(numbered(1, 500)), strings.Join(heard, "\n"))
}

func TestDelete(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cluster.Start(stepPod("p"), "main")
	b.cluster.Print("p", "main", numbered(1, 100))
	require.Eventually(t, func() bool { return b.objects.Keys() == 1 }, 20*time.Second, 5*time.Millisecond)
	d := b.open(t, logs.Query{Follow: true})
	require.NoError(t, b.Delete(t.Context(), "r"))
	_, err := io.ReadAll(d.Text(t.Context(), false))
	require.NoError(t, err, "who follows it comes to an end")
	require.Zero(t, b.objects.Keys())
	list, err := b.List(t.Context(), "r", "")
	require.NoError(t, err)
	require.Empty(t, list)
	b.cluster.Print("p", "main", "more\n")
	b.cluster.End("p")
	require.Zero(t, b.objects.Keys())
}

func TestQueriesThatCannotBe(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tail := int64(-1)
	for _, q := range []logs.Query{
		{From: 1, Around: 2}, {From: -1}, {Tail: &tail}, {Around: 5}, {Around: 5, Lines: 3, Follow: true}, {Lines: -1}, {Attempt: -1},
	} {
		_, err := b.Open(t.Context(), q)
		require.Equal(t, fault.Invalid, fault.KindOf(err), "%+v", q)
	}
}

func TestPlainLogsOfEarlierServers(t *testing.T) {
	t.Parallel()
	objects := &enginetest.Objects{}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte("an old log\n"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, objects.Put(t.Context(), "runs/r/n/main.log.gz", &packed, int64(packed.Len())))
	require.True(t, logs.IsPlain("runs/r/n/main.log.gz"))
	log, err := logs.OpenPlain(t.Context(), objects, "runs/r/n/main.log.gz")
	require.NoError(t, err)
	text, err := io.ReadAll(log)
	require.NoError(t, err)
	require.NoError(t, log.Close())
	require.Equal(t, "an old log\n", string(text))
	require.NoError(t, objects.Put(t.Context(), "k", strings.NewReader("no gzip"), -1))
	_, err = logs.OpenPlain(t.Context(), objects, "k")
	require.ErrorContains(t, err, "the archived log is damaged")
}
