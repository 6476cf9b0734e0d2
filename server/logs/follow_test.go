package logs_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/logs"
)

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
		}, 5*time.Minute, 5*time.Millisecond)
		if round%2 == 0 { // with and without a save before
			require.Eventually(t, func() bool { return b.objects.Keys() > 0 }, 5*time.Minute, 5*time.Millisecond)
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
	}, 5*time.Minute, 10*time.Millisecond)
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
