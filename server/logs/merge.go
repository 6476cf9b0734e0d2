package logs

import (
	"container/heap"
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"time"
)

const (
	// mergeBatch is how many lines a merge gives at once.
	mergeBatch = 512
	// mergePause is how long a merge waits after the first new line for lines of other logs that were printed at the same time.
	mergePause = 200 * time.Millisecond
	// joinAgain is how long a merge waits for news of more logs before it looks for them.
	joinAgain = 2 * time.Second
	// leanAbove is how many logs are merged at most with a part of each in memory; of more the parts are read again for each chunk.
	leanAbove = 64
)

// MergedLine is a line of one of several logs.
type MergedLine struct {
	Log int // index, from 0
	Line
}

// Opening is a log that a merge opens when it comes to the time at which the log began.
type Opening struct {
	From time.Time                                // zero: not known, so it is opened at once
	Open func(ctx context.Context) (Lines, error) // ErrNone: not now
}

// Joining finds the logs that join a merge while it goes on.
type Joining interface {
	// Join gives the logs that have come since the last call. It gives a channel that is closed when it is worth another call, and
	// nil when no more logs will come.
	Join(ctx context.Context) (logs []Opening, changed <-chan struct{}, err error)
	Close()
}

// Merged gives several logs as one, in the order of time. The lines of a log stay in their order. Of logs that are followed, a line
// that comes later than one of another log with a later time keeps its place behind that; a line without an end comes when it has
// one. A log is open from the time at which it began to its end, so a run of many steps that follow each other has few open at once.
// A Merged holds a chunk of each open log and starts no goroutine. It is for one goroutine, and must be closed.
type Merged struct {
	all     []Lines   // by index, also those that have ended
	ready   heads     // with a line to give
	idle    []*head   // that wait for one
	pending []Opening // not open yet, by time
	joining Joining
	changed <-chan struct{} // of joining; nil: no more logs will come
}

// Merge reads logs as one. joining may be nil. Logs have indexes in the order in which they are opened, from 0.
func Merge(all []Opening, joining Joining) *Merged {
	m := &Merged{joining: joining}
	m.queue(all)
	if joining != nil {
		m.changed = closed
	}
	return m
}

// closed is a channel that was closed: there is something to look at.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (m *Merged) queue(all []Opening) {
	m.pending = append(m.pending, all...)
	slices.SortStableFunc(m.pending, func(a, b Opening) int { return a.From.Compare(b.From) })
}

// open opens the first of the logs that are not open yet.
func (m *Merged) open(ctx context.Context) error {
	first := m.pending[0]
	m.pending = m.pending[1:]
	log, err := first.Open(ctx)
	if errors.Is(err, ErrNone) {
		if m.joining != nil && m.changed == nil { // it comes again
			m.changed = make(chan struct{})
		}
		return nil
	}
	if err != nil {
		return err
	}
	m.idle = append(m.idle, &head{of: len(m.all), log: log, changed: closed})
	m.all = append(m.all, log)
	if len(m.idle)+len(m.ready) > leanAbove {
		for _, h := range slices.Concat(m.idle, m.ready) {
			if d, ok := h.log.(*Reader); ok {
				d.lean, d.cached = true, nil
			}
		}
	}
	return nil
}

// due tells whether the merge has come to the time at which the next log began, where at is the time of the next line.
func (m *Merged) due(at time.Time) bool { return len(m.pending) > 0 && !m.pending[0].From.After(at) }

// Logs tells which logs there are by their index, from one on, as far as they have joined.
func (m *Merged) Logs(from int) (all []Log) {
	for _, log := range m.all[from:] {
		var l Log
		if d, ok := log.(*Reader); ok {
			l = d.Log()
		}
		all = append(all, l)
	}
	return all
}

// Close closes all logs.
func (m *Merged) Close() {
	for _, log := range m.all {
		log.Close()
	}
	if m.joining != nil {
		m.joining.Close()
	}
}

