package logs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/run"
)

// limited is a bench whose archive has other limits.
func limited(t *testing.T, l logs.Limits) *bench {
	t.Helper()
	b := newBench(t)
	b.kill()
	b.config.Limits = l
	b.start(t)
	return b
}

// TestTooLong: the log of a container that prints without end is cut, is not read again, and delays no other log.
func TestTooLong(t *testing.T) {
	t.Parallel()
	b := limited(t, logs.Limits{Text: 1 << 20})
	b.cluster.Start(stepPod("p"), "main")
	line := strings.Repeat("0123456789abcdef", 64) + "\n"
	follow := b.open(t, logs.Query{Follow: true}).Text(t.Context(), false)
	b.cluster.Print("p", "main", strings.Repeat(line, 3<<10)) // 3 MiB
	text, err := io.ReadAll(follow)
	require.NoError(t, err, "who follows it comes to an end")
	require.GreaterOrEqual(t, len(text), 1<<20)
	require.Less(t, len(text), 1<<20+256<<10, "little more than the limit")
	require.Equal(t, len(text)/len(line), strings.Count(string(text), line), "of whole lines")
	l := b.only(t)
	require.Equal(t, []any{logs.Cut, "it is longer than 1 MiB, and the rest is not kept"}, []any{l.State, l.Message})
	requests, _ := b.cluster.Requests()
	b.kill()
	b.start(t)
	b.cluster.End("p")
	b.finish(t, "p")
	require.Equal(t, string(text), b.read(t, logs.Query{}))
	after, _ := b.cluster.Requests()
	require.Equal(t, requests, after, "a log that was cut is not read again")
}

// many starts pods that print, each for a node of its own.
func (b *bench) many(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		name := fmt.Sprintf("p%d", i)
		b.cluster.Start(logs.Pod{RunID: "r", NodeID: name, Namespace: "kubeflow", Name: name, UID: name}, "main")
	}
}

// lines waits until each of n logs has so many.
func (b *bench) lines(t *testing.T, n int, each int64) {
	t.Helper()
	require.Eventually(t, func() bool {
		list, err := b.List(t.Context(), "r", "")
		if err != nil || len(list) < n {
			return false
		}
		for _, l := range list {
			if l.Lines < each {
				return false
			}
		}
		return true
	}, 5*time.Minute, 10*time.Millisecond)
}

// TestTurns: where more containers print than are followed at once, each gets its turn, again and again.
func TestTurns(t *testing.T) {
	t.Parallel()
	const pods, follows, rounds = 20, 4, 3
	b := limited(t, logs.Limits{Follows: follows, Turn: 20 * time.Millisecond})
	b.many(t, pods)
	for round := range rounds {
		for i := range pods {
			b.cluster.Print(fmt.Sprintf("p%d", i), "main", fmt.Sprintf("round %d\n", round))
		}
		b.lines(t, pods, int64(round+1))
	}
	_, most := b.cluster.Requests()
	require.LessOrEqual(t, most, follows)
	for i := range pods {
		name := fmt.Sprintf("p%d", i)
		b.cluster.End(name)
		_, err := b.Finish(t.Context(), logs.Step{RunID: "r", NodeID: name, Namespace: "kubeflow", Pod: name})
		require.NoError(t, err)
		d, err := b.Open(t.Context(), logs.Query{RunID: "r", NodeID: name})
		require.NoError(t, err)
		text, err := io.ReadAll(d.Text(t.Context(), false))
		require.NoError(t, err)
		require.Equal(t, "round 0\nround 1\nround 2\n", string(text))
	}
}

// TestMoreThanAreFollowed records 300 containers that print at once. A reader of one waits for no other.
func TestMoreThanAreFollowed(t *testing.T) {
	t.Parallel()
	const pods = 300
	b := limited(t, logs.Limits{Turn: time.Hour}) // what is followed stays so as long as the test takes
	b.many(t, pods)
	b.lines(t, pods, 0) // all of them are known, so that no reader looks for its own again and again
	var wg sync.WaitGroup
	failures := make(chan error, pods)
	for i := range pods {
		wg.Go(func() { failures <- b.hears(t.Context(), fmt.Sprintf("p%d", i)) })
	}
	for i := range pods {
		b.cluster.Print(fmt.Sprintf("p%d", i), "main", "one\ntwo\n")
	}
	wg.Wait()
	for range pods {
		require.NoError(t, <-failures)
	}
	require.Eventually(t, func() bool { _, most := b.cluster.Requests(); return most > 256 }, 5*time.Minute, 10*time.Millisecond,
		"those that are read are followed beside the others")
}

// hears follows a log until it has said two lines.
func (b *bench) hears(ctx context.Context, node string) error {
	for {
		changed, stop := b.Watch("r")
		d, err := b.Open(ctx, logs.Query{RunID: "r", NodeID: node, Follow: true})
		if errors.Is(err, logs.ErrNone) {
			<-changed
			stop()
			continue
		}
		stop()
		if err != nil {
			return err
		}
		defer d.Close()
		for n := int64(0); n < 2; {
			lines, err := d.Next(ctx)
			if err != nil {
				return err
			}
			n = lines[len(lines)-1].Number
		}
		return nil
	}
}

