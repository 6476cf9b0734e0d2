// Package client talks to an Argosy server over REST: pipelines, experiments, runs, logs and metrics.
//
// It needs nothing but the standard library. Every call takes a context and gives typed errors: *Error is an answer of
// the server that is not a success, *Unreachable says that no server answered at all. Calls that only read are repeated
// with backoff when the server is away for a moment, and so are those that come to the same when done twice, such as
// deleting or enabling; calls that make something are repeated only when the connection was refused before anything was
// sent.
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
	"strings"
	"time"
)

// DefaultURL is where `argosy up` serves unless told otherwise.
const DefaultURL = "http://127.0.0.1:8888"

const (
	kfpAPI = "/apis/v1beta1"
	ownAPI = "/apis/argosy/v1"

	maxErrorBody = 64 << 10
)

// Client is a connection to one server. It is safe for use by several goroutines.
type Client struct {
	base    *url.URL
	http    *http.Client
	retries int
	backoff time.Duration
	// patience is how long Watch goes on trying to reach a server that went away; idle is how long a silent stream is trusted.
	patience, idle, poll time.Duration
	password             string
}

// Option changes how a Client works.
type Option func(*Client)

// WithHTTPClient makes the client use h, for transports of one's own. Its Timeout should be zero: streams have no end to wait for.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithRetries says how often a call is repeated when that is safe; the default is 4, 0 means never.
func WithRetries(n int) Option { return func(c *Client) { c.retries = max(n, 0) } }

// WithPatience says for how long Watch and Wait go on while the server cannot be reached; the default is one minute.
func WithPatience(d time.Duration) Option { return func(c *Client) { c.patience = d } }

// WithPassword sends a password with every request; the default is none.
func WithPassword(p string) Option { return func(c *Client) { c.password = p } }

// New makes a client of the server at baseURL, such as "http://127.0.0.1:8888".
func New(baseURL string, opts ...Option) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(baseURL, "/"))
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" {
		return nil, fmt.Errorf("server URL %q: want http://HOST:PORT or https://HOST:PORT", baseURL)
	}
	c := &Client{
		base: base, http: &http.Client{}, retries: 4, backoff: 100 * time.Millisecond,
		patience: time.Minute, idle: 90 * time.Second, poll: time.Second,
	}
	for _, o := range opts {
		o(c)
	}
	return c, nil
}

// URL is the address of the server, without a slash at the end.
func (c *Client) URL() string { return c.base.String() }

// RunURL is the page of a run in the server's web interface.
func (c *Client) RunURL(id string) string { return c.URL() + "/runs/" + url.PathEscape(id) }

// request is one call; body, when not nil, is sent anew at each attempt.
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
func (c *Client) get(ctx context.Context, path string, query url.Values, out any) error {
	return c.decode(ctx, request{method: http.MethodGet, path: path, query: query}, out)
}

// send sends in as JSON (nil: no body) and reads the answer into out (nil: ignored).
func (c *Client) send(ctx context.Context, method, path string, in, out any) error {
	r := request{method: method, path: path}
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
func (c *Client) put(ctx context.Context, path string) error {
	return c.decode(ctx, request{method: http.MethodPost, path: path, twice: true}, nil)
}

// delete deletes what is at path; what a lost answer leaves in doubt is tried again.
func (c *Client) delete(ctx context.Context, path string) error {
	return c.decode(ctx, request{method: http.MethodDelete, path: path, twice: true, done: IsNotFound}, nil)
}

func (c *Client) decode(ctx context.Context, r request, out any) error {
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
		return fmt.Errorf("%s %s: the answer is not the JSON expected (is this an Argosy server?): %w", r.method, c.base.String()+r.path, err)
	}
	return nil
}

// do sends r until it is answered with a success, and gives that answer; the caller closes its body. There is none when
// the answer to a repetition says that an attempt before had done it.
func (c *Client) do(ctx context.Context, r request) (*http.Response, error) {
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

func (c *Client) once(ctx context.Context, r request) (*http.Response, error) {
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
		return nil, &Unreachable{URL: c.URL(), Err: errors.Unwrap(err)}
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
func (c *Client) delay(attempt int, err error) time.Duration {
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

// Health is what the server says of itself.
type Health struct {
	Commit    string `json:"commit_sha,omitempty"`
	Tag       string `json:"tag_name,omitempty"`
	MultiUser bool   `json:"multi_user,omitempty"`
}

// Health asks whether the server is serving.
func (c *Client) Health(ctx context.Context) (*Health, error) {
	var h Health
	return &h, c.get(ctx, kfpAPI+"/healthz", nil, &h)
}

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
