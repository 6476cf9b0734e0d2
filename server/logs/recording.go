package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/argosy-ml/argosy/server/apierr"
)

const (
	// settleTime is how long a container has to run before its log is followed: a shorter one is read once, at its end.
	settleTime = time.Second
	// lookAgain is how long after the end of a stream it is waited for word that the container has ended too.
	lookAgain = time.Second
	// A recording that failed is gone on with after a growing pause.
	firstPause = 200 * time.Millisecond
	maxPause   = 10 * time.Second
)

var (
	errFull  = errors.New("the log is as long as may be kept")
	errYield = errors.New("others wait for their turn")
)

// recording brings the log of one container into the archive. Its goroutine is the only one that reads and adds lines;
// the archive's saves what it has now and then, and readers look at it.
type recording struct {
	a       *Archive
	of      Log // whose; only what tells it from others
	noise   func(text []byte, whole bool) bool
	resume  bool          // an earlier server began it
	wake    chan struct{} // something in the second group below changed
	stop    context.CancelFunc
	stopped chan struct{} // closed when the goroutine has ended

	saving sync.Mutex // one save at a time

	mu      sync.Mutex
	log     Log // Lines, Bytes and LastAt are those of the last save
	parts   []Part
	open    *part
	at      position
	rest    *piece        // a line that has no end yet
	changed chan struct{} // closed when there is more to read, or the recording failed or is over
	fresh   bool          // nothing is known of that is not here
	over    bool
	fails   int // so far
	err     error
	known   bool      // the store knows of it
	saved   int64     // lines that are safe
	due     time.Time // of the next save
	unsafe  time.Time // since when there is a line that is not safe; zero: there is none
	every   time.Duration

	// What the cluster says, and who reads.
	started  time.Time
	ended    bool
	gone     bool   // its pod is
	urgent   bool   // its pod is being deleted
	previous bool   // it was restarted, and this is the one before
	missed   bool   // it was restarted more than once
	clean    bool   // the last stream came to its end by itself
	wanted   int    // by readers
	quit     func() // ends the stream that is followed
}

func newRecording(a *Archive, l Log) *recording {
	return &recording{a: a, of: l, log: l, open: &part{}, wake: make(chan struct{}, 1), changed: make(chan struct{}), stopped: make(chan struct{}), every: firstSave}
}

// notify has the goroutine look at what changed.
func (r *recording) notify() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// tell wakes the readers; mu is held.
func (r *recording) tell() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// see notes what the cluster says of the container.
func (r *recording) see(change func()) {
	r.mu.Lock()
	change()
	r.mu.Unlock()
	r.notify()
}

// restarted notes that the container runs again; mu is held. What is left of this life is asked for as the previous one's.
func (r *recording) restarted() {
	r.ended, r.previous = true, true
	if r.quit != nil {
		r.quit()
	}
}

// run records until the log is in, or ctx ends.
func (r *recording) run(ctx context.Context) {
	defer close(r.stopped)
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = firstPause, maxPause
	for {
		lines := r.lines()
		err := r.record(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		if r.lines() > lines {
			pause.Reset()
		}
		r.mu.Lock()
		r.fails, r.err = r.fails+1, err
		fails := r.fails
		r.tell()
		r.mu.Unlock()
		r.a.failed(r.of.RunID)
		wait := pause.NextBackOff()
		r.a.c.Log.Debug("a log will be read on", "run", r.of.RunID, "pod", r.of.Pod, "container", r.of.Container, "failures", fails, "pause", wait, "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		case <-r.wake:
			r.notify() // it may be news for others as well
		}
	}
}

func (r *recording) lines() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open.lines()
}

// record brings the log in to its end.
func (r *recording) record(ctx context.Context) error {
	if r.resume {
		if err := r.load(ctx); err != nil {
			return err
		}
		r.resume = false
	}
	r.mu.Lock()
	state, message := r.log.State, r.log.Message
	r.mu.Unlock()
	if state != Live { // only the store lacks the end
		return r.finish(ctx, state, message)
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	for {
		r.mu.Lock()
		ended, gone, missed, clean := r.ended, r.gone, r.missed, r.clean
		r.mu.Unlock()
		switch {
		case missed:
			return r.finish(ctx, Cut, "the container was restarted again before the rest was read")
		case gone && clean:
			return r.finish(ctx, Whole, "")
		case gone:
			return r.finish(ctx, Cut, "its pod was deleted before the rest was read")
		case ended:
			return r.readRest(ctx)
		}
		if err := r.follow(ctx); errors.Is(err, errFull) {
			return r.finish(ctx, Cut, r.a.tooLong())
		} else if err != nil && !errors.Is(err, errYield) {
			return err
		}
	}
}

// settle waits until the container has run for some time, has ended, or someone wants to read.
func (r *recording) settle(ctx context.Context) error {
	for {
		r.mu.Lock()
		now := r.ended || r.gone || r.urgent || r.missed || r.wanted > 0
		left := settleTime - time.Since(r.started)
		r.mu.Unlock()
		if now || left <= 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(left):
		case <-r.wake:
		}
	}
}

