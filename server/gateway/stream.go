package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	heartbeat    = 15 * time.Second // keeps connections open, and finds those that are not
	writeTimeout = 30 * time.Second // a client that takes nothing for so long is gone
)

// flow copies from to w and flushes whatever comes at once.
func flow(w http.ResponseWriter, from io.Reader) error {
	control := http.NewResponseController(w)
	buffer := make([]byte, 32<<10)
	for {
		if err := control.Flush(); err != nil {
			return err
		}
		n, err := from.Read(buffer)
		if n > 0 {
			if err := control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
				return err
			}
			if _, err := w.Write(buffer[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// streamContext is the request's, ended also by the end of the server.
func (g *gateway) streamContext(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(g.Streams, cancel)
	return ctx, func() { stop(); cancel() }
}
