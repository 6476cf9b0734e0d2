package eventstream

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

func TestPositions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]position{
		"":                   {},
		"7":                  {revision: 7},
		"7.3":                {revision: 7, seq: 3},
		"7.0.12":             {revision: 7, point: 12},
		"7.0.0.5":            {revision: 7, logs: logPosition{closed: 5}},
		"z_7.3":              {epoch: 35, revision: 7, seq: 3},
		"7.0.12.5.1z:a,2:-1": {revision: 7, point: 12, logs: logPosition{closed: 5, open: map[uint64]int64{71: 10, 2: -1}}},
	} {
		got, err := parsePosition(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		again, err := parsePosition(got.String())
		require.NoError(t, err, text)
		require.Equal(t, want, again, text)
	}
	require.Equal(t, "7", position{revision: 7}.String(), "as it was when ids were revisions")
	for _, text := range []string{"x", "-1", "1.2.3.4.5.6", "1.2.3.4.", "1.2.3.4.a", "1.2.3.4.a:-2", "1..2", "_7", "0_7", "-z_7", "z_", "a_b_7"} {
		_, err := parsePosition(text)
		require.Equal(t, apierr.Invalid, apierr.KindOf(err), text)
	}
}

func FuzzPosition(f *testing.F) {
	f.Add("7.0.12.5.1z:a,2:-1")
	f.Add("3k_7.1")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePosition(text)
		if err != nil {
			return
		}
		again, err := parsePosition(p.String())
		require.NoError(t, err)
		require.Equal(t, p, again)
	})
}

// still is a store without changes.
type still struct{ run.Store }

func (still) Now(context.Context) (run.Clock, error) { return run.Clock{Revision: 1}, nil }

func (still) Delta(context.Context, string, int64, int64) (run.Delta, error) {
	return run.Delta{Run: run.Run{ID: "r", Revision: 1}}, nil
}

func (still) Changed(context.Context, run.Mark, int) ([]run.Change, run.Mark, error) {
	return nil, run.Mark{Revision: 1}, nil
}

func (still) Matching(context.Context, []string, []listing.Predicate, run.Scope) ([]run.Run, error) {
	return nil, nil
}

// TestBeats waits for a minute of made-up time.
func TestBeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		feed := &run.Feed{}
		w := New(Config{Store: still{}, Runs: run.NewService(run.Config{Feed: feed}), Log: slog.New(slog.DiscardHandler)})
		for name, follow := range map[string]func(context.Context, func(Event) error) error{
			"one": func(ctx context.Context, send func(Event) error) error {
				return w.Run(ctx, "r", Options{Beat: 15 * time.Second}, send)
			},
			"all": func(ctx context.Context, send func(Event) error) error {
				return w.Runs(ctx, Filter{Beat: 15 * time.Second}, send)
			},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Second)
			var beats []time.Duration
			begin := time.Now()
			err := follow(ctx, func(e Event) error {
				if e.Beat() {
					beats = append(beats, time.Since(begin))
				}
				return nil
			})
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded, name)
			require.Equal(t, []time.Duration{15 * time.Second, 30 * time.Second, 45 * time.Second, time.Minute}, beats, name)
		}
	})
}
