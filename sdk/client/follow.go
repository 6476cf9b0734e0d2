package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
)

// Follow yields the lines of a node's log, without line ends, as they are written, until the node ends. After a broken connection it
// reconnects and continues at the next line. It stops after an error.
func (s LogsService) Follow(ctx context.Context, runID, nodeID string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		f := &logFollower{connection: s.conn, run: runID, node: nodeID, yield: yield, contact: time.Now()}
		if err := f.follow(ctx); err != nil && !f.over {
			yield("", err)
		}
	}
}

type logFollower struct {
	*connection
	run, node string
	yield     func(string, error) bool
	taken     int64 // bytes of the lines passed on
	over      bool
	contact   time.Time
}

func (f *logFollower) follow(ctx context.Context) error {
	for attempt := 0; ; attempt++ {
		before := f.contact
		err := f.stream(ctx)
		switch {
		case err == nil || f.over:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !IsUnreachable(err) && !passes(err):
			return err
		case time.Since(f.contact) > f.patience:
			return fmt.Errorf("log of %s: %w", f.node, err)
		case f.contact.After(before):
			attempt = 0
		}
		if err := sleep(ctx, f.delay(attempt, err)); err != nil {
			return err
		}
	}
}

// stream reads one connection. A log begins at its beginning each time, so what was passed on is skipped.
func (f *logFollower) stream(ctx context.Context) error {
	log, err := LogsService{f.connection}.Open(ctx, f.run, f.node, LogOptions{Follow: true})
	if err != nil {
		return err
	}
	defer log.Close()
	broken := func(err error) error { return &Unreachable{URL: f.url(), Err: err} }
	if _, err := io.CopyN(io.Discard, log, f.taken); err != nil {
		return broken(err)
	}
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadString('\n')
		f.contact = time.Now()
		switch {
		case err == io.EOF && line == "":
			return nil
		case err != nil && err != io.EOF: // half a line is asked for again
			return broken(err)
		}
		f.taken += int64(len(line))
		if !f.yield(strings.TrimRight(line, "\r\n"), nil) {
			f.over = true
			return nil
		}
	}
}

// WatchMetrics yields each metric of a run when it is reported and again when it changes, until the run ends. It stops after an error.
func (s RunsService) WatchMetrics(ctx context.Context, runID string) iter.Seq2[Metric, error] {
	return func(yield func(Metric, error) bool) {
		known := map[Metric]bool{}
		for r, err := range s.Watch(ctx, runID) {
			if err != nil {
				yield(Metric{}, err)
				return
			}
			for _, m := range r.Metrics {
				if !known[m] && !yield(m, nil) {
					return
				}
				known[m] = true
			}
		}
	}
}
