package logs

import (
	"context"
	"io"
	"slices"
	"sort"
	"time"

	"github.com/argosy-ml/argosy/server/apierr"
)

// Query chooses the log of a step and the part to read. At most one of From, Tail, Around and Since is set; without any
// a log is read from its beginning.
type Query struct {
	RunID, NodeID string
	Pod           string // empty: the step's own, the newest
	Container     string // empty: main, or the only one of its kind
	Attempt       int64  // of the run, from 1; 0: the newest
	Previous      bool   // the log before the one that is meant
	From          int64  // first line, from 1
	Tail          *int64 // as many of the last lines
	Around        int64  // a line, with as many before it as after it; Lines must be set
	Since         time.Time
	Restart       *int64 // of the container; nil: the newest
	Ranks         bool   // of all logs of a step: those of its distributed job's pods alone
	Lines         int64  // at most so many; 0: all
	Follow        bool   // go on until the container has ended
}

// Check tells what is wrong with a query.
func (q Query) Check() error {
	set := 0
	for _, is := range []bool{q.From != 0, q.Tail != nil, q.Around != 0, !q.Since.IsZero()} {
		if is {
			set++
		}
	}
	switch {
	case set > 1:
		return apierr.New(apierr.Invalid, "give one of from, tail, around and since")
	case q.From < 0 || q.Around < 0 || q.Lines < 0 || q.Attempt < 0 || q.Tail != nil && *q.Tail < 0:
		return apierr.New(apierr.Invalid, "lines and attempts are counted from 1")
	case q.Around > 0 && q.Lines == 0:
		return apierr.New(apierr.Invalid, "around needs lines: how many to give")
	case q.Around > 0 && q.Follow:
		return apierr.New(apierr.Invalid, "what lies around a line cannot be followed")
	}
	return nil
}

// choose gives the index of the log that is meant, below zero when there is none.
func (q Query) choose(list []Log) int {
	var fits []int
	for i, l := range list {
		if q.Attempt > 0 && l.Attempt != q.Attempt-1 || q.Container != "" && l.Container != q.Container || q.Restart != nil && l.Restart != *q.Restart {
			continue
		}
		switch {
		case q.Pod != "" && l.Pod != q.Pod, q.Pod == "" && l.Role != "":
			continue
		case q.Pod == "" && q.Container == "" && l.Container != Main:
			continue
		}
		fits = append(fits, i)
	}
	if q.Pod != "" && q.Container == "" { // main, else what began last
		mains := slices.DeleteFunc(slices.Clone(fits), func(i int) bool { return list[i].Container != Main })
		if len(mains) > 0 {
			fits = mains
		} else if len(fits) > 0 {
			last := list[fits[len(fits)-1]].Container
			fits = slices.DeleteFunc(fits, func(i int) bool { return list[i].Container != last })
		}
	}
	n := len(fits) - 1
	if q.Previous {
		n--
	}
	if n < 0 {
		return -1
	}
	return fits[n]
}

// ErrNone: there is no such log, or not yet.
var ErrNone = apierr.New(apierr.NotFound, "there is no such log")

// Reader gives a log in pieces. It is for one goroutine, and must be closed.
type Reader struct {
	a      *Archive
	log    Log
	r      *recording // nil: the log is in
	parts  []Part
	asks   bool // its recording follows it at once
	follow bool
	next   int64 // number of the line to be given next
	end    int64 // and that of the one before which it ends; 0: none
	since  time.Time
	most   int64 // lines, from the first that is not too old
	shown  int   // bytes of the next line, which is not whole, that were given

	number int     // of the part that was read last
	cached *stored // that part
	lean   bool    // it is not kept in memory

	// Of the recording's tail: its first line, and where the line at begins, for the next look.
	tail, at int64
	offset   int
}

// Open finds a log. It waits for none: ErrNone is also what one gets that will come.
func (a *Archive) Open(ctx context.Context, q Query) (*Reader, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	list, recordings, err := a.list(ctx, q.RunID, q.NodeID)
	if err != nil {
		return nil, err
	}
	i := q.choose(list)
	if i < 0 {
		return nil, ErrNone
	}
	d, err := a.reader(ctx, list[i], recordings[i], q)
	if err != nil {
		return nil, err
	}
	d.ask()
	if !d.follow {
		limit := time.NewTimer(catchPatience)
		defer limit.Stop()
		if err := d.catchUp(ctx, limit.C); err != nil {
			d.Close()
			return nil, err
		}
	}
	d.seek(q)
	return d, nil
}

