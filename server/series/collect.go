package series

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/run"
)

const (
	// followsAtOnce bounds how many steps are followed; points of the others come when their logs are complete.
	followsAtOnce = 256
	// Pauses between attempts to follow a log that broke off.
	firstPause, lastPause = 200 * time.Millisecond, 10 * time.Second
)

// Config holds what the collector needs; all of it is required.
type Config struct {
	Store run.Store
	Feed  *run.Feed
	// Open follows the log of a node from a line on.
	Open func(ctx context.Context, runID, nodeID string, from int64) (logs.Lines, error)
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
		if ctx.Err() == nil && apierr.KindOf(err) != apierr.NotFound {
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
	_, _ = backoff.Retry(ctx, func() (struct{}, error) {
		err := c.once(ctx, id, n)
		if kind := apierr.KindOf(err); err != nil && (kind == apierr.NotFound || kind == apierr.Aborted) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pause), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, _ time.Duration) {
		c.c.Log.Debug("metrics broke off; will go on", "run", id, "step", n.DisplayName, "error", err)
	}))
}

// once scans the log from where it was left.
func (c *Collector) once(ctx context.Context, id string, n run.Node) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := goOn(ctx, c.c.Store, c.c.Feed, id, n)
	if err != nil {
		return err
	}
	log, err := c.c.Open(ctx, id, n.ID, w.scan.read+1)
	if err != nil {
		return err
	}
	batches := make(chan []logs.Line)
	failed := make(chan error, 1)
	c.wg.Go(func() {
		defer log.Close()
		defer close(batches)
		failed <- pass(ctx, log, batches)
	})
	flush := time.NewTicker(flushEvery)
	defer flush.Stop()
	for {
		select {
		case lines, ok := <-batches:
			if !ok {
				return errors.Join(w.flush(ctx, true), <-failed)
			}
			if err := w.take(ctx, lines); err != nil {
				return err
			}
		case <-flush.C:
			if err := w.flush(ctx, false); err != nil {
				return err
			}
		}
	}
}

// pass gives a log's lines to a channel.
func pass(ctx context.Context, log logs.Lines, to chan<- []logs.Line) error {
	for {
		lines, err := log.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case to <- lines:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Complete scans what is left of the log of a step that has ended, and stores the points that were not seen while it ran. open
// gives the log from a line on.
func Complete(ctx context.Context, store run.Store, feed *run.Feed, id string, n run.Node, open func(from int64) (logs.Lines, error)) error {
	if len(n.Scrape) == 0 {
		return nil
	}
	w, err := goOn(ctx, store, feed, id, n)
	if err != nil {
		return err
	}
	log, err := open(w.scan.read + 1)
	if err != nil {
		return err
	}
	defer log.Close()
	for {
		lines, err := log.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := w.take(ctx, lines); err != nil {
			return err
		}
	}
	if err := w.flush(ctx, true); err != nil || !w.scan.full {
		return err
	}
	return store.AddWarning(ctx, id, fmt.Sprintf("step %s: it printed more than %d values of metrics, or of more than %d metrics and ranks; the rest is in its log alone",
		n.DisplayName, maxPoints, maxCurves))
}