// Next gives the lines that come next and io.EOF when there are no more. It returns without a line when logs have joined.
func (m *Merged) Next(ctx context.Context) ([]MergedLine, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		known := len(m.all)
		if err := m.look(ctx); err != nil {
			return nil, err
		}
		switch {
		case len(m.all) > known:
			return nil, nil
		case len(m.ready) > 0:
			return m.take(ctx)
		case len(m.idle) == 0 && m.changed == nil:
			return nil, io.EOF
		}
		if err := m.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// look takes in the logs that have come, and what the idle ones have, so that a log with many lines keeps no other back.
func (m *Merged) look(ctx context.Context) error {
	if m.changed != nil && isClosed(m.changed) {
		joined, changed, err := m.joining.Join(ctx)
		m.queue(joined)
		if m.changed = changed; err != nil {
			return err
		}
	}
	for {
		if err := m.readIdle(ctx); err != nil {
			return err
		}
		if len(m.pending) == 0 || len(m.ready) > 0 && !m.due(m.ready[0].lines[0].At) {
			return nil
		}
		if err := m.open(ctx); err != nil {
			return err
		}
	}
}

// readIdle reads the logs that wait for a line and may have one.
func (m *Merged) readIdle(ctx context.Context) error {
	idle := m.idle[:0]
	for _, h := range m.idle {
		if !isClosed(h.changed) {
			idle = append(idle, h)
			continue
		}
		more, err := h.read(ctx)
		switch {
		case err != nil:
			return err
		case len(h.lines) > 0:
			heap.Push(&m.ready, h)
		case more:
			idle = append(idle, h)
		}
	}
	m.idle = idle
	return nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// wait waits until one of the idle logs has a line, or has ended, and then for a moment for the others.
func (m *Merged) wait(ctx context.Context) error {
	var poll <-chan time.Time // nil: never
	if m.changed != nil {
		timer := time.NewTimer(joinAgain)
		defer timer.Stop()
		poll = timer.C
	}
	cases := make([]reflect.SelectCase, 0, 3+len(m.idle))
	for _, c := range []any{ctx.Done(), poll, m.changed} {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(c)})
	}
	for _, h := range m.idle {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(h.changed)})
	}
	switch chosen, _, _ := reflect.Select(cases); chosen {
	case 0:
		return ctx.Err()
	case 1:
		m.changed = closed
		return nil
	}
	pause := time.NewTimer(mergePause)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-pause.C:
		return nil
	}
}

// take gives lines of the logs that have some, the earliest first.
func (m *Merged) take(ctx context.Context) ([]MergedLine, error) {
	batch := make([]MergedLine, 0, mergeBatch)
	for len(m.ready) > 0 && len(batch) < mergeBatch {
		h := m.ready[0]
		line := h.lines[0]
		if m.due(line.At) {
			break // look opens it; it is not due before the first line of a batch
		}
		batch = append(batch, MergedLine{h.of, line})
		more := !line.Growing // only one that is not followed ends so
		if h.lines = h.lines[1:]; len(h.lines) == 0 && more {
			var err error
			if more, err = h.read(ctx); err != nil {
				return nil, err
			}
		}
		switch {
		case len(h.lines) > 0:
			heap.Fix(&m.ready, 0)
		case more:
			heap.Pop(&m.ready)
			m.idle = append(m.idle, h)
		default:
			heap.Pop(&m.ready)
		}
	}
	return batch, nil
}

// head is where a log is read.
type head struct {
	of      int
	log     Lines
	lines   []Line          // the next ones
	changed <-chan struct{} // closed when there may be more
}

// read takes in the next lines, if there are any now; more is false at the end of the log, which is closed then.
func (h *head) read(ctx context.Context) (more bool, err error) {
	if d, ok := h.log.(*Reader); ok && d.follow {
		h.lines, h.changed, err = d.whole(ctx)
	} else {
		h.lines, err = h.log.Next(ctx)
	}
	if errors.Is(err, io.EOF) {
		h.log.Close()
		return false, nil
	}
	return err == nil, err
}

// heads are logs, that with the earliest line first.
type heads []*head

func (h heads) Len() int { return len(h) }

func (h heads) Less(i, j int) bool {
	if c := h[i].lines[0].At.Compare(h[j].lines[0].At); c != 0 {
		return c < 0
	}
	return h[i].of < h[j].of
}

func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *heads) Push(x any) { *h = append(*h, x.(*head)) }

func (h *heads) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
