package notebook

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/sdk/draw"
)

// Limits of what a cell shows, and how often it changes.
const (
	tailLines  = 15
	maxCurves  = 14
	maxValues  = 5000 // of a curve; beyond it the older half is thinned out
	redrawTime = 500 * time.Millisecond
)

// watcher gathers what is to be seen of a run.
type watcher struct {
	client  *client.Client
	metrics []string // whose curves are drawn; empty: of all
	show    func(page string)

	mu      sync.Mutex
	run     *client.Run
	curves  []draw.Line
	tail    []string
	tailOf  string // the step that wrote last
	changed chan struct{}
}

func newWatcher(c *client.Client, metrics []string, show func(string)) *watcher {
	return &watcher{client: c, metrics: metrics, show: show, changed: make(chan struct{}, 1)}
}

// watch follows the run, the logs of its steps and the values that they print, until nothing more will come.
func (w *watcher) watch(ctx context.Context, run *client.Run) (*client.Run, error) {
	w.run = run
	var screen sync.WaitGroup
	defer screen.Wait()
	done := make(chan struct{})
	defer close(done)
	screen.Go(func() { w.redraw(done) })
	for e, err := range w.client.Runs.Events(ctx, run.ID, client.EventOptions{Logs: true, Points: true}) {
		if err != nil {
			return w.run, err
		}
		w.update(func() { w.take(e) })
	}
	return w.run, nil
}

// take takes an event. It is called within update.
func (w *watcher) take(e client.Event) {
	switch {
	case e.Reset:
		w.curves, w.tail, w.tailOf = nil, nil, ""
	case e.Run != nil:
		w.run = e.Run
	case e.Log != nil:
		if step := w.run.Step(e.Log.NodeID); w.tailOf != step && len(e.Log.Lines) > 0 {
			w.tail, w.tailOf = nil, step
		}
		w.tail = append(w.tail, e.Log.Lines...)
		w.tail = w.tail[max(0, len(w.tail)-tailLines):]
	}
	for _, p := range e.Points {
		w.point(p)
	}
}

// update changes what is seen, and has it drawn.
func (w *watcher) update(change func()) {
	w.mu.Lock()
	change()
	w.mu.Unlock()
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// redraw shows the page after changes, but not all the time.
func (w *watcher) redraw(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-w.changed:
		}
		w.mu.Lock()
		run := w.run
		w.mu.Unlock()
		w.show(w.page(run))
		select {
		case <-done:
			return
		case <-time.After(redrawTime):
		}
	}
}

// point adds a value to its curve: one for each metric, step and rank.
func (w *watcher) point(p client.Point) {
	if p.Value == nil || len(w.metrics) > 0 && !slices.Contains(w.metrics, p.Name) {
		return
	}
	name := p.Name + " of " + w.run.Step(p.NodeID)
	if p.Rank != client.Unranked {
		name += " rank " + strconv.Itoa(p.Rank)
	}
	for i := range w.curves {
		if w.curves[i].Name == name {
			c := &w.curves[i]
			c.Steps, c.Values = thin(append(c.Steps, float64(p.Step))), thin(append(c.Values, *p.Value))
			return
		}
	}
	if len(w.curves) < maxCurves {
		w.curves = append(w.curves, draw.Line{Name: name, Steps: []float64{float64(p.Step)}, Values: []float64{*p.Value}})
	}
}

// thin leaves every other value out of a curve that has grown too long.
func thin(values []float64) []float64 {
	if len(values) <= maxValues {
		return values
	}
	kept := values[:0]
	for i := 0; i < len(values); i += 2 {
		kept = append(kept, values[i])
	}
	return kept
}
