package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// connection sends requests to one server. It repeats those that a moment's absence of the server broke.
type connection struct {
	base    *url.URL
	http    *http.Client
	retries int
	backoff time.Duration
	// patience is how long Watch goes on trying to reach a server that went away; idle is how long a silent stream is trusted.
	patience, idle, poll time.Duration
	password             string
}

// url is the address of the server, without a slash at the end.
func (c *connection) url() string { return c.base.String() }

// request is one call. Each attempt sends body from its start, unless it is nil.
type request struct {
	method, path string
	query        url.Values
	body         []byte
	contentType  string
	accept       string
	lastEventID  string
	// twice says that the call may be sent again when it is not known whether the server has carried it out. done, when
	// not nil, tells which answer to such a repetition means that it had.
	twice bool
	done  func(error) bool
}

// get reads path into out.
func (c *connection) get(ctx context.Context, path string, query url.Values, out any) error {
	return c.decode(ctx, request{method: http.MethodGet, path: path, query: query}, out)
}

// send sends in as JSON (nil: no body) and reads the answer into out (nil: ignored).
func (c *connection) send(ctx context.Context, method, path string, in, out any) error {
	r := request{method: method, path: path, twice: method == http.MethodPut} // PUT comes to the same when it is sent twice
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("%s %s: encode the request: %w", method, path, err)
		}
		r.body, r.contentType = body, "application/json"
	}
	return c.decode(ctx, r, out)
}

// put asks for a change that comes to the same when it is asked for twice.
func (c *connection) put(ctx context.Context, path string) error {
	return c.decode(ctx, request{method: http.MethodPost, path: path, twice: true}, nil)
}

// delete deletes what is at path; what a lost answer leaves in doubt is tried again.
func (c *connection) delete(ctx context.Context, path string) error {
	return c.decode(ctx, request{method: http.MethodDelete, path: path, twice: true, done: IsNotFound}, nil)
}

func (c *connection) decode(ctx context.Context, r request, out any) error {
	resp, err := c.do(ctx, r)
	if err != nil {
		return err
	}
	if resp == nil { // an attempt before had done it
		return nil
	}
	defer resp.Body.Close()
	if out == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		if ctx.Err() != nil { // while the answer came
			return context.Cause(ctx)
		}
		return fmt.Errorf("%s %s: the answer is not the JSON expected (is this an Argosy server?): %w", r.method, c.base.String()+r.path, err)
	}
	return nil
}

// do sends r until it is answered with a success, and gives that answer; the caller closes its body. There is none when
// the answer to a repetition says that an attempt before had done it.
func (c *connection) do(ctx context.Context, r request) (*http.Response, error) {
	doubt := false
	for attempt := 0; ; attempt++ {
		resp, err := c.once(ctx, r)
		if err == nil {
			return resp, nil
		}
		if doubt && r.done != nil && r.done(err) {
			return nil, nil //nolint:nilnil // see above
		}
		if attempt >= c.retries || !r.repeatable(err) {
			return nil, err
		}
		u := (*Unreachable)(nil)
		doubt = doubt || !errors.As(err, &u) || !u.NothingSent()
		if waitErr := sleep(ctx, c.delay(attempt, err)); waitErr != nil {
			return nil, err
		}
	}
}

func (c *connection) once(ctx context.Context, r request) (*http.Response, error) {
	target := c.base.String() + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, bytes.NewReader(r.body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, target, err)
	}
	set := func(key, value string) {
		if value != "" {
			req.Header.Set(key, value)
		}
	}
	set("Content-Type", r.contentType)
	set("Accept", r.accept)
	set("Last-Event-ID", r.lastEventID)
	if c.password != "" {
		set("Authorization", "Bearer "+c.password)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &Unreachable{URL: c.url(), Err: errors.Unwrap(err)}
	}
	if resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		return nil, readError(r, resp)
	}
	return resp, nil
}

// repeatable tells whether a failed call may be sent again without any danger of doing a thing twice.
func (r request) repeatable(err error) bool {
	safe := r.method == http.MethodGet || r.twice
	if u := (*Unreachable)(nil); errors.As(err, &u) {
		return safe || u.NothingSent()
	}
	return safe && passes(err)
}

// passes tells that an answer of the server, or of what is before it, may be another one in a moment.
func passes(err error) bool {
	e := (*Error)(nil)
	if !errors.As(err, &e) {
		return false
	}
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// delay doubles with every attempt, up to 2 s, with some chance in it so that clients do not return all at once.
func (c *connection) delay(attempt int, err error) time.Duration {
	const longest = 2 * time.Second
	d := min(c.backoff<<min(attempt, 10), longest)
	if e := (*Error)(nil); errors.As(err, &e) && e.retryAfter > 0 {
		d = min(e.retryAfter, 5*longest)
	}
	return d/2 + rand.N(d/2+1)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// escape makes one path segment of s.
func escape(s string) string { return url.PathEscape(s) }

// retryAfter reads the header of that name: whole seconds or a date.
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if s, err := strconv.Atoi(v); err == nil && s > 0 {
		return time.Duration(s) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil {
		return time.Until(t)
	}
	return 0
}

// dialFailed tells that the connection was never made.
func dialFailed(err error) bool {
	op := (*net.OpError)(nil)
	return errors.As(err, &op) && op.Op == "dial"
}
