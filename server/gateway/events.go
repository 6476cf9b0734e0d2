package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"github.com/tmaxmax/go-sse"
	"google.golang.org/protobuf/proto"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/api"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/eventstream"
)

// runEvents sends what happens to one run as server-sent events.
func (g *gateway) runEvents(w http.ResponseWriter, r *http.Request) {
	q := &argosyv1.WatchRunRequest{}
	after, err := eventRequest(r, q)
	q.RunId, q.After = r.PathValue("run"), after
	var o eventstream.Options
	if err == nil {
		o, err = api.WatchOptions(q)
	}
	o.Beat = heartbeat
	g.sendEvents(w, r, err, func(ctx context.Context, send func(eventstream.Event) error) error {
		return g.Watcher.Run(ctx, q.GetRunId(), o, send)
	})
}

// allEvents sends what happens to all runs, or to those of a filter.
func (g *gateway) allEvents(w http.ResponseWriter, r *http.Request) {
	q := &argosyv1.WatchRunsRequest{}
	after, err := eventRequest(r, q)
	q.After = after
	var f eventstream.Filter
	if err == nil {
		f, err = api.WatchFilter(q)
	}
	f.Beat = heartbeat
	g.sendEvents(w, r, err, func(ctx context.Context, send func(eventstream.Event) error) error {
		return g.Watcher.Runs(ctx, f, send)
	})
}

// eventRequest reads the query of a stream of events, and where it is to go on. A browser sends the header of itself when it
// connects again; the parameter is for the first time.
func eventRequest(r *http.Request, q proto.Message) (after string, err error) {
	values := r.URL.Query()
	after = values.Get("last_event_id")
	values.Del("last_event_id")
	if header := r.Header.Get("Last-Event-ID"); header != "" {
		after = header
	}
	if err := runtime.PopulateQueryParameters(q, values, utilities.NewDoubleArray(nil)); err != nil {
		return "", apierr.New(apierr.Invalid, "the query cannot be read: %v", err)
	}
	return after, nil
}

// sendEvents answers with events. Until the first one is there, what goes wrong is answered as it is everywhere.
func (g *gateway) sendEvents(w http.ResponseWriter, r *http.Request, err error, follow func(context.Context, func(eventstream.Event) error) error) {
	ctx, cancel := g.streamContext(r)
	defer cancel()
	var session *sse.Session
	if err == nil {
		defer http.NewResponseController(w).SetWriteDeadline(time.Time{}) //nolint:errcheck // the next request on the connection starts afresh
		err = follow(ctx, func(e eventstream.Event) (err error) {
			if session == nil {
				w.Header().Set("Cache-Control", "no-store")
				w.Header().Set("X-Accel-Buffering", "no") // of nginx
				if session, err = sse.Upgrade(w, r); err != nil {
					return err
				}
			}
			m, err := message(e)
			if err != nil {
				return err
			}
			if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
				return err
			}
			if err := session.Send(m); err != nil {
				return err
			}
			return session.Flush()
		})
	}
	switch {
	case err == nil || ctx.Err() != nil:
	case session == nil:
		g.refuse(ctx, nil, nil, w, r, err)
	default:
		g.Log.WarnContext(ctx, "events broke off", "path", r.URL.Path, "error", err, "cause", errors.Unwrap(err))
	}
}

// message is an event as it is sent. Each has data, because browsers pass over events without any; but beats are comments.
func message(e eventstream.Event) (*sse.Message, error) {
	m := &sse.Message{}
	if e.Beat() {
		m.AppendComment("still here")
		return m, nil
	}
	if e.ID != "" {
		m.ID = sse.ID(e.ID)
	}
	event := api.WireEvent(e)
	what := event.ProtoReflect().WhichOneof(event.ProtoReflect().Descriptor().Oneofs().ByName("what"))
	data, err := newMarshaler().Marshal(event.ProtoReflect().Get(what).Message().Interface())
	if err != nil {
		return nil, err
	}
	m.Type = sse.Type(string(what.Name()))
	m.AppendData(string(data))
	return m, nil
}
