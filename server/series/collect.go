package series

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/argosy-ml/argosy/server/fault"
	"github.com/argosy-ml/argosy/server/run"
)

const (
	// flushEvery bounds how long a point waits for others to be stored with, and flushSize how many wait.
	flushEvery = 250 * time.Millisecond
	flushSize  = 500
	// followsAtOnce bounds how many steps are followed; points of the others come when their logs are complete.
	followsAtOnce = 256
	// Pauses between attempts to follow a log that broke off.
	firstPause, lastPause = 200 * time.Millisecond, 10 * time.Second
)

// Config holds what the collector needs; all of it is required.
type Config struct {
	Store run.Store
	Feed  *run.Feed
	// Open follows the log of a node from its beginning.
	Open func(ctx context.Context, runID, nodeID string) (io.ReadCloser, error)
	Log  *slog.Logger
}

// Collector stores points while steps run. What it misses, Complete finds.
type Collector struct {
	c     Config
	slots chan struct{}

	wg      sync.WaitGroup
	follows map[string]follow // by run and node; of Run's goroutine
	seen    map[string]int64  // revision of each open run
}

// follow is a step whose log is being read.
type follow struct {
	pod    string
	cancel context.CancelFunc
}

// NewCollector makes a collector; it works while Run runs.
func NewCollector(c Config) *Collector {
	return &Collector{c: c, slots: make(chan struct{}, followsAtOnce), follows: map[string]follow{}, seen: map[string]int64{}}
}

// Run follows the steps that measure until ctx ends, and returns when all its work has stopped.
func (c *Collector) Run(ctx context.Context) error {
	defer c.wg.Wait()
	changes := c.c.Feed.Subscribe("")
	defer changes.Close()
	open, err := c.c.Store.Unsettled(ctx)
	if err != nil && ctx.Err() == nil {
		return err
	}
	for _, r := range open {
		c.look(ctx, r.ID)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changes.C():
		}
		for _, id := range changes.Changed() {
			c.look(ctx, id)
		}
	}
}

// look follows the steps of a run that began, and leaves those that ended to themselves.
func (c *Collector) look(ctx context.Context, id string) {
	d, err := c.c.Store.Delta(ctx, id, c.seen[id], 0)
	if err != nil {
		if ctx.Err() == nil && fault.KindOf(err) != fault.NotFound {
			c.c.Log.Warn("a run's metrics cannot be followed now", "run", id, "error", err)
		}
		delete(c.seen, id)
		return
	}
	if c.seen[id] = d.Run.Revision; d.Run.Settled {
		delete(c.seen, id)
	}
	for _, n := range d.Nodes {
		key := id + "\x00" + n.ID
		f, known := c.follows[key]
		if known && (f.pod != n.PodName || n.Harvested) {
			f.cancel()
			delete(c.follows, key)
			known = false
		}
		if known || len(n.Scrape) == 0 || n.PodName == "" || n.Phase != run.Running {
			continue
		}
		ctx, cancel := context.WithCancel(ctx)
		c.follows[key] = follow{n.PodName, cancel}
		c.wg.Go(func() { c.follow(ctx, id, n) })
	}
}

// follow reads the log of one step until it ends.
func (c *Collector) follow(ctx context.Context, id string, n run.Node) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return
	}
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = firstPause, lastPause
	for {
		err := c.once(ctx, id, n)
		if kind := fault.KindOf(err); err == nil || ctx.Err() != nil || kind == fault.NotFound || kind == fault.Aborted {
			return
		}
		c.c.Log.Debug("metrics broke off; will go on", "run", id, "step", n.DisplayName, "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// once scans the log from its beginning.
func (c *Collector) once(ctx context.Context, id string, n run.Node) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log, err := c.c.Open(ctx, id, n.ID)
	if err != nil {
		return err
	}
	defer log.Close()
	lines := make(chan []byte, 64)
	failed := make(chan error, 1)
	c.wg.Go(func() {
		defer close(lines)
		failed <- eachLine(log, false, func(text []byte) error {
			select {
			case lines <- text:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	s, w := newScanner(n.Scrape), &writer{store: c.c.Store, feed: c.c.Feed, run: id, node: n}
	flush := time.NewTicker(flushEvery)
	defer flush.Stop()
	for {
		select {
		case text, ok := <-lines:
			if !ok {
				return errors.Join(w.flush(ctx), <-failed)
			}
			if err := w.add(ctx, s.line(text, time.Now())); err != nil {
				return err
			}
		case <-flush.C:
			if err := w.flush(ctx); err != nil {
				return err
			}
		}
	}
}

// writer stores points in groups.
type writer struct {
	store   run.Store
	feed    *run.Feed
	run     string
	node    run.Node
	waiting []run.Point
}

func (w *writer) add(ctx context.Context, points []run.Point) error {
	if w.waiting = append(w.waiting, points...); len(w.waiting) < flushSize {
		return nil
	}
	return w.flush(ctx)
}

func (w *writer) flush(ctx context.Context) error {
	if len(w.waiting) == 0 {
		return nil
	}
	added, err := w.store.AddPoints(ctx, w.run, w.node.ID, w.node.PodName, w.waiting)
	if err != nil {
		return err
	}
	w.waiting = w.waiting[:0]
	if added > 0 {
		w.feed.Publish(w.run)
	}
	return nil
}

// Complete scans the whole log of a step that has ended, and stores the points that were not seen while it ran.
func Complete(ctx context.Context, store run.Store, feed *run.Feed, id string, n run.Node, log io.Reader) error {
	if len(n.Scrape) == 0 {
		return nil
	}
	s, w := newScanner(n.Scrape), &writer{store: store, feed: feed, run: id, node: n}
	err := eachLine(log, true, func(text []byte) error { return w.add(ctx, s.line(text, time.Time{})) })
	if err == nil {
		err = w.flush(ctx)
	}
	if err == nil && s.full {
		err = store.AddWarning(ctx, id, fmt.Sprintf("step %s: it printed more than %d values of metrics, or of more than %d metrics and ranks; the rest is in its log alone",
			n.DisplayName, maxPoints, maxCurves))
	}
	return err
}

// maxLine is how much of a line is looked at, in bytes.
const maxLine = 256 << 10

// eachLine calls f with each line, without its end; what is longer than maxLine is cut. A last line that has no end is one
// only of a log that is complete.
func eachLine(from io.Reader, complete bool, f func([]byte) error) error {
	lines := bufio.NewReaderSize(from, 32<<10)
	for {
		var text []byte
		part, err := lines.ReadSlice('\n')
		for {
			text = append(text, part[:min(len(part), max(maxLine-len(text), 0))]...)
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
			part, err = lines.ReadSlice('\n')
		}
		if n := len(text); n > 0 && text[n-1] == '\n' {
			text = text[:n-1]
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err // half a line of a log that broke off is read again
		}
		if err == nil || complete && len(text) > 0 {
			if err := f(text); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}
