package logs

import (
	"bytes"
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/argosy-ml/argosy/server/apierr"
)

// What came is saved after a second, then after longer and longer: with each save the last part is written again.
const (
	firstSave   = time.Second
	maxSave     = 15 * time.Second
	savesAtOnce = 8
)

// saveAll saves now and then what has come, until ctx ends.
func (a *Archive) saveAll(ctx context.Context) error {
	tick := time.NewTicker(firstSave / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-tick.C:
			var g errgroup.Group
			g.SetLimit(savesAtOnce)
			for _, r := range a.live("") {
				if !r.isDue(now) {
					continue
				}
				g.Go(func() error {
					if err := r.save(ctx, false); err != nil && ctx.Err() == nil {
						a.c.Log.Warn("a log could not be saved; will try again", "run", r.of.RunID, "pod", r.of.Pod, "error", err)
					}
					return nil
				})
			}
			_ = g.Wait() // nothing is returned
		}
	}
}

// isDue tells whether there is something to save for long enough.
func (r *recording) isDue(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.log.State != Live || r.open.lines() == r.saved {
		r.due = time.Time{}
		return false
	}
	if r.due.IsZero() {
		r.due = now.Add(r.every)
	}
	return !now.Before(r.due)
}

// save writes the open part as it is now, and, where that is news to it, tells the store. With seal the part is closed
// and the next one begun; only the recording's own goroutine, which adds the lines, may say so.
func (r *recording) save(ctx context.Context, seal bool) error {
	r.saving.Lock()
	defer r.saving.Unlock()
	begun := time.Now()
	r.mu.Lock()
	p, at, l, known := *r.open, r.at, r.log, r.known
	number, saved, over := len(r.parts), r.saved, r.over
	r.mu.Unlock()
	if over { // all of it is saved, or deleted
		return nil
	}
	l.Lines, l.Bytes = p.lines(), p.bytes()
	if t := p.lastAt(); !t.IsZero() {
		l.LastAt = t
	}
	done := l.State != Live
	if !known && !done { // first, so that the store knows every object
		if err := r.a.c.Store.PutLog(ctx, l, nil); err != nil {
			return ignoreDeleted(err)
		}
	}
	if l.Lines > p.first && (l.Lines > saved || seal || done) {
		object := p.object(at, l.State, l.Message)
		if err := r.a.c.Artifacts.Put(ctx, l.Key(number), bytes.NewReader(object), int64(len(object))); err != nil {
			return err
		}
	}
	var closed *Part
	if seal {
		closed = &Part{Number: number, Lines: l.Lines, Bytes: l.Bytes, LastAt: l.LastAt}
	}
	if seal || done {
		err := r.a.c.Store.PutLog(ctx, l, closed)
		if err != nil && apierr.KindOf(err) == apierr.NotFound { // the run was deleted meanwhile
			return r.a.c.Artifacts.Delete(ctx, l.Key(number))
		}
		if err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	state, message := r.log.State, r.log.Message
	r.log, r.known, r.saved, r.due = l, true, l.Lines, time.Time{}
	r.log.State, r.log.Message = state, message // it may have ended meanwhile
	r.every = min(r.every*2, maxSave)
	if r.unsafe = begun; r.open.lines() == r.saved { // else some came meanwhile
		r.unsafe = time.Time{}
	}
	if seal {
		r.parts = append(r.parts, *closed)
		r.open = &part{first: l.Lines, before: l.Bytes}
	}
	return nil
}

// ignoreDeleted passes over what a run's deletion makes of its logs.
func ignoreDeleted(err error) error {
	if err != nil && apierr.KindOf(err) == apierr.NotFound {
		return nil
	}
	return err
}

// load goes on with what an earlier server saved. The object tells more than the row: it is written first.
func (r *recording) load(ctx context.Context) error {
	parts, err := r.a.c.Store.LogParts(ctx, r.of)
	if err != nil {
		return err
	}
	open := &part{}
	s, err := r.a.part(ctx, r.of, len(parts))
	switch missing := err != nil && apierr.KindOf(err) == apierr.NotFound; {
	case err == nil:
		if open, err = s.again(); err != nil {
			return err
		}
	case missing && len(parts) > 0: // the last part was closed, and nothing was saved of the next
		last := parts[len(parts)-1]
		if s, err = r.a.part(ctx, r.of, len(parts)-1); err != nil {
			return err
		}
		open = &part{first: last.Lines, before: last.Bytes}
	case missing: // nothing was saved at all
	default:
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts, r.open, r.at, r.known, r.saved = parts, open, s.Position, true, open.lines()
	if s.State != "" {
		r.log.State, r.log.Message = s.State, s.Message
	}
	r.tell()
	return nil
}

// part reads a part from the artifact store.
func (a *Archive) part(ctx context.Context, l Log, number int) (stored, error) {
	object, err := a.c.Artifacts.Get(ctx, l.Key(number))
	if err != nil {
		return stored{}, err
	}
	defer object.Close()
	return readPart(object)
}