// TestFollowersComeAndGo: a thousand followers hang up at different places and leave nothing behind.
func TestFollowersComeAndGo(t *testing.T) {
	t.Parallel()
	const followers, atOnce = 1000, 100
	b := newBench(t)
	b.cluster.Start(stepPod("p"), "main")
	b.cluster.Print("p", "main", numbered(1, 100))
	b.open(t, logs.Query{}).Close()
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	failures := make(chan error, followers)
	for i := range followers {
		slots <- struct{}{}
		if i%100 == 50 {
			b.cluster.Print("p", "main", numbered(i, i+9))
		}
		wg.Go(func() {
			defer func() { <-slots }()
			failures <- b.follower(t.Context())
		})
	}
	wg.Wait()
	for range followers {
		require.NoError(t, <-failures)
	}
	requests, _ := b.cluster.Requests()
	require.LessOrEqual(t, requests, 4, "a thousand readers cost the kubelet nothing")
	stats, err := b.Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{1, 0}, []int{stats.Live, stats.Waiting})
	b.cluster.End("p")
	b.finish(t, "p")
	require.Zero(t, b.Busy(), "nothing is remembered of a run in which nothing goes on")
	// That no goroutine stays is seen by goleak when the tests end.
}

// follower reads some lines from somewhere and hangs up, by closing or by the end of its context, which it waits for.
func (b *bench) follower(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(30))*time.Millisecond)
	defer cancel()
	d, err := b.Open(ctx, logs.Query{RunID: "r", NodeID: "step", From: rand.Int64N(300) + 1, Follow: true})
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	for range rand.IntN(4) {
		if _, err := d.Next(ctx); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				return nil
			}
			return err
		}
	}
	return nil
}

// TestAttempts: a run that is retried keeps the logs of each attempt, also where the pods have the same name.
func TestAttempts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for attempt := range int64(3) {
		p := stepPod("p")
		p.UID = fmt.Sprint("uid-", attempt)
		b.cluster.Start(p, "main")
		b.cluster.Print("p", "main", fmt.Sprintf("attempt %d\n", attempt+1))
		b.cluster.End("p")
		require.Eventually(t, func() bool {
			key, err := b.Finish(t.Context(), logs.Step{RunID: "r", NodeID: "step", Namespace: "kubeflow", Pod: "p", Attempt: attempt})
			return err == nil && strings.Contains(key, p.UID)
		}, 5*time.Minute, 10*time.Millisecond)
		require.Equal(t, fmt.Sprintf("attempt %d\n", attempt+1), b.read(t, logs.Query{}), "the newest one, unless said")
		b.cluster.Delete("p") // as a retry does
		if attempt == 1 {
			b.kill()
			b.start(t)
		}
		require.NoError(t, b.store.SetStatus(t.Context(), "r", run.Failed, ""))
		require.NoError(t, b.store.Retry(t.Context(), "r", attempt+1, run.Again{Workflow: []byte("{}")}))
	}
	for attempt := int64(1); attempt <= 3; attempt++ {
		require.Equal(t, fmt.Sprintf("attempt %d\n", attempt), b.read(t, logs.Query{Attempt: attempt}))
	}
	require.Equal(t, "attempt 2\n", b.read(t, logs.Query{Previous: true}))
	_, err := b.Open(t.Context(), logs.Query{RunID: "r", NodeID: "step", Attempt: 4})
	require.ErrorIs(t, err, logs.ErrNone)
	list, err := b.List(t.Context(), "r", "step")
	require.NoError(t, err)
	require.Len(t, list, 3)
	for i, l := range list {
		require.Equal(t, []any{int64(i), logs.Whole}, []any{l.Attempt, l.State})
	}
}

// TestStats: what is held, and for how long a line is not safe while the artifact store is away.
func TestStats(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	stats := func() logs.Stats {
		t.Helper()
		s, err := b.Stats(t.Context())
		require.NoError(t, err)
		return s
	}
	b.objects.Break(errors.New("away"))
	require.Zero(t, stats()) // its totals count for a minute
	b.cluster.Start(stepPod("p"), "main")
	b.cluster.Print("p", "main", "hello\n")
	require.Eventually(t, func() bool { return stats().Lag > 0 }, 5*time.Minute, 5*time.Millisecond)
	before := stats()
	require.Equal(t, []any{logs.Totals{}, 1}, []any{before.Totals, before.Live})
	require.GreaterOrEqual(t, stats().Lag, before.Lag, "it grows")
	b.objects.Break(nil)
	require.Eventually(t, func() bool { return stats().Lag == 0 }, 5*time.Minute, 5*time.Millisecond)
	b.cluster.End("p")
	b.finish(t, "p")
	b.kill()
	b.start(t) // what the store says is looked at again
	require.Equal(t, logs.Stats{Totals: logs.Totals{Logs: 1, Parts: 1, Bytes: 6}}, stats())
}
