package series_test

import (
	"context"
	"io"
	"sync"
)

// tape is a log that a test prints, and that may be read from its beginning any number of times meanwhile.
type tape struct {
	mu   sync.Mutex
	text string
	over bool
	wake chan struct{}
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

func (t *tape) open(ctx context.Context) io.ReadCloser {
	return io.NopCloser(&tapeReader{tape: t, ctx: ctx})
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
