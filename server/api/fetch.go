package api

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"syscall"
	"time"

	"github.com/argosy-ml/argosy/server/fault"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/pipeline/pkgfile"
)

// fetchTimeout bounds reading a package from a URL, all in all.
const fetchTimeout = time.Minute

// notPublic are the networks, beyond those that net/netip knows as private, that are not the open internet.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/32"), netip.MustParsePrefix("2002::/16"), // both carry IPv4 addresses inside
}

var errPrivate = errors.New("the address is not on the public internet")

// fetcher reads pipeline packages from URLs.
type fetcher struct{ client *http.Client }

// newFetcher makes a fetcher that, unless private is set, connects to public addresses only. The address is judged when
// the connection is made, so neither a redirect nor a name that changes its address gets around it.
func newFetcher(private bool) fetcher {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if !private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			if a, err := netip.ParseAddrPort(address); err != nil || !public(a.Addr()) {
				return errPrivate
			}
			return nil
		}
	}
	// No proxy: it would make the connection in our place, and reach what we must not. No kept connections: fetches are rare.
	transport := &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, TLSHandshakeTimeout: 10 * time.Second}
	return fetcher{&http.Client{Transport: transport, Timeout: fetchTimeout}}
}

func public(a netip.Addr) bool {
	a = a.Unmap()
	for _, p := range notPublic {
		if p.Contains(a) {
			return false
		}
	}
	return a.IsGlobalUnicast() && !a.IsPrivate()
}

// fetch reads a package. What goes wrong is for the person who gave the URL.
func (f fetcher) fetch(ctx context.Context, from string) (pipeline.Upload, error) {
	u, err := url.Parse(from)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return pipeline.Upload{}, fault.New(fault.Invalid, "pipeline_url %q is no http or https URL", from)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return pipeline.Upload{}, fault.New(fault.Invalid, "pipeline_url %q: %v", u.Redacted(), err)
	}
	answer, err := f.client.Do(request)
	if errors.Is(err, errPrivate) {
		return pipeline.Upload{}, fault.New(fault.Invalid, "pipeline_url %q: %v; upload the file instead", u.Redacted(), errPrivate)
	}
	if err != nil {
		return pipeline.Upload{}, fault.New(fault.Invalid, "pipeline_url %q cannot be read: %v", u.Redacted(), reason(err))
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return pipeline.Upload{}, fault.New(fault.Invalid, "pipeline_url %q cannot be read: it answers %s", u.Redacted(), answer.Status)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, pkgfile.MaxSize+1))
	switch {
	case err != nil:
		return pipeline.Upload{}, fault.New(fault.Invalid, "pipeline_url %q did not arrive whole: %v", u.Redacted(), err)
	case len(data) > pkgfile.MaxSize:
		return pipeline.Upload{}, fault.New(fault.Invalid, "pipeline_url %q is larger than %d MiB", u.Redacted(), pkgfile.MaxSize>>20)
	}
	name := path.Base(u.Path)
	if name == "/" || name == "." {
		name = u.Hostname()
	}
	return pipeline.Upload{FileName: name, Data: data}, nil
}

// reason is err without the URL that net/http puts before it, which may hold a password.
func reason(err error) error {
	if e := (*url.Error)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