// reader makes one.
func (a *Archive) reader(ctx context.Context, l Log, r *recording, q Query) (*Reader, error) {
	d := &Reader{a: a, log: l, r: r, follow: q.Follow, since: q.Since, next: 1}
	if r == nil {
		return d, d.load(ctx)
	}
	return d, nil
}

// ask has a log that is live recorded on at once, and not in its turn.
func (d *Reader) ask() {
	if r := d.r; r != nil && !d.asks {
		d.asks = true
		r.see(func() { r.wanted++ })
	}
}

// load reads the state of a log that is not being recorded. A live one continues: the server has just begun,
// or the cluster does not answer. Until then what was saved of it can be read, but not followed.
func (d *Reader) load(ctx context.Context) (err error) {
	if d.parts, err = d.a.c.Store.LogParts(ctx, d.log); err != nil || d.log.State != Live {
		return err
	}
	if d.follow {
		return ErrNone
	}
	s, err := d.a.part(ctx, d.log, len(d.parts))
	if err != nil {
		if apierr.KindOf(err) == apierr.NotFound { // nothing was saved behind the closed parts
			err = nil
		}
		return err
	}
	d.log.Lines = s.First
	for _, c := range s.Chunks {
		d.log.Lines += c.Lines
	}
	return nil
}

// seek works out the first line and the last.
func (d *Reader) seek(q Query) {
	lines := d.Log().Lines
	switch {
	case q.From > 0:
		d.next = q.From
	case q.Tail != nil:
		d.next = max(1, lines-*q.Tail+1)
	case q.Around > 0:
		d.next = max(1, q.Around-q.Lines/2)
	case !q.Since.IsZero():
		parts := d.parts
		if d.r != nil {
			d.r.mu.Lock()
			parts = d.r.parts
			d.r.mu.Unlock()
		}
		n := sort.Search(len(parts), func(i int) bool { return !parts[i].LastAt.Before(q.Since) })
		if n > 0 {
			d.next = parts[n-1].Lines + 1
		}
	}
	if d.most = q.Lines; d.most > 0 && q.Since.IsZero() {
		d.end = d.next + d.most
	}
}

// catchPatience bounds how long a reader waits for what a container has printed so far.
const catchPatience = 10 * time.Second

// catchUp waits until the recording has what there is.
func (d *Reader) catchUp(ctx context.Context, limit <-chan time.Time) error {
	r := d.r
	if r == nil {
		return nil
	}
	r.mu.Lock()
	fails := r.fails
	r.mu.Unlock()
	for {
		r.mu.Lock()
		ready, changed, failed, err := r.fresh || r.over, r.changed, r.fails > fails, r.err
		r.mu.Unlock()
		switch {
		case ready:
			return nil
		case failed && r.lines() == 0:
			return err
		case failed: // what is there must do
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-limit:
			return nil
		}
	}
}

// Log is what is read, as it is now.
func (d *Reader) Log() Log {
	if d.r != nil {
		return d.r.now()
	}
	return d.log
}

// Close lets go of the log; it may be called twice.
func (d *Reader) Close() {
	d.cached = nil
	if r := d.r; r != nil {
		d.log, d.r = r.now(), nil
		if d.asks {
			r.see(func() { r.wanted-- })
		}
	}
}

