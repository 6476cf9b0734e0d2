package logs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/logs"
)

// joining opens the logs of the step as they come, until the test says that no more will.
type joining struct {
	*bench
	several *logs.Several
	last    chan struct{}
	stop    func()
}

func (b *bench) joining(follow bool) *joining {
	return &joining{b, b.Several(logs.Query{RunID: "r", NodeID: "step", Follow: follow}, nil), make(chan struct{}), func() {}}
}

func (j *joining) Join(ctx context.Context) ([]logs.Opening, <-chan struct{}, error) {
	j.stop()
	changed, stop := j.Watch("r")
	j.stop = stop
	found, err := j.several.Find(ctx)
	select {
	case <-j.last:
		changed = nil
	default:
	}
	return found, changed, err
}

func (j *joining) Close() { j.stop() }

// rank starts a pod of the step's job, which prints.
func (b *bench) rank(i int, text string) (name string) {
	name = fmt.Sprintf("w%d", i)
	b.cluster.Start(logs.Pod{RunID: "r", NodeID: "step", Namespace: "kubeflow", Name: name, UID: name, Role: "worker", Rank: int64(i)}, "main")
	b.cluster.Print(name, "main", text)
	return name
}

// heard reads so many lines of a merge, each as NAME:NUMBER TEXT.
func heard(t *testing.T, m *logs.Merged, count int) (lines []string) {
	t.Helper()
	for len(lines) < count {
		batch, err := m.Next(t.Context())
		require.NoError(t, err)
		for _, l := range batch {
			lines = append(lines, fmt.Sprintf("%s:%d %s", m.Logs(l.Log)[0].Pod, l.Number, l.Text))
		}
	}
	return lines
}

// TestMergeFollows: a merge gives what the logs hold in the order of time, goes on with each of them, takes in logs that begin later,
// and ends when all have ended and no more will come.
func TestMergeFollows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rank(0, "a1\n")
	b.rank(1, "b1\n")
	b.cluster.Print("w0", "main", "a2\n")
	b.cluster.Print("w1", "main", "b2\nb3 has no end")
	b.cluster.Print("w0", "main", "a3\n")
	b.cluster.End("w0")
	require.Eventually(t, func() bool {
		list, err := b.List(t.Context(), "r", "step")
		return err == nil && len(list) == 2 && list[0].Lines+list[1].Lines == 5
	}, 5*time.Minute, time.Millisecond)
	j := b.joining(true)
	m := logs.Merge(nil, j)
	defer m.Close()
	require.Equal(t, []string{"w0:1 a1", "w1:1 b1", "w0:2 a2", "w1:2 b2", "w0:3 a3"}, heard(t, m, 5))
	b.cluster.Print("w1", "main", " yet\n")
	require.Equal(t, []string{"w1:3 b3 has no end yet"}, heard(t, m, 1), "whole")
	b.rank(2, "c1\n")
	require.Equal(t, []string{"w2:1 c1"}, heard(t, m, 1), "a rank that starts later")
	for i := range 20 { // each is there before the next is printed
		name := fmt.Sprintf("w%d", 1+i%2)
		b.cluster.Print(name, "main", "more\n")
		require.Contains(t, heard(t, m, 1)[0], name)
	}
	b.cluster.Print("w1", "main", "b at last")
	close(j.last)
	b.cluster.End("w1")
	b.cluster.End("w2")
	require.Equal(t, []string{"w1:14 b at last"}, heard(t, m, 1))
	var err error
	for err == nil {
		_, err = m.Next(t.Context())
	}
	require.ErrorIs(t, err, io.EOF)
}

// TestMergeOfAThousand: 1,024 logs are one, in the order of time, with every line once.
func TestMergeOfAThousand(t *testing.T) {
	t.Parallel()
	const ranks, rounds = 1024, 3
	b := limited(t, logs.Limits{Follows: 8})
	for i := range ranks {
		b.rank(i, "begin\n")
	}
	for range rounds {
		for i := range ranks {
			b.cluster.Print(fmt.Sprintf("w%d", i), "main", "step\n")
		}
	}
	for i := range ranks {
		b.cluster.End(fmt.Sprintf("w%d", i))
	}
	require.Eventually(t, func() bool {
		list, err := b.List(t.Context(), "r", "step")
		return err == nil && len(list) == ranks
	}, 5*time.Minute, 10*time.Millisecond)
	found, err := b.Several(logs.Query{RunID: "r", NodeID: "step", Follow: true}, nil).Find(t.Context())
	require.NoError(t, err)
	m := logs.Merge(found, nil)
	defer m.Close()
	last, count := time.Time{}, 0
	for {
		lines, err := m.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		for _, l := range lines {
			require.False(t, l.At.Before(last), "line %d of log %d", l.Number, l.Log)
			last, count = l.At, count+1
		}
	}
	require.Equal(t, ranks*(1+rounds), count)
}

// TestMergeIsFair: a log with many lines keeps none back of another, and a merge ends with its caller.
func TestMergeIsFair(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rank(0, strings.Repeat("chatter\n", 100_000))
	b.rank(1, "quiet\n")
	require.Eventually(t, func() bool {
		list, err := b.List(t.Context(), "r", "step")
		return err == nil && len(list) == 2 && list[0].Lines+list[1].Lines == 100_001
	}, 5*time.Minute, time.Millisecond)
	m := logs.Merge(nil, b.joining(true))
	defer m.Close()
	require.Contains(t, heard(t, m, 1)[0], "w0:1 ")
	b.rank(2, "late\n")
	ctx, cancel := context.WithCancel(t.Context())
	for names := map[string]bool{}; len(names) < 3; {
		lines, err := m.Next(ctx)
		require.NoError(t, err)
		for _, l := range lines {
			names[m.Logs(l.Log)[0].Pod] = true
		}
	}
	cancel()
	_, err := m.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// TestSeveral: logs are chosen by name, also one life of a container, and each is found once.
func TestSeveral(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rank(0, "a\n")
	b.rank(1, "b\n")
	b.cluster.End("w0")
	b.cluster.End("w1")
	b.open(t, logs.Query{Pod: "w0"})
	b.open(t, logs.Query{Pod: "w1"})
	zero, one := int64(0), int64(1)
	of := func(queries ...logs.Query) *logs.Several {
		return b.Several(logs.Query{RunID: "r", NodeID: "step"}, queries)
	}
	s := of(logs.Query{Pod: "w1", Container: "main", Restart: &zero}, logs.Query{Pod: "none"})
	found, err := s.Find(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "none", s.Missing.Pod)
	require.False(t, s.All())
	again, err := s.Find(t.Context())
	require.NoError(t, err)
	require.Empty(t, again)
	m := logs.Merge(found, nil)
	require.Equal(t, []string{"w1:1 b"}, heard(t, m, 1))
	m.Close()
	s = of(logs.Query{Pod: "w1", Restart: &one})
	found, err = s.Find(t.Context())
	require.NoError(t, err)
	require.Empty(t, found)
	require.NotNil(t, s.Missing)
}
