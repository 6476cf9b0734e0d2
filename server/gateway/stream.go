package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/argosy-ml/argosy/server/api"
	"github.com/argosy-ml/argosy/server/fault"
	"github.com/argosy-ml/argosy/server/run"
)

const (
	heartbeat    = 15 * time.Second       // keeps connections open, and finds those that are not
	eventPause   = 100 * time.Millisecond // a run that changes more often is shown as it is by then
	writeTimeout = 30 * time.Second       // a client that takes nothing for so long is gone
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

// events sends a run as server-sent events: at once, after every change, and "end" when nothing more will come.
func (g *gateway) events(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := g.streamContext(r)
	defer cancel()
	id := r.PathValue("run")
	changes := g.Runs.Subscribe(id) // before the first look, so that no change falls between
	defer changes.Close()
	state, err := g.Runs.Get(ctx, id)
	if err != nil {
		g.refuse(ctx, nil, nil, w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // of nginx
	session, err := sse.Upgrade(w, r)
	if err != nil {
		g.refuse(ctx, nil, nil, w, r, err)
		return
	}
	defer http.NewResponseController(w).SetWriteDeadline(time.Time{}) //nolint:errcheck // the next request on the connection starts afresh
	if err := g.sendRun(ctx, w, session, changes, state); err != nil && ctx.Err() == nil {
		g.Log.WarnContext(ctx, "events broke off", "run", id, "error", err)
	}
}

// sendRun sends state and what it becomes until the run is settled or deleted, or ctx ends.
func (g *gateway) sendRun(ctx context.Context, w http.ResponseWriter, session *sse.Session, changes *run.Subscription, state run.Run) error {
	send := func(m *sse.Message) error {
		if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return err
		}
		if err := session.Send(m); err != nil {
			return err
		}
		return session.Flush()
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for sent := int64(-1); ; {
		if state.Revision != sent {
			m, err := g.runMessage(ctx, state)
			if err == nil {
				err = send(m)
			}
			if err != nil {
				return err
			}
			sent = state.Revision
		}
		if state.Settled {
			return send(endMessage())
		}
		if err := waitForChange(ctx, changes, beat.C, send); err != nil {
			return err
		}
		var err error
		if state, err = g.Runs.Get(ctx, state.ID); fault.KindOf(err) == fault.NotFound && err != nil {
			return send(endMessage())
		} else if err != nil {
			return err
		}
	}
}

// waitForChange returns after the next change, but not more often than every eventPause.
func waitForChange(ctx context.Context, changes *run.Subscription, beat <-chan time.Time, send func(*sse.Message) error) error {
	pause := time.NewTimer(eventPause)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-pause.C:
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changes.C():
			changes.Changed()
			return nil
		case <-beat:
			m := &sse.Message{}
			m.AppendComment("still here")
			if err := send(m); err != nil {
				return err
			}
		}
	}
}

func (g *gateway) runMessage(ctx context.Context, state run.Run) (*sse.Message, error) {
	nodes, err := g.Runs.Nodes(ctx, state.ID)
	if err != nil {
		return nil, err
	}
	data, err := newMarshaler().Marshal(api.RunView(state, nodes))
	if err != nil {
		return nil, err
	}
	m := &sse.Message{ID: sse.ID(strconv.FormatInt(state.Revision, 10)), Type: sse.Type("run")}
	m.AppendData(string(data))
	return m, nil
}

// endMessage carries data because browsers pass over events without any.
func endMessage() *sse.Message {
	m := &sse.Message{Type: sse.Type("end")}
	m.AppendData("{}")
	return m
}

// streamContext is the request's, ended also by the end of the server.
func (g *gateway) streamContext(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(g.Streams, cancel)
	return ctx, func() { stop(); cancel() }
}
