package eventstream

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/run"
)

const (
	// tailsAtOnce is how many logs are read for one caller at once; the others wait for their turn.
	tailsAtOnce = 32
	// Limits of one event with lines; a line more may come in where the last one was short.
	maxLines = 500
	maxChunk = 64 << 10
)

// chunk is what a tail has read, or why it cannot go on.
type chunk struct {
	Lines
	of  *tail
	err error
}

// tail reads the log of one node to its end.
type tail struct {
	node     run.Node
	key      uint64
	lines    int64 // told
	ended    bool
	started  bool
	cancel   context.CancelFunc
	complete chan struct{} // closed once the log is archived whole
}

// tails read the logs of one run for one caller. All but the reading is done by the caller's goroutine.
type tails struct {
	w      *Watcher
	run    string
	only   []string
	ctx    context.Context //nolint:containedctx // of the call that they belong to
	end    context.CancelFunc
	wg     sync.WaitGroup
	chunks chan chunk

	at     logPosition
	byNode map[string]*tail
	active int
}

func newTails(ctx context.Context, w *Watcher, id string, only []string, at logPosition) *tails {
	ctx, end := context.WithCancel(ctx)
	return &tails{w: w, run: id, only: only, ctx: ctx, end: end, chunks: make(chan chunk), at: at, byNode: map[string]*tail{}}
}

// stop ends all reading, and returns when it has ended.
func (t *tails) stop() {
	t.end()
	t.wg.Wait()
}

// look takes note of the nodes that changed. The first time it looks at all of them.
func (t *tails) look(ctx context.Context, first bool, d run.Delta) error {
	nodes := d.Nodes
	if first {
		var err error
		if nodes, err = t.w.c.Store.Nodes(ctx, t.run); err != nil {
			return err
		}
	}
	for _, id := range d.Removed {
		t.drop(id)
	}
	for _, n := range nodes {
		t.note(n)
	}
	t.start()
	return nil
}

func (t *tails) note(n run.Node) {
	if n.PodName == "" || n.Phase != run.Running && !run.Final(n.Phase) || len(t.only) > 0 && !slices.Contains(t.only, n.ID) {
		return
	}
	key, known := logKey(n), t.byNode[n.ID]
	if known != nil && known.key != key { // it runs again
		t.drop(n.ID)
		known = nil
	}
	if known == nil {
		if n.Harvested && n.LogRevision <= t.at.closed {
			return
		}
		lines := t.at.open[key]
		known = &tail{node: n, key: key, lines: max(lines, 0), ended: lines < 0, complete: make(chan struct{})}
		t.byNode[n.ID] = known
	}
	known.node = n
	if n.Harvested {
		known.finish()
	}
}

func (l *tail) finish() {
	select {
	case <-l.complete:
	default:
		close(l.complete)
	}
}

func (t *tails) drop(id string) {
	l := t.byNode[id]
	if l == nil {
		return
	}
	if l.started && !l.ended {
		l.cancel()
		t.active--
	}
	delete(t.byNode, id)
}

// start reads what is not read yet, complete logs in the order of their completion first.
func (t *tails) start() {
	var waiting []*tail
	for _, l := range t.byNode {
		if !l.started && !l.ended {
			waiting = append(waiting, l)
		}
	}
	slices.SortFunc(waiting, func(a, b *tail) int {
		return cmp.Or(compareBool(a.node.Harvested, b.node.Harvested), cmp.Compare(a.node.LogRevision, b.node.LogRevision),
			a.node.StartedAt.Compare(b.node.StartedAt), strings.Compare(a.node.ID, b.node.ID))
	})
	for _, l := range waiting[:min(len(waiting), max(tailsAtOnce-t.active, 0))] {
		var ctx context.Context
		ctx, l.cancel = context.WithCancel(t.ctx)
		l.started = true
		t.active++
		reader := &reading{w: t.w, run: t.run, node: l.node.ID, at: l.lines, complete: l.complete, push: func(c chunk) error {
			c.of = l
			select {
			case t.chunks <- c:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		t.wg.Go(func() { reader.read(ctx) })
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// complete reports whether every existing log has been sent to its end.
func (t *tails) complete() bool {
	return !slices.ContainsFunc(slices.Collect(maps.Values(t.byNode)), func(l *tail) bool { return !l.ended })
}

// take counts what a chunk tells, and gives the position after it.
func (t *tails) take(c chunk) logPosition {
	l := c.of
	l.lines = c.First + int64(len(c.Lines.Lines))
	if c.Ended {
		l.ended = true
		l.cancel()
		t.active--
		t.start()
	}
	// Closed moves up to the first log that is complete and was not sent to its end.
	limit, closed := int64(0), t.at.closed
	for _, o := range t.byNode {
		if o.node.Harvested && !o.ended && (limit == 0 || o.node.LogRevision < limit) {
			limit = o.node.LogRevision
		}
	}
	for _, o := range t.byNode {
		if r := o.node.LogRevision; o.ended && r > closed && (limit == 0 || r < limit) {
			closed = r
		}
	}
	t.at = logPosition{closed: closed, open: map[uint64]int64{}}
	for id, o := range t.byNode {
		switch {
		case o.ended && o.node.LogRevision <= closed:
			delete(t.byNode, id)
		case o.ended:
			t.at.open[o.key] = -1
		case o.lines > 0:
			t.at.open[o.key] = o.lines
		}
	}
	return t.at
}

// reading reads one log, from a line on.
type reading struct {
	w         *Watcher
	run, node string
	at        int64
	complete  <-chan struct{}
	push      func(chunk) error
}

// read gives the live log as it comes. When that has ended it waits until the log is archived, and gives what it missed: a
// live log may end early.
func (r *reading) read(ctx context.Context) {
	for {
		var whole bool
		select {
		case <-r.complete:
			whole = true
		default:
		}
		err := r.once(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && apierr.KindOf(err) != apierr.NotFound:
			_ = r.push(chunk{err: err}) // the reader ends the call
			return
		case whole:
			_ = r.push(chunk{Lines: Lines{RunID: r.run, NodeID: r.node, First: r.at, Ended: true}})
			return
		}
		select {
		case <-r.complete:
		case <-ctx.Done():
			return
		}
	}
}

// once gives the lines behind the last one that was given, as far as the log goes.
func (r *reading) once(ctx context.Context) error {
	log, err := r.w.c.Runs.Logs.Lines(ctx, logs.Query{RunID: r.run, NodeID: r.node, From: r.at + 1, Follow: true})
	if err != nil {
		return err
	}
	defer log.Close()
	for {
		lines, err := log.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := r.give(lines); err != nil {
			return err
		}
	}
}

// give passes on complete lines. It replaces bytes that are not UTF-8, which events cannot hold.
func (r *reading) give(lines []logs.Line) error {
	for len(lines) > 0 {
		c := chunk{Lines: Lines{RunID: r.run, NodeID: r.node, First: r.at}}
		for size := 0; len(lines) > 0 && len(c.Lines.Lines) < maxLines && size < maxChunk; lines = lines[1:] {
			if lines[0].Growing {
				continue
			}
			size += len(lines[0].Text)
			c.Lines.Lines = append(c.Lines.Lines, strings.ToValidUTF8(strings.TrimRight(string(lines[0].Text), "\r"), "\uFFFD"))
		}
		if len(c.Lines.Lines) == 0 {
			return nil
		}
		r.at += int64(len(c.Lines.Lines))
		if err := r.push(c); err != nil {
			return err
		}
	}
	return nil
}
