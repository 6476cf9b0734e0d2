package logs

import (
	"context"
	"io"
	"time"
)

// Text is a log as text, the bytes as they were printed.
type Text struct {
	io.ReadCloser
	First int64 // number of the first line
}

// Text gives a log as text, with times in front of the lines if asked for. Closing it closes the reader.
func (d *Reader) Text(ctx context.Context, times bool) Text {
	return Text{&text{ctx: ctx, d: d, times: times}, d.next}
}

type text struct {
	ctx   context.Context //nolint:containedctx // io.Reader passes none
	d     *Reader
	times bool
	ready []byte
	line  int64 // that was given in part
	given int   // bytes of it
}

func (t *text) Read(p []byte) (int, error) {
	for len(t.ready) == 0 {
		lines, err := t.d.Next(t.ctx)
		if err != nil {
			return 0, err
		}
		t.ready = t.ready[:0]
		for _, l := range lines {
			t.append(l)
		}
	}
	n := copy(p, t.ready)
	t.ready = t.ready[n:]
	return n, nil
}

func (t *text) append(l Line) {
	given := 0
	if t.line == l.Number {
		given = t.given
	} else if t.times {
		t.ready = append(l.At.UTC().AppendFormat(t.ready, time.RFC3339Nano), ' ')
	}
	t.ready = append(t.ready, l.Text[min(given, len(l.Text)):]...)
	if !l.Partial {
		t.ready = append(t.ready, '\n')
	}
	t.line, t.given = l.Number, len(l.Text)
}

func (t *text) Close() error {
	t.d.Close()
	return nil
}
