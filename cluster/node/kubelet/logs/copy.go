// Package logs reads the logs of containers for clients: whole, from a time or the last lines on, and as they grow.
package logs

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
)

// logTime is how times are written for readers: always of the same width.
const logTime = "2006-01-02T15:04:05.000000000Z07:00"

// Options select a part of a log.
type Options struct {
	follow     bool
	timestamps bool
	since      time.Time // zero: all
	tail       int64     // lines; below zero: all
	limit      int64     // bytes; zero: no limit
}

// errFull stops a read when the limit of bytes is reached.
var errFull = errors.New("enough of the log")

// Copy writes a log to w. With follow it goes on until the log has ended, and needs watched, which may be nil otherwise.
func Copy(ctx context.Context, w io.Writer, life podlog.Life, watched *Watcher, o Options) error {
	out := &writer{w: w, o: o, begun: map[string]bool{}}
	r := &reader{life: life, take: out.entry}
	if f, ok := w.(interface{ Flush() }); ok {
		r.pause = f.Flush
	}
	if o.tail >= 0 {
		var err error
		if r.segment, r.at, err = tailStart(life, o.tail); err != nil {
			return err
		}
	}
	var err error
	if o.follow {
		err = r.follow(ctx, watched)
	} else {
		err = r.read()
	}
	if errors.Is(err, errFull) {
		return nil
	}
	return err
}

// logWriter writes entries the way the reader wants them.
type writer struct {
	w       io.Writer
	o       Options
	begun   map[string]bool // streams that are in the middle of a line
	written int64
}

func (lw *writer) entry(e podlog.Entry) error {
	fresh := !lw.begun[e.Stream]
	lw.begun[e.Stream] = !e.Whole
	if e.At.Before(lw.o.since) {
		return nil
	}
	var b []byte
	if lw.o.timestamps && fresh {
		b = append(e.At.AppendFormat(b, logTime), ' ')
	}
	b = append(b, e.Text...)
	if e.Whole {
		b = append(b, '\n')
	}
	limit := lw.o.limit
	full := limit > 0 && lw.written+int64(len(b)) >= limit
	if full {
		b = b[:limit-lw.written]
	}
	lw.written += int64(len(b))
	if _, err := lw.w.Write(b); err != nil {
		return err
	}
	if full {
		return errFull
	}
	return nil
}

// tailStart finds the segment and the place in it where the last n lines of a log begin, reading from its end.
func tailStart(life podlog.Life, n int64) (segment int, at int64, err error) {
	segments, err := life.Segments()
	if err != nil || len(segments) == 0 {
		return 0, 0, err
	}
	lines, last := int64(0), true
	for _, s := range slices.Backward(segments) {
		f, err := os.Open(life.Segment(s))
		if errors.Is(err, os.ErrNotExist) { // by now too old to be kept
			break
		}
		if err != nil {
			return 0, 0, err
		}
		defer f.Close()
		end, err := f.Seek(0, io.SeekEnd)
		if err != nil {
			return 0, 0, err
		}
		if last {
			segment, at = s, end
		}
		if n == 0 {
			break
		}
		kind := make([]byte, 1)
		for start, err := range entriesBackwards(f, end) {
			if err == nil {
				_, err = f.ReadAt(kind, start+int64(podlog.KindAt))
			}
			if err != nil {
				return 0, 0, err
			}
			// A whole entry ends a line; so does, for now, the last entry of all.
			if kind[0] == 'F' || last {
				if lines++; lines > n {
					return segment, at, nil
				}
			}
			segment, at, last = s, start, false
		}
	}
	return segment, at, nil
}

// entriesBackwards yields where the entries before end begin, the last one first.
func entriesBackwards(f *os.File, end int64) iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		if end == 0 {
			return
		}
		buf := make([]byte, 64<<10)
		for at := end - 1; at > 0; { // the last byte ends the last entry
			size := min(int64(len(buf)), at)
			at -= size
			if _, err := f.ReadAt(buf[:size], at); err != nil {
				yield(0, err)
				return
			}
			for i := size - 1; i >= 0; i-- {
				if buf[i] == '\n' && !yield(at+i+1, nil) {
					return
				}
			}
		}
		yield(0, nil)
	}
}

// tailOf is the text of a log's last lines, at most its last limit bytes.
func Tail(life podlog.Life, lines int64, limit int) (string, error) {
	end := lastBytes{limit: limit}
	err := Copy(context.Background(), &end, life, nil, Options{tail: lines})
	return string(end.b), err
}

// lastBytes keeps the end of what is written to it.
type lastBytes struct {
	b     []byte
	limit int
}

func (l *lastBytes) Write(b []byte) (int, error) {
	l.b = append(l.b, b[max(0, len(b)-l.limit):]...)
	l.b = l.b[max(0, len(l.b)-l.limit):]
	return len(b), nil
}
