// Package eventstream provides changes of runs as events that a client can resume: each event has an id, and a client that returns with the
// id of its last event gets every later event once. Everything is read from the store and the logs, so ids stay valid across restarts of
// the server.
package eventstream

import (
	"context"
	"log/slog"
	"time"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
)

const (
	// pause is the least time between two events of one run for a watcher, which then gets the run as it is.
	pause = 100 * time.Millisecond
	// batch is how many runs or points one read of the store brings.
	batch = 100
)

// Event is one thing that happened. Exactly one of its parts is set, or none in a beat.
type Event struct {
	ID      string     // where to go on after this event; empty for beats and for what comes before the first id
	Run     *run.Delta // a run as it is now, with the nodes that changed since the event before
	Log     *Lines
	Points  []run.Point
	Removed string // id of a run that is gone, or that the filter keeps no longer
	Ready   bool   // every later change becomes an event
	Reset   bool   // earlier changes are lost: read the lists again
	End     bool   // nothing more will come
}

// Beat tells an event that only says that the connection is alive.
func (e Event) Beat() bool {
	return e.ID == "" && e.Run == nil && e.Log == nil && e.Points == nil && e.Removed == "" && !e.Ready && !e.Reset && !e.End
}

// Lines are lines of a step's log.
type Lines struct {
	RunID, NodeID string
	First         int64 // number of the first line, from 0
	Lines         []string
	Ended         bool // the log is complete with these
}

// Config holds what the watcher needs; all of it is required.
type Config struct {
	Store run.Store
	Runs  *run.Service
	Log   *slog.Logger
}

// Watcher gives events to any number of callers. It keeps nothing between calls.
type Watcher struct{ c Config }

// New makes a watcher.
func New(c Config) *Watcher { return &Watcher{c: c} }

// Options choose which parts of a run to watch.
type Options struct {
	After    string        // id of the event to go on after; empty: from the beginning
	Whole    bool          // give all nodes with each event, not only those that changed
	Points   bool          // metric points too
	Logs     bool          // log lines too
	LogNodes []string      // only of these steps; empty: of all
	Beat     time.Duration // after so long without an event, a beat is sent; 0: never
}

// Run sends the events of one run until the run has ended and all are sent, ctx ends, or send fails. With the id of an earlier event it
// continues after that event.
func (w *Watcher) Run(ctx context.Context, id string, o Options, send func(Event) error) error {
	changes := w.c.Runs.Reader.Subscribe(id) // before the first look, so that no change falls between
	defer changes.Close()
	at, lost, _, err := w.position(ctx, o.After)
	if err != nil {
		return err
	}
	f := &follower{Watcher: w, o: o, id: id, at: at, reset: lost, send: send}
	if o.Logs {
		f.logs = newTails(ctx, w, id, o.LogNodes, at.logs)
		defer f.logs.stop()
	}
	return f.follow(ctx, changes)
}

// follower is one call of Run.
type follower struct {
	*Watcher
	o     Options
	id    string
	at    position // what has been sent
	reset bool     // the caller's position means nothing any more
	send  func(Event) error
	logs  *tails // nil: not asked for
}

func (f *follower) follow(ctx context.Context, changes *run.Subscription) error {
	beat := newBeat(f.o.Beat)
	defer beat.stop()
	var chunks <-chan chunk
	if f.logs != nil {
		chunks = f.logs.chunks
	}
	for first := true; ; first = false {
		settled, err := f.round(ctx, first)
		if err != nil && !first && apierr.KindOf(err) == apierr.NotFound {
			return f.send(Event{End: true}) // it was deleted
		}
		if err != nil {
			return err
		}
		if settled && (f.logs == nil || f.logs.complete()) {
			return f.send(Event{End: true})
		}
		// A change is answered after the pause; lines pass at once.
		hold, wake := time.NewTimer(pause), (<-chan struct{})(nil)
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				hold.Stop()
				return ctx.Err()
			case <-hold.C:
				wake = changes.C()
			case <-wake:
				changes.Changed()
				waiting = false
			case c := <-chunks:
				beat.reset()
				err = f.lines(c)
				waiting = !settled || !f.logs.complete()
			case <-beat.c:
				beat.reset()
				err = f.send(Event{})
			}
			if err != nil {
				hold.Stop()
				return err
			}
		}
		hold.Stop()
	}
}

