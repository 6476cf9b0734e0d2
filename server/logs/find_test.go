package logs_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/logs"
)

// script is a log whose lines come in portions.
type script [][]logs.Line

func (s *script) Next(ctx context.Context) ([]logs.Line, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(*s) == 0 {
		return nil, io.EOF
	}
	next := (*s)[0]
	*s = (*s)[1:]
	return next, nil
}

func (s *script) Close() {}

func TestFind(t *testing.T) {
	t.Parallel()
	line := func(n int64, text string) logs.Line { return logs.Line{Number: n, Text: []byte(text)} }
	log := func() *script {
		return &script{
			{line(1, "Loss: 3"), line(2, "\x1b[31mLO\x1b[0mSS is red"), line(3, "none")},
			{line(4, "loss 10%\rsaved"), line(5, "STRAẞE Loss"), line(6, "glossy\r")},
			{{Number: 7, Text: []byte("loss"), Partial: true, Growing: true}},
		}
	}
	for _, c := range []struct {
		text       string
		skip, most int64
		want       logs.Found
	}{
		{"loss", 0, 10, logs.Found{Total: 5, Lines: []int64{1, 2, 5, 6, 7}, Searched: 7}},
		{"LOSS", 1, 2, logs.Found{Total: 5, Lines: []int64{2, 5}, Searched: 7}},
		{"loss", 9, 2, logs.Found{Total: 5, Lines: []int64{}, Searched: 7}},
		{"straße", 0, 9, logs.Found{Total: 1, Lines: []int64{5}, Searched: 7}},
		{"31m", 0, 9, logs.Found{Lines: []int64{}, Searched: 7}},
	} {
		found, err := logs.Find(t.Context(), log(), logs.Wanted{Text: c.text}, c.skip, c.most)
		require.NoError(t, err)
		require.Equal(t, c.want, found, c.text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := logs.Find(ctx, log(), logs.Wanted{Text: "loss"}, 0, 1)
	require.ErrorIs(t, err, context.Canceled)
}

// opened are logs that wait to be read.
func opened(all ...logs.Lines) (openings []logs.Opening) {
	for _, log := range all {
		openings = append(openings, logs.Opening{Open: func(context.Context) (logs.Lines, error) { return log, nil }})
	}
	return openings
}

func TestFindIn(t *testing.T) {
	t.Parallel()
	line := func(n, second int64, text string) logs.Line {
		return logs.Line{Number: n, At: time.Unix(second, 0), Text: []byte(text)}
	}
	all := func() *logs.Merged {
		return logs.Merge(opened(
			&script{{line(1, 10, "loss 3"), line(2, 40, "step")}, {line(3, 40, "loss 1")}},
			&script{},
			&script{{line(1, 5, "LOSS 4"), line(2, 10, "loss 2")}, {{Number: 3, At: time.Unix(20, 0), Text: []byte("loss"), Partial: true, Growing: true}}},
		), nil)
	}
	found, err := logs.FindIn(t.Context(), all(), logs.Wanted{Text: "loss"}, 0, 10)
	require.NoError(t, err)
	require.Equal(t, logs.FoundIn{Total: 5, Places: []logs.Place{{2, 1}, {0, 1}, {2, 2}, {2, 3}, {0, 3}}, Searched: 6}, found)
	found, err = logs.FindIn(t.Context(), all(), logs.Wanted{Text: "loss"}, 1, 2)
	require.NoError(t, err)
	require.Equal(t, logs.FoundIn{Total: 5, Places: []logs.Place{{0, 1}, {2, 2}}, Searched: 6}, found)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = logs.FindIn(ctx, all(), logs.Wanted{Text: "loss"}, 0, 1)
	require.ErrorIs(t, err, context.Canceled)
}

// TestFindErrors: lines that tell of an error are found, and those that tell of none are not.
func TestFindErrors(t *testing.T) {
	t.Parallel()
	texts := []string{
		"errors: 0", "no error so far", "Error: 0 of 5", "step error=0", "erroneous", "terrors", "panicked? no", // of none
		"ValueError: x", "[1,0]<stderr>:x.py: error: no such choice", "Traceback (most recent call last):", "\x1b[31mFATAL\x1b[0m: out of memory",
		"java.lang.NullPointerException", "error: 05 is no number", "no error, then an error", "OOMKilled",
	}
	var lines []logs.Line
	for i, text := range texts {
		lines = append(lines, logs.Line{Number: int64(i + 1), Text: []byte(text)})
	}
	found, err := logs.Find(t.Context(), &script{lines}, logs.Wanted{Errors: true}, 0, 100)
	require.NoError(t, err)
	require.Equal(t, []int64{8, 9, 10, 11, 12, 13, 14, 15}, found.Lines)
}