// readRest reads what a container left that has ended.
func (r *recording) readRest(ctx context.Context) error {
	release, err := take(ctx, r.a.reads)
	if err != nil {
		return err
	}
	defer release()
	err = r.read(ctx, false)
	switch kind := apierr.KindOf(err); {
	case err == nil:
		return r.finish(ctx, Whole, "")
	case errors.Is(err, errFull):
		return r.finish(ctx, Cut, r.a.tooLong())
	case kind == apierr.NotFound:
		return r.finish(ctx, Cut, "its pod was deleted before the rest was read")
	case kind == apierr.Invalid: // it never began, or the node has it no more
		if r.lines() == 0 {
			return r.finish(ctx, Whole, "")
		}
		return r.finish(ctx, Cut, "the cluster has the rest no more: "+err.Error())
	}
	return err
}

// tooLong says why a log is cut at its limit.
func (a *Archive) tooLong() string {
	limit, unit := a.c.Limits.Text, "bytes"
	for _, larger := range []string{"KiB", "MiB", "GiB"} {
		if limit%1024 == 0 {
			limit, unit = limit/1024, larger
		}
	}
	return fmt.Sprintf("it is longer than %d %s, and the rest is not kept", limit, unit)
}

func (r *recording) setFresh(fresh bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fresh = fresh
	r.tell()
}

// read reads one stream of the source, from where the last one stopped, to its end.
func (r *recording) read(ctx context.Context, follow bool) error {
	r.mu.Lock()
	at, previous, started := r.at, r.previous, r.started
	full := r.open.full()
	r.mu.Unlock()
	if full { // the last save of it failed
		if err := r.save(ctx, true); err != nil {
			return err
		}
	}
	body, err := r.a.c.Cluster.ReadLog(ctx, ReadRequest{
		Namespace: r.of.Namespace, Pod: r.of.Pod, Container: r.of.Container, Previous: previous, Follow: follow, Since: at.Time,
	})
	if err != nil {
		return err
	}
	defer body.Close()
	f := newFeed(at, started)
	buffer := make([]byte, 32<<10)
	for {
		n, err := body.Read(buffer)
		pieces := f.take(buffer[:n])
		over := errors.Is(err, io.EOF)
		if err := r.add(ctx, pieces, f.at, f.rest(over && !follow)); err != nil {
			return err
		}
		if err != nil {
			r.mu.Lock()
			r.clean = over && follow
			r.mu.Unlock()
		}
		switch {
		case over:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return apierr.New(apierr.Unavailable, "the log broke off: %v", err).Because(err)
		}
	}
}

// add takes in what was read.
func (r *recording) add(ctx context.Context, pieces []piece, at position, rest *piece) error {
	if r.noise != nil {
		kept := pieces[:0]
		for _, p := range pieces {
			if !r.noise(p.text, true) {
				kept = append(kept, p)
			}
		}
		pieces = kept
		if rest != nil && r.noise(rest.text, false) {
			rest = nil
		}
	}
	r.mu.Lock()
	for _, p := range pieces {
		r.open.add(p.at, p.text, p.whole)
	}
	if len(pieces) > 0 && r.unsafe.IsZero() {
		r.unsafe = time.Now()
	}
	news := len(pieces) > 0 || rest != nil
	r.at, r.rest = at, rest
	if news {
		r.tell()
	}
	full, tooLong := r.open.full(), r.open.bytes() >= r.a.c.Limits.Text
	r.mu.Unlock()
	if full {
		if err := r.save(ctx, true); err != nil {
			return err
		}
	}
	if tooLong {
		return errFull
	}
	return nil
}

// finish closes the log.
func (r *recording) finish(ctx context.Context, state, message string) error {
	r.mu.Lock()
	rest, at := r.rest, r.at
	r.mu.Unlock()
	if rest != nil { // a last line without an end counts as one
		if !rest.at.Equal(at.Time) {
			at = position{Time: rest.at}
		}
		at.Lines, at.Pieces = at.Lines+1, 0
		if err := r.add(ctx, []piece{*rest}, at, nil); err != nil && !errors.Is(err, errFull) {
			return err
		}
	}
	r.mu.Lock()
	r.log.State, r.log.Message = state, message
	r.mu.Unlock()
	if err := r.save(ctx, false); err != nil {
		return err
	}
	r.a.forget(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over, r.err = true, nil
	r.tell()
	return nil
}

// now is the log as it is now.
func (r *recording) now() Log {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.log
	l.Lines, l.Bytes = r.open.lines(), r.open.bytes()
	if t := r.open.lastAt(); !t.IsZero() {
		l.LastAt = t
	}
	return l
}
