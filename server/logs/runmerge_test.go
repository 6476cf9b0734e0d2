package logs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/logs"
)

// step runs a pod of one step, which prints so many lines and ends.
func (b *bench) step(t *testing.T, name string, lines int) {
	t.Helper()
	b.cluster.Start(logs.Pod{RunID: "r", NodeID: name, Namespace: "kubeflow", Name: name, UID: name}, "main")
	b.cluster.Print(name, "main", numbered(1, lines))
	b.cluster.End(name)
	_, err := b.Finish(t.Context(), logs.Step{RunID: "r", NodeID: name, Namespace: "kubeflow", Pod: name})
	require.NoError(t, err)
}

// TestRunMergeOpensLogsInTheirTime: the merge of a run whose thousand steps follow each other reads only what it gives, and has at most
// three logs open at once, each with its lines in the order of time.
func TestRunMergeOpensLogsInTheirTime(t *testing.T) {
	t.Parallel()
	const steps, each = 1000, 12 // a step takes 1.2 seconds
	b := newBench(t)
	for i := range steps {
		b.step(t, fmt.Sprintf("s%04d", i), each)
	}
	read := b.objects.Reads()
	found, err := b.Several(logs.Query{RunID: "r"}, nil).Find(t.Context())
	require.NoError(t, err)
	require.Len(t, found, steps)
	require.Equal(t, read, b.objects.Reads(), "to find a log is not to read it")
	m := logs.Merge(found, nil)
	defer m.Close()
	open, count, last := 0, 0, time.Time{}
	for {
		lines, err := m.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if count == 0 {
			require.LessOrEqual(t, b.objects.Reads()-read, 3, "the rest is read when it is wanted")
		}
		open = max(open, m.Held())
		for _, l := range lines {
			require.False(t, l.At.Before(last), "line %d of log %d", l.Number, l.Log)
			last, count = l.At, count+1
		}
	}
	require.Equal(t, steps*each, count)
	require.LessOrEqual(t, open, 3)
	require.Equal(t, steps, len(m.Logs(0)))
}

// TestRunMergeFollowsFew: of many logs that grow at once a merge has a bounded number followed; the others are recorded in their turn,
// and every line comes.
func TestRunMergeFollowsFew(t *testing.T) {
	t.Parallel()
	const pods, follows, asked = 300, 4, 64
	b := limited(t, logs.Limits{Follows: follows, Turn: 20 * time.Millisecond})
	b.many(t, pods)
	for i := range pods {
		b.cluster.Print(fmt.Sprintf("p%d", i), "main", "one\n")
	}
	b.lines(t, pods, 0)
	s := b.Several(logs.Query{RunID: "r", Follow: true}, nil)
	m := logs.Merge(nil, &joining{b, s, make(chan struct{}), func() {}})
	defer m.Close()
	heard(t, m, pods)
	_, most := b.cluster.Requests()
	require.LessOrEqual(t, most, follows+asked)
}

// TestRunMergeWithoutRepeats: the lines of a job's ranks come from these, and no more from the step's own pod once they print.
func TestRunMergeWithoutRepeats(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.step(t, "load", 1)
	b.cluster.Start(stepPod("p"), "main")
	b.cluster.Print("p", "main", "starts a job\n")
	m := logs.Merge(nil, &joining{b, b.Several(logs.Query{RunID: "r", Ranks: true, Follow: true}, nil), make(chan struct{}), func() {}})
	defer m.Close()
	require.Equal(t, []string{"load:1 line 1", "p:1 starts a job"}, heard(t, m, 2))
	b.rank(0, "a\n")
	require.Equal(t, []string{"w0:1 a"}, heard(t, m, 1))
	b.cluster.Print("p", "main", "a\n")
	b.cluster.Print("w0", "main", "b\n")
	require.Equal(t, []string{"w0:2 b"}, heard(t, m, 1))
	b.cluster.End("p")
	b.cluster.End("w0")
	b.finish(t, "p")

	found, err := b.Several(logs.Query{RunID: "r", Ranks: true}, nil).Find(t.Context())
	require.NoError(t, err)
	ended := logs.Merge(found, nil)
	defer ended.Close()
	require.Equal(t, []string{"load:1 line 1", "w0:1 a", "w0:2 b"}, heard(t, ended, 3))
	_, err = ended.Next(context.WithoutCancel(t.Context()))
	require.ErrorIs(t, err, io.EOF)
}
