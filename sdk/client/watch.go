package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"time"
)

// errNoStream says that the server has no event stream for runs, or that something on the way swallows it.
var errNoStream = errors.New("the server has no stream of events, or something on the way to it swallows it")

// Watch yields a run at once and after every change, until nothing more can change. It uses the server's event stream, reconnects to it,
// and polls servers without one. It stops after an error.
func (s RunsService) Watch(ctx context.Context, runID string) iter.Seq2[*Run, error] {
	return func(yield func(*Run, error) bool) {
		v := &views{id: runID, yield: yield}
		w := &watch{connection: s.conn, id: runID, take: v.event}
		err := w.follow(ctx)
		if errors.Is(err, errNoStream) {
			err = v.poll(ctx, w)
		}
		if err != nil && !v.enough {
			yield(nil, err)
		}
	}
}

// Wait waits until a run ends and returns it; its Status says whether it succeeded. Each change of the run calls the given functions, in
// order.
func (s RunsService) Wait(ctx context.Context, runID string, changed ...func(*Run)) (*Run, error) {
	var last *Run
	for r, err := range s.Watch(ctx, runID) {
		if err != nil {
			return last, err
		}
		last = r
		for _, f := range changed {
			f(r)
		}
	}
	if last == nil {
		return nil, fmt.Errorf("run %s: the server ended the stream without a word", runID)
	}
	return last, nil
}

// views passes on how a run is, each view once.
type views struct {
	id     string
	yield  func(*Run, error) bool
	enough bool   // the caller has seen it
	last   []byte // the view passed on last
	done   bool   // it was of a run that has ended
}

func (v *views) event(e event) (more bool, err error) {
	if e.name != "run" {
		return true, nil
	}
	return v.view(e.data)
}

// view passes a view on unless it is the one passed on before (a stream taken up again begins with it).
func (v *views) view(data []byte) (more bool, err error) {
	if bytes.Equal(data, v.last) {
		return true, nil
	}
	var r Run
	if err := json.Unmarshal(data, &r); err != nil {
		return false, fmt.Errorf("run %s: the event is not a run: %w", v.id, err)
	}
	v.last, v.done = bytes.Clone(data), r.Done()
	v.enough = !v.yield(&r, nil)
	return !v.enough, nil
}

// poll asks for the run again and again, until it has ended.
func (v *views) poll(ctx context.Context, w *watch) error {
	for {
		var raw json.RawMessage
		more := true
		err := w.get(ctx, ownAPI+"/runs/"+escape(v.id), nil, &raw)
		switch {
		case err == nil:
			w.contact = time.Now()
			if more, err = v.view(raw); err != nil {
				return err
			}
		case !IsUnreachable(err) || time.Since(w.contact) > w.patience:
			return err
		}
		if !more || v.done {
			return nil
		}
		if err := sleep(ctx, w.poll); err != nil {
			return err
		}
	}
}

// watch reads the events of a run. It is over when take has enough or fails, or the server said that nothing more will come.
type watch struct {
	*connection
	id    string
	query url.Values
	take  func(event) (more bool, err error)
	over  bool
	err   error

	lastEventID string
	contact     time.Time // when the server was last heard
}

// follow streams, and streams again after a break, until the watch is over.
func (w *watch) follow(ctx context.Context) error {
	w.contact = time.Now()
	for attempt := 0; ; attempt++ {
		before := w.contact
		err := w.stream(ctx)
		switch {
		case w.over:
			return w.err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !IsUnreachable(err) && !passes(err):
			return err
		case time.Since(w.contact) > w.patience:
			return fmt.Errorf("run %s: %w", w.id, err)
		case w.contact.After(before):
			attempt = 0
		}
		if err := sleep(ctx, w.delay(attempt, err)); err != nil {
			return err
		}
	}
}

// stream reads the events of one connection; the error says why it broke off.
func (w *watch) stream(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, err := w.once(ctx, request{
		method: http.MethodGet, path: ownAPI + "/runs/" + escape(w.id) + "/events", query: w.query,
		accept: "text/event-stream", lastEventID: w.lastEventID,
	})
	if lacksStream(err) {
		return errNoStream
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
		return errNoStream
	}
	// A connection that died without a word would be waited on for ever.
	silence := time.AfterFunc(w.idle, cancel)
	defer silence.Stop()
	alive := func() { silence.Reset(w.idle); w.contact = time.Now() }
	err = readEvents(resp.Body, alive, w.event)
	if errors.Is(err, bufio.ErrTooLong) {
		w.over, w.err = true, fmt.Errorf("run %s: an event is larger than %d MiB", w.id, maxEvent>>20)
		return w.err
	}
	return &Unreachable{URL: w.url(), Err: err}
}

// lacksStream tells that the server, or something before it, does not know the event stream. A 404 with an error of the
// API means that there is no such run; a plain one that there is no such path.
func lacksStream(err error) bool {
	e := (*Error)(nil)
	if !errors.As(err, &e) {
		return false
	}
	switch e.Status {
	case http.StatusMethodNotAllowed, http.StatusNotImplemented, http.StatusNotAcceptable:
		return true
	}
	return e.Status == http.StatusNotFound && e.Code == 0
}

// event takes one event; false: no more of them.
func (w *watch) event(e event) bool {
	w.lastEventID = e.id
	if e.name == "end" {
		w.over = true
		return false
	}
	more, err := w.take(e)
	w.over, w.err = !more || err != nil, err
	return !w.over
}
