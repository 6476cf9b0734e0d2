package logs_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/logs"
)

func TestAShortStepCostsOneRequestAndOneObject(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cluster.StartYoung(stepPod("p"), "main")
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
		b.cluster.StartYoung(logs.Pod{RunID: "r", NodeID: name, Namespace: "kubeflow", Name: name, UID: name, Containers: []logs.Container{
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
	require.Equal(t, pods, requests)
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
	require.Eventually(t, func() bool { return b.objects.Keys() == 2 }, 5*time.Minute, 5*time.Millisecond)
	b.kill()
	b.cluster.Forget("q")
	b.start(t)
	_, err := b.Finish(t.Context(), logs.Step{RunID: "r", NodeID: "other", Namespace: "kubeflow", Pod: "q"})
	require.NoError(t, err)
	list, err := b.List(t.Context(), "r", "other")
	require.NoError(t, err)
	require.Equal(t, []any{logs.Cut, "its pod was deleted before the rest was read", int64(1)}, []any{list[0].State, list[0].Message, list[0].Lines})

	_, err = b.Finish(t.Context(), logs.Step{RunID: "r", NodeID: "unknown", Namespace: "kubeflow", Pod: "never"})
	require.Equal(t, apierr.NotFound, apierr.KindOf(err), "%v", err)
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
		}, 5*time.Minute, 5*time.Millisecond)
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
	b.objects.Break(apierr.New(apierr.Unavailable, "the artifact store is away"))
	b.cluster.Start(stepPod("p"), "main")
	b.cluster.Print("p", "main", numbered(1, 10))
	b.cluster.End("p")
	_, err := b.Finish(t.Context(), logs.Step{RunID: "r", NodeID: "step", Namespace: "kubeflow", Pod: "p"})
	require.Equal(t, apierr.Unavailable, apierr.KindOf(err), "%v", err)
	b.objects.Break(nil)
	b.finish(t, "p")
	require.Equal(t, numbered(1, 10), b.read(t, logs.Query{}))
}

func TestDelete(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.cluster.Start(stepPod("p"), "main")
	b.cluster.Print("p", "main", numbered(1, 100))
	require.Eventually(t, func() bool { return b.objects.Keys() == 1 }, 5*time.Minute, 5*time.Millisecond)
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

// heldObjects is an artifact store that takes nothing before it is let go.
type heldObjects struct {
	*enginetest.Objects
	reached, held chan struct{}
}

func (o *heldObjects) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	o.reached <- struct{}{}
	<-o.held
	return o.Objects.Put(ctx, key, r, size)
}

// TestDeleteWhileSaving: a save that is under way when the logs are deleted leaves nothing.
func TestDeleteWhileSaving(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.kill()
	held := &heldObjects{Objects: b.objects, reached: make(chan struct{}, 100), held: make(chan struct{})}
	b.config.Artifacts = held
	b.start(t)
	b.cluster.Start(stepPod("p"), "main")
	b.cluster.Print("p", "main", numbered(1, 10))
	<-held.reached
	deleted := make(chan error, 1)
	go func() { deleted <- b.Delete(t.Context(), "r") }()
	select {
	case err := <-deleted:
		t.Errorf("it did not wait: %v", err)
		deleted <- err
	case <-time.After(100 * time.Millisecond):
	}
	close(held.held)
	require.NoError(t, <-deleted)
	b.kill() // which ends all saves
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
		require.Equal(t, apierr.Invalid, apierr.KindOf(err), "%+v", q)
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
