package notebook

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/argosy-ml/argosy/launcher/scrape"
	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/sdk/draw"
)

// Limits of what a cell shows, and how often it changes.
const (
	tailLines  = 15
	maxLogs    = 64 // steps whose logs are followed: the first of them
	maxCurves  = 14
	maxValues  = 5000 // of a curve; beyond it the older half is thinned out
	redrawTime = 500 * time.Millisecond
)

// watcher gathers what is to be seen of a run.
type watcher struct {
	client *client.Client
	rules  []scrape.Rule
	show   func(page string)

	mu      sync.Mutex
	run     *client.Run
	curves  []draw.Line
	tail    []string
	tailOf  string // the step that wrote last
	changed chan struct{}
}

func newWatcher(c *client.Client, metrics []string, show func(string)) *watcher {
	w := &watcher{client: c, show: show, changed: make(chan struct{}, 1)}
	for _, name := range metrics {
		w.rules = append(w.rules, scrape.Rule{Name: name})
	}
	return w
}

// watch follows the run, and the log of each of its steps, until the run has ended and all logs were read.
func (w *watcher) watch(ctx context.Context, run *client.Run) (*client.Run, error) {
	w.run = run
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var logs, screen sync.WaitGroup
	done := make(chan struct{})
	screen.Go(func() { w.redraw(done) })
	followed := map[string]bool{}
	last, err := w.client.Wait(ctx, run.ID, func(r *client.Run) {
		w.update(func() { w.run = r })
		for _, n := range r.Nodes {
			if n.PodName != "" && !followed[n.ID] && n.Phase != client.Pending && len(followed) < maxLogs {
				followed[n.ID] = true
				logs.Go(func() { w.follow(ctx, r.ID, n) })
			}
		}
	})
	if err != nil {
		cancel() // the logs too
	}
	logs.Wait()
	close(done)
	screen.Wait()
	if last == nil {
		last = run
	}
	return last, err
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

// follow reads the log of a step to its end. A step without one, such as one that never started, has nothing to show.
func (w *watcher) follow(ctx context.Context, runID string, n client.Node) {
	step := n.DisplayName
	scanner := scrape.New(w.rules, scrape.OnPoint(func(p scrape.Point) { w.point(step, p) }))
	for line, err := range w.client.FollowLog(ctx, runID, n.ID) {
		switch {
		case client.IsNotFound(err):
			return
		case err != nil:
			line = "(the log broke off: " + err.Error() + ")"
		}
		w.update(func() {
			if w.tailOf != step {
				w.tail, w.tailOf = nil, step
			}
			w.tail = append(w.tail, line)
			w.tail = w.tail[max(0, len(w.tail)-tailLines):]
			_, _ = scanner.Write([]byte(line + "\n")) // never fails
		})
	}
	w.update(func() { _ = scanner.Close() })
}

// point adds a value to its curve: one for each metric, step and rank. It is called within update.
func (w *watcher) point(step string, p scrape.Point) {
	name := p.Metric + " of " + step
	if p.Rank != scrape.Unranked {
		name += " rank " + strconv.Itoa(p.Rank)
	}
	for i := range w.curves {
		if w.curves[i].Name == name {
			w.curves[i].Values = thin(append(w.curves[i].Values, p.Value))
			return
		}
	}
	if len(w.curves) < maxCurves {
		w.curves = append(w.curves, draw.Line{Name: name, Values: []float64{p.Value}})
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
