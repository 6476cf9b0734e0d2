package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/argosy-ml/argosy/server/fault"
)

const (
	heartbeat    = 15 * time.Second // keeps connections open, and finds those that are not
	writeTimeout = 30 * time.Second // a client that takes nothing for so long is gone
)

// log gives a node's log as far as it goes.
func (g *gateway) log(w http.ResponseWriter, r *http.Request) { g.copyLog(w, r, false) }

// followLog gives a node's log, and with ?follow=true goes on until the node ends.
func (g *gateway) followLog(w http.ResponseWriter, r *http.Request) {
	follow := false
	if asked := r.URL.Query().Get("follow"); asked != "" {
		var err error
		if follow, err = strconv.ParseBool(asked); err != nil {
			g.refuse(r.Context(), nil, nil, w, r, fault.New(fault.Invalid, "follow is %q; it can be true or false", asked))
			return
		}
	}
	g.copyLog(w, r, follow)
}

func (g *gateway) copyLog(w http.ResponseWriter, r *http.Request, follow bool) {
	ctx, cancel := g.streamContext(r)
	defer cancel()
	log, err := g.Runs.Log(ctx, r.PathValue("run"), r.PathValue("node"), follow)
	if err != nil {
		g.refuse(ctx, nil, nil, w, r, err)
		return
	}
	defer log.Close()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	defer http.NewResponseController(w).SetWriteDeadline(time.Time{}) //nolint:errcheck // the next request on the connection starts afresh
	if err := flow(w, log); err != nil {
		if ctx.Err() == nil {
			g.Log.WarnContext(ctx, "log broke off", "path", r.URL.Path, "error", err)
		}
		panic(http.ErrAbortHandler) // so that the client does not take what it has for the whole log
	}
}

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
