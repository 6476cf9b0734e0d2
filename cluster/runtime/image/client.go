package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// DialFunc is net.Dialer's DialContext.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// Client talks to registries.
type Client struct {
	transport http.RoundTripper
	insecure  []string
}

// answerLimit is how long a registry may take to begin an answer.
const answerLimit = time.Minute

// NewClient talks to registries over connections of dial; nil means this
// process's own network. With a registry of this machine, and with those named
// as insecure (host, and port if there is one), it also speaks plain http.
func NewClient(dial DialFunc, insecure []string) *Client {
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dial(ctx, network, addr)
			if err != nil {
				return nil, &dialError{addr, err}
			}
			return c, nil
		},
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   parallel,
		IdleConnTimeout:       30 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: answerLimit,
	}
	return &Client{transport: guard{t, insecure}, insecure: insecure}
}

// Close lets go of connections that nothing uses.
func (c *Client) Close() { c.transport.(guard).t.CloseIdleConnections() }

// dialError is a connection that did not come about.
type dialError struct {
	addr string
	err  error
}

func (e *dialError) Error() string { return fmt.Sprintf("connect to %s: %v", e.addr, e.err) }
func (e *dialError) Unwrap() error { return e.err }

// guard keeps passwords and images off networks that anybody can listen to.
type guard struct {
	t        *http.Transport
	insecure []string
}

func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && !onThisMachine(r.URL.Hostname()) && !slices.Contains(g.insecure, r.URL.Host) {
		return nil, fmt.Errorf("%s speaks no https; if you trust the way there, allow it with --insecure-registry %s", r.URL.Host, r.URL.Host)
	}
	resp, err := g.t.RoundTrip(r)
	switch {
	case err != nil:
	case resp.StatusCode >= http.StatusMultipleChoices:
		resp.Body = limited{io.LimitReader(resp.Body, maxComplaint), resp.Body}
	case !isBlob(r):
		resp.Body = limited{io.LimitReader(resp.Body, maxDocument), resp.Body}
	}
	return resp, err
}

// maxComplaint is how much of a refusal is read, in bytes: it becomes part of an error's text.
const maxComplaint = 4 << 10

// isBlob says whether a request is for a blob, whose size is known and kept elsewhere. All other answers are read into memory,
// by a library that would take them at any length.
func isBlob(r *http.Request) bool {
	for r.Response != nil && r.Response.Request != nil { // blobs often lie elsewhere
		r = r.Response.Request
	}
	return strings.HasPrefix(r.URL.Path, "/v2/") && strings.Contains(r.URL.Path, "/blobs/")
}

type limited struct {
	io.Reader
	io.Closer
}

func onThisMachine(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// puller fetches one image with one set of credentials.
func (c *Client) puller(keys authn.Keychain) (*remote.Puller, error) {
	return remote.NewPuller(remote.WithTransport(c.transport), remote.WithAuthFromKeychain(keys),
		remote.WithPlatform(platform), remote.WithUserAgent("argosy"), remote.WithJobs(parallel))
}

// reference is r, to be reached without https where that was allowed.
func (c *Client) reference(r Reference) (name.Reference, error) {
	if slices.Contains(c.insecure, r.ref.Context().RegistryStr()) {
		return name.ParseReference(r.ref.Name(), name.Insecure)
	}
	return r.ref, nil
}

// UnreachableError says that no connection to a registry came about.
type UnreachableError struct {
	Registry string
	Err      error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("registry %s cannot be reached: %v", e.Registry, e.Err)
}
func (e *UnreachableError) Unwrap() error { return e.Err }

// refused says whether a registry wants other credentials.
func refused(err error) bool {
	var t *transport.Error
	return errors.As(err, &t) && (t.StatusCode == http.StatusUnauthorized || t.StatusCode == http.StatusForbidden)
}

// explain adds to a registry's answer what can be done about it.
func explain(r Reference, err error) error {
	var dial *dialError
	var t *transport.Error
	switch {
	case errors.As(err, &t):
	case errors.As(err, &dial):
		return &UnreachableError{Registry: r.Registry(), Err: dial}
	default:
		return fmt.Errorf("pull %s: %w", r, err)
	}
	advice := ""
	switch t.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		advice = fmt.Sprintf("check the name; if the image is private, name a secret of kind docker-registry in the pod's imagePullSecrets, or log in on this machine with `docker login %s`", r.Registry())
	case http.StatusNotFound:
		advice = fmt.Sprintf("check the image's name and tag; the image name `%s` stands for this machine's own files", HostName)
	case http.StatusTooManyRequests:
		advice = "the registry limits how much is pulled without an account; wait, or give credentials in imagePullSecrets"
	default:
		return fmt.Errorf("registry %s does not give %s: %w", r.Registry(), r, err)
	}
	return fmt.Errorf("registry %s does not give %s (%d %s): %w: %s", r.Registry(), r, t.StatusCode, http.StatusText(t.StatusCode), err, advice)
}