// round sends what changed since the last one.
func (f *follower) round(ctx context.Context, first bool) (settled bool, err error) {
	after := f.at.revision
	if f.o.Whole {
		after = 0
	}
	d, err := f.c.Store.Delta(ctx, f.id, after, 0)
	if err != nil {
		return false, err
	}
	if f.reset {
		f.reset = false
		if err := f.send(Event{Reset: true}); err != nil {
			return false, err
		}
	}
	if d.Run.Revision != f.at.revision {
		f.at.revision = d.Run.Revision
		if err := f.send(Event{ID: f.at.String(), Run: &d}); err != nil {
			return false, err
		}
	} else if first { // the caller learns that it is heard
		if err := f.send(Event{}); err != nil {
			return false, err
		}
	}
	if f.o.Points {
		if err := f.points(ctx); err != nil {
			return false, err
		}
	}
	if f.logs != nil {
		if err := f.logs.look(ctx, first, d); err != nil {
			return false, err
		}
	}
	return d.Run.Settled, nil
}

// points sends the points that came since the last ones.
func (f *follower) points(ctx context.Context) error {
	for {
		points, err := f.c.Store.Points(ctx, f.id, f.at.point, batch)
		if err != nil || len(points) == 0 {
			return err
		}
		f.at.point = points[len(points)-1].N
		if err := f.send(Event{ID: f.at.String(), Points: points}); err != nil || len(points) < batch {
			return err
		}
	}
}

// lines sends what a tail has read.
func (f *follower) lines(c chunk) error {
	if c.err != nil {
		return c.err
	}
	f.at.logs = f.logs.take(c)
	return f.send(Event{ID: f.at.String(), Log: &c.Lines})
}

// Filter says which runs are to be watched.
type Filter struct {
	Scope     run.Scope
	Predicate []listing.Predicate
	After     string
	Nodes     bool // with the nodes that changed
	Points    bool
	Beat      time.Duration
}

// Runs sends changes of all runs that pass the filter, from now on or after the event with the given id, until ctx ends or send fails. It
// first sends Ready: a list read after Ready, together with the events, is complete.
func (w *Watcher) Runs(ctx context.Context, o Filter, send func(Event) error) error {
	if _, err := w.c.Store.Matching(ctx, []string{""}, o.Predicate, o.Scope); err != nil { // of no run: is the filter one?
		return err
	}
	changes := w.c.Runs.Reader.Subscribe("")
	defer changes.Close()
	at, lost, now, err := w.position(ctx, o.After)
	if err != nil {
		return err
	}
	if lost || o.After == "" {
		at = position{epoch: now.Epoch, revision: now.Revision, point: now.Point}
	}
	if lost {
		if err := send(Event{ID: at.String(), Reset: true}); err != nil {
			return err
		}
	}
	if err := send(Event{ID: at.String(), Ready: true}); err != nil {
		return err
	}
	beat := newBeat(o.Beat)
	defer beat.stop()
	for {
		if at, err = w.changed(ctx, o, at, send); err != nil {
			return err
		}
		hold, wake := time.NewTimer(pause), (<-chan struct{})(nil)
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				hold.Stop()
				return ctx.Err()
			case <-hold.C:
				wake = changes.C()
			case <-wake:
				changes.Changed()
				waiting = false
			case <-beat.c:
				beat.reset()
				if err := send(Event{}); err != nil {
					hold.Stop()
					return err
				}
			}
		}
		hold.Stop()
	}
}

