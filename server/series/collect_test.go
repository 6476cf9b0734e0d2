package series_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/series"
)

// TestCurvesSurviveAnything: points come while a step runs; the collector is stopped and started again, and what was printed
// between two reads is there in the end. Reading continues where it stopped, not from the log's beginning.
func TestCurvesSurviveAnything(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	r := b.Start(t)
	log := &tape{wake: make(chan struct{})}
	config := series.Config{Store: b.Store, Feed: b.Feed, Log: b.Log, Open: func(ctx context.Context, _, _ string, from int64) (logs.Lines, error) {
		return log.open(ctx, from), nil
	}}
	node := run.Node{ID: "n", Name: "n", DisplayName: "fit", Type: "Pod", Phase: run.Running, PodName: "p", Scrape: []string{"loss"}, StartedAt: time.Now()}
	_, err := b.Store.Record(t.Context(), r.ID, run.State{Status: run.Running, Nodes: []run.Node{node}})
	require.NoError(t, err)

	collect := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- series.NewCollector(config).Run(ctx) }()
		return func() { cancel(); require.NoError(t, <-done) }
	}
	until := func(n int) {
		changes := b.Feed.Subscribe(r.ID)
		defer changes.Close()
		for limit := time.After(5 * time.Minute); ; {
			points, err := b.Store.Points(t.Context(), r.ID, 0, 1000)
			require.NoError(t, err)
			if len(points) == n {
				return
			}
			require.Less(t, len(points), n)
			select {
			case <-changes.C():
			case <-limit:
				t.Fatalf("%d points of %d", len(points), n)
			}
		}
	}
	log.print("loss=5\nloss=4\n")
	stop := collect()
	until(2)
	log.print("loss=3\nloss=")
	until(3)
	stop()
	log.print("2\n")
	stop = collect()
	until(4)
	b.Feed.Publish(r.ID)
	stop()
	log.print("loss=1") // an unfinished line, between two reads
	log.end()
	complete := func() {
		require.NoError(t, series.Complete(t.Context(), b.Store, b.Feed, r.ID, node, func(from int64) (logs.Lines, error) {
			return log.open(t.Context(), from), nil
		}))
	}
	complete()
	until(5)
	complete()
	require.Equal(t, int64(6), log.opened[len(log.opened)-1], "there is nothing left to read: %v", log.opened)
	curves, err := series.NewReader(b.Store).Curves(t.Context(), r.ID, series.Query{Name: "loss", Points: 100})
	require.NoError(t, err)
	require.Len(t, curves, 1)
	require.Equal(t, "fit", curves[0].StepName)
	values := []float64{}
	for _, p := range curves[0].Points {
		values = append(values, p.Value)
	}
	require.Equal(t, []float64{5, 4, 3, 2, 1}, values)
}

// TestNothingIsReadAgain: a collector that was broken off at any moment reads on behind what it had noted, and one that ended
// in order behind the last line that it read.
func TestNothingIsReadAgain(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	r := b.Start(t)
	node := run.Node{ID: "n", Name: "n", DisplayName: "fit", Type: "Pod", Phase: run.Running, PodName: "p", Scrape: []string{"loss"}, StartedAt: time.Now()}
	_, err := b.Store.Record(t.Context(), r.ID, run.State{Status: run.Running, Nodes: []run.Node{node}})
	require.NoError(t, err)
	log := &tape{wake: make(chan struct{})}
	complete := func() {
		require.NoError(t, series.Complete(t.Context(), b.Store, b.Feed, r.ID, node, func(from int64) (logs.Lines, error) {
			return log.open(t.Context(), from), nil
		}))
	}
	log.end()
	for i := range 4 {
		log.print(fmt.Sprintf("step %d loss=%d\nand nothing else\n", i+1, i))
		complete()
	}
	require.Equal(t, []int64{1, 3, 5, 7}, log.opened)
	curves, err := series.NewReader(b.Store).Curves(t.Context(), r.ID, series.Query{Name: "loss", Points: 100})
	require.NoError(t, err)
	require.Len(t, curves[0].Points, 4)
	require.Equal(t, int64(4), curves[0].Points[3].Step)
}
