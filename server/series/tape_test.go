package series_test

import (
	"context"
	"io"
	"sync"

	"github.com/argosy-ml/argosy/server/logs"
)

// tape is a log that a test prints, and that may be read any number of times meanwhile.
type tape struct {
	mu   sync.Mutex
	text string
	over bool
	wake chan struct{}

	opened []int64 // from which lines on
}

func (t *tape) print(text string) { t.change(func() { t.text += text }) }

func (t *tape) end() { t.change(func() { t.over = true }) }

func (t *tape) change(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
	close(t.wake)
	t.wake = make(chan struct{})
}

func (t *tape) open(ctx context.Context, from int64) logs.Lines {
	t.mu.Lock()
	t.opened = append(t.opened, from)
	t.mu.Unlock()
	return logs.PlainLines(io.NopCloser(&tapeReader{tape: t, ctx: ctx}), from)
}

type tapeReader struct {
	tape *tape
	at   int
	ctx  context.Context //nolint:containedctx // of the call that it answers
}

func (r *tapeReader) Read(p []byte) (int, error) {
	for {
		r.tape.mu.Lock()
		n, over, wake := copy(p, r.tape.text[r.at:]), r.tape.over, r.tape.wake
		r.tape.mu.Unlock()
		r.at += n
		switch {
		case n > 0:
			return n, nil
		case over:
			return 0, io.EOF
		}
		select {
		case <-wake:
		case <-r.ctx.Done():
			return 0, r.ctx.Err()
		}
	}
}