// Next gives the lines that come next, at least one, and io.EOF when there are no more. When it follows a log it waits
// for them. A line that is not whole yet is given as it grows, marked as Partial and under the same number.
func (d *Reader) Next(ctx context.Context) ([]Line, error) {
	for {
		lines, changed, err := d.now(ctx)
		if err != nil || len(lines) > 0 {
			return lines, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

// now is Next without waiting: it gives lines, or a channel that is closed when there may be some.
func (d *Reader) now(ctx context.Context) ([]Line, <-chan struct{}, error) {
	for {
		if d.end > 0 && d.next >= d.end {
			return nil, nil, io.EOF
		}
		lines, changed, err := d.look(ctx)
		if err != nil {
			return nil, nil, err
		}
		if lines = d.trim(lines); len(lines) > 0 || changed != nil {
			return lines, changed, nil
		}
	}
}

// whole is now without lines that have no end yet.
func (d *Reader) whole(ctx context.Context) ([]Line, <-chan struct{}, error) {
	for {
		lines, changed, err := d.now(ctx)
		if n := len(lines); n > 0 && lines[n-1].Growing {
			if lines = lines[:n-1]; n == 1 {
				continue
			}
		}
		return lines, changed, err
	}
}

// look gives what there is from the next line on, or a channel to wait for more.
func (d *Reader) look(ctx context.Context) ([]Line, <-chan struct{}, error) {
	if d.r == nil {
		if d.next > d.log.Lines {
			return nil, nil, io.EOF
		}
		lines, err := d.stored(ctx, d.parts)
		return lines, nil, err
	}
	d.r.mu.Lock()
	defer d.r.mu.Unlock()
	if d.next <= d.r.open.first {
		parts := d.r.parts
		d.r.mu.Unlock()
		lines, err := d.stored(ctx, parts)
		d.r.mu.Lock()
		return lines, nil, err
	}
	return d.memory()
}

// stored reads the chunk of the next line from the artifact store.
func (d *Reader) stored(ctx context.Context, parts []Part) ([]Line, error) {
	number := sort.Search(len(parts), func(i int) bool { return parts[i].Lines >= d.next })
	if d.cached == nil || d.number != number {
		s, err := d.a.part(ctx, d.log, number)
		if err != nil {
			return nil, err
		}
		d.cached, d.number = &s, number
	}
	first := d.cached.First + 1
	for i, c := range d.cached.Chunks {
		if d.next < first+c.Lines && c.LastAt.Before(d.since) { // all of it is too old
			d.next = first + c.Lines
			return nil, nil
		}
		if d.next < first+c.Lines {
			raw, err := unzip(d.cached.packed[i], c)
			if d.lean {
				d.cached = nil
			}
			if err != nil {
				return nil, err
			}
			return linesOf(raw, first, d.next)
		}
		first += c.Lines
	}
	return nil, damaged("line %d is not where it should be", d.next)
}

// memory reads the open part; the recording's mu is held.
func (d *Reader) memory() ([]Line, <-chan struct{}, error) {
	p := d.r.open
	first := p.first + 1
	for i, c := range p.chunks {
		if d.next < first+c.Lines {
			raw, err := unzip(p.packed[i], c)
			if err != nil {
				return nil, nil, err
			}
			lines, err := linesOf(raw, first, d.next)
			return lines, nil, err
		}
		first += c.Lines
	}
	if d.next < first+p.open.Lines {
		if d.tail != first { // else it goes on where it was
			d.tail, d.offset, d.at = first, 0, first
		}
		lines, err := linesOf(p.tail[d.offset:len(p.tail):len(p.tail)], d.at, d.next)
		d.offset, d.at = len(p.tail), first+p.open.Lines
		return lines, nil, err
	}
	if rest := d.r.rest; rest != nil && len(rest.text) > d.shown && !d.r.over {
		return []Line{{Number: d.next, At: rest.at, Text: rest.text, Partial: true, Growing: true}}, nil, nil
	}
	if d.r.over || !d.follow {
		return nil, nil, io.EOF
	}
	return nil, d.r.changed, nil
}

// trim leaves out what was not asked for, and goes on behind what is given.
func (d *Reader) trim(lines []Line) []Line {
	for len(lines) > 0 && lines[0].At.Before(d.since) {
		d.next, lines = lines[0].Number+1, lines[1:]
	}
	if len(lines) > 0 && d.most > 0 && d.end == 0 {
		d.end = lines[0].Number + d.most
	}
	if d.end > 0 {
		for len(lines) > 0 && lines[len(lines)-1].Number >= d.end {
			lines = lines[:len(lines)-1]
		}
	}
	if len(lines) == 0 {
		return nil
	}
	d.since = time.Time{}
	if last := lines[len(lines)-1]; last.Growing {
		d.shown = len(last.Text)
	} else {
		d.next, d.shown = last.Number+1, 0
	}
	return lines
}