// position reads the id of an event. It is lost, and the beginning given, where the store is another one than it was, or no
// longer knows what was removed since.
func (w *Watcher) position(ctx context.Context, id string) (at position, lost bool, now run.Clock, err error) {
	if at, err = parsePosition(id); err != nil {
		return at, false, now, err
	}
	if now, err = w.c.Store.Now(ctx); err != nil {
		return at, false, now, err
	}
	begin := position{epoch: now.Epoch}
	switch {
	case id == "":
		return begin, false, now, nil
	case at.epoch != now.Epoch, at.revision > now.Revision, at.point > now.Point, at.revision < now.Revision-run.KeptRemovals:
		return begin, true, now, nil
	}
	return at, false, now, nil
}

// changed sends what changed since a position, and gives the new one.
func (w *Watcher) changed(ctx context.Context, o Filter, at position, send func(Event) error) (position, error) {
	for more := true; more; {
		found, seen, err := w.c.Store.Changed(ctx, at.mark(), batch)
		if err != nil {
			return at, err
		}
		more = seen.Seq != 0
		kept, err := w.kept(ctx, o, found)
		if err != nil {
			return at, err
		}
		before := at.revision
		for i, c := range found {
			// If many runs changed at once, the id names the last that was sent.
			at.revision, at.seq = c.Revision, c.Seq
			if i+1 < len(found) && found[i+1].Revision != c.Revision || i+1 == len(found) && !more {
				at.seq = 0
			}
			e, ok := kept[c.RunID]
			if c.Removed {
				e, ok = Event{Removed: c.RunID}, true
			}
			if ok && e.Run != nil && o.Nodes {
				d, err := w.c.Store.Delta(ctx, c.RunID, before, c.Revision)
				if err != nil && apierr.KindOf(err) == apierr.NotFound {
					continue // an event for its removal follows
				}
				if err != nil {
					return at, err
				}
				e.Run = &d
			}
			if !ok {
				continue
			}
			e.ID = at.String()
			if err := send(e); err != nil {
				return at, err
			}
		}
		at.revision, at.seq = seen.Revision, seen.Seq
	}
	for o.Points {
		points, err := w.c.Store.Points(ctx, "", at.point, batch)
		if err != nil || len(points) == 0 {
			return at, err
		}
		at.point = points[len(points)-1].N
		if err := send(Event{ID: at.String(), Points: points}); err != nil || len(points) < batch {
			return at, err
		}
	}
	return at, nil
}

// kept returns the events to send for changed runs. A run in the scope that passes the filter keeps its event; one that the filter
// drops becomes a removal. Events outside the scope are left out.
func (w *Watcher) kept(ctx context.Context, o Filter, changed []run.Change) (map[string]Event, error) {
	var ids []string
	for _, c := range changed {
		if !c.Removed {
			ids = append(ids, c.RunID)
		}
	}
	kept := make(map[string]Event, len(ids))
	if len(o.Predicate) > 0 {
		inside, err := w.c.Store.Matching(ctx, ids, nil, o.Scope)
		if err != nil {
			return nil, err
		}
		for _, r := range inside {
			kept[r.ID] = Event{Removed: r.ID}
		}
	}
	runs, err := w.c.Store.Matching(ctx, ids, o.Predicate, o.Scope)
	for _, r := range runs {
		kept[r.ID] = Event{Run: &run.Delta{Run: r}}
	}
	return kept, err
}

// beat fires after a while without an event.
type beat struct {
	every time.Duration
	timer *time.Timer
	c     <-chan time.Time
}

func newBeat(every time.Duration) *beat {
	if every <= 0 {
		return &beat{}
	}
	t := time.NewTimer(every)
	return &beat{every, t, t.C}
}

func (b *beat) reset() {
	if b.timer != nil {
		b.timer.Reset(b.every)
	}
}

func (b *beat) stop() {
	if b.timer != nil {
		b.timer.Stop()
	}
}
