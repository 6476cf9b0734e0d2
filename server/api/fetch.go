package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/pipeline/pkgfile"
)

// fetchTimeout bounds reading a package from a URL, all in all.
const fetchTimeout = time.Minute

var errPrivate = errors.New("the address is not on the public internet")

// fetcher reads pipeline packages from URLs.
type fetcher struct{ client *http.Client }

func newFetcher(from Sources) fetcher {
	// No proxy: it would make the connection in our place, and reach what we must not. No kept connections: fetches are rare.
	transport := &http.Transport{DialContext: from.dial, DisableKeepAlives: true, TLSHandshakeTimeout: 10 * time.Second}
	return fetcher{&http.Client{Transport: transport, Timeout: fetchTimeout}}
}

// fetch reads a package. What goes wrong is for the person who gave the URL.
func (f fetcher) fetch(ctx context.Context, from string) (pipeline.Upload, error) {
	u, err := url.Parse(from)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return pipeline.Upload{}, apierr.New(apierr.Invalid, "pipeline_url %q is not an http or https URL", from)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return pipeline.Upload{}, apierr.New(apierr.Invalid, "pipeline_url %q: %v", u.Redacted(), err)
	}
	answer, err := f.client.Do(request)
	if errors.Is(err, errPrivate) {
		return pipeline.Upload{}, apierr.New(apierr.Invalid, "pipeline_url %q: %v; upload the file instead, or start the server with --import-from %s (ARGOSY_IMPORT_FROM)", u.Redacted(), errPrivate, failing(err, u).Hostname())
	}
	if err != nil {
		return pipeline.Upload{}, apierr.New(apierr.Invalid, "pipeline_url %q cannot be read: %v", u.Redacted(), reason(err))
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return pipeline.Upload{}, apierr.New(apierr.Invalid, "pipeline_url %q cannot be read: it answers %s", u.Redacted(), answer.Status)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, pkgfile.MaxSize+1))
	switch {
	case err != nil:
		return pipeline.Upload{}, apierr.New(apierr.Invalid, "pipeline_url %q did not arrive whole: %v", u.Redacted(), err)
	case len(data) > pkgfile.MaxSize:
		return pipeline.Upload{}, apierr.New(apierr.Invalid, "pipeline_url %q is larger than %d MiB", u.Redacted(), pkgfile.MaxSize>>20)
	}
	name := path.Base(u.Path)
	if name == "/" || name == "." {
		name = u.Hostname()
	}
	return pipeline.Upload{FileName: name, Data: data}, nil
}

// failing returns the URL that failed: from, or one that from redirects to.
func failing(err error, from *url.URL) *url.URL {
	if e := (*url.Error)(nil); errors.As(err, &e) {
		if u, err := url.Parse(e.URL); err == nil {
			return u
		}
	}
	return from
}

// reason is err without the URL that net/http puts before it, which may hold a password.
func reason(err error) error {
	if e := (*url.Error)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
