package series

import (
	"context"
	"encoding/json"
	"time"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/run"
)

const (
	// flushEvery bounds how long a point waits for others to be stored with, and flushSize how many wait.
	flushEvery = 250 * time.Millisecond
	flushSize  = 500
	// markEvery is how often it is kept how far a log was scanned: what was read since is read again after a kill.
	markEvery = 2 * time.Second
)

// writer scans a log and stores its points in groups.
type writer struct {
	store   run.Store
	feed    *run.Feed
	run     string
	node    run.Node
	scan    *scanner
	waiting []run.Point
	grown   bool  // points came since the mark
	marked  int64 // line up to which the store knows the log to be scanned
	at      time.Time
}

// goOn makes a writer that goes on where the last one of the same pod stopped.
func goOn(ctx context.Context, store run.Store, feed *run.Feed, id string, n run.Node) (*writer, error) {
	kept, err := store.Scanned(ctx, id, n.ID, n.PodName)
	if err != nil {
		return nil, err
	}
	var from state
	if len(kept) > 0 {
		if err := json.Unmarshal(kept, &from); err != nil {
			return nil, apierr.New(apierr.Internal, "how far the log of step %s was scanned cannot be read", n.DisplayName).Because(err)
		}
	}
	return &writer{store: store, feed: feed, run: id, node: n, scan: newScanner(n.Scrape, from), marked: from.Read, at: time.Now()}, nil
}

// take scans lines; one that still grows comes again when it is whole.
func (w *writer) take(ctx context.Context, lines []logs.Line) error {
	for _, l := range lines {
		if l.Growing {
			continue
		}
		if w.waiting = append(w.waiting, w.scan.line(l)...); len(w.waiting) >= flushSize {
			if err := w.flush(ctx, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush stores the points that wait, and now and then, or at the end, how far the log was scanned.
func (w *writer) flush(ctx context.Context, end bool) error {
	if len(w.waiting) > 0 {
		added, err := w.store.AddPoints(ctx, w.run, w.node.ID, w.node.PodName, w.waiting)
		if err != nil {
			return err
		}
		w.waiting = w.waiting[:0]
		if added > 0 {
			w.grown = true
			w.feed.Publish(w.run)
		}
	}
	now, between := w.scan.state()
	if !between || now.Read == w.marked || !end && time.Since(w.at) < markEvery {
		return nil
	}
	text, err := json.Marshal(now)
	if err != nil {
		return err
	}
	if err := w.store.SetScanned(ctx, w.run, w.node.ID, w.node.PodName, text, w.grown); err != nil {
		return err
	}
	if w.grown {
		w.feed.Publish(w.run)
	}
	w.marked, w.at, w.grown = now.Read, time.Now(), false
	return nil
}
