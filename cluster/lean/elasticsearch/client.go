// Package elasticsearch implements the only part of Elasticsearch's client that Volcano uses: a search. The real client has 500 generated
// functions, which take longer to compile than all of Volcano's scheduler (docs/adr/0034).
package elasticsearch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Config says where Elasticsearch is and who asks.
type Config struct {
	Addresses          []string // the first is asked
	Username, Password string
	Transport          http.RoundTripper
}

// Client asks one Elasticsearch.
type Client struct {
	Search Search
}

// Search sends one search.
type Search func(...func(*SearchRequest)) (*Response, error)

// SearchRequest is one search.
type SearchRequest struct {
	ctx   context.Context
	index string
	body  io.Reader
}

// Response is the answer. Its body is to be closed.
type Response struct {
	StatusCode int
	Body       io.ReadCloser
}

// NewClient refuses addresses other than URLs.
func NewClient(cfg Config) (*Client, error) {
	if len(cfg.Addresses) == 0 {
		return nil, fmt.Errorf("elasticsearch: no address")
	}
	base, err := url.Parse(strings.TrimRight(cfg.Addresses[0], "/"))
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("elasticsearch: the address %q is not a URL like https://host:9200", cfg.Addresses[0])
	}
	client := &http.Client{Transport: cfg.Transport}
	return &Client{Search: func(options ...func(*SearchRequest)) (*Response, error) {
		r := SearchRequest{ctx: context.Background()}
		for _, set := range options {
			set(&r)
		}
		req, err := http.NewRequestWithContext(r.ctx, http.MethodPost, base.JoinPath(r.index, "_search").String(), r.body)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		switch {
		case cfg.Username != "" || cfg.Password != "":
			req.SetBasicAuth(cfg.Username, cfg.Password)
		case base.User != nil:
			password, _ := base.User.Password()
			req.SetBasicAuth(base.User.Username(), password)
		}
		res, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		return &Response{StatusCode: res.StatusCode, Body: res.Body}, nil
	}}, nil
}

// WithContext bounds the search.
func (Search) WithContext(ctx context.Context) func(*SearchRequest) {
	return func(r *SearchRequest) { r.ctx = ctx }
}

// WithIndex says what is searched.
func (Search) WithIndex(index string) func(*SearchRequest) {
	return func(r *SearchRequest) { r.index = index }
}

// WithBody is the query.
func (Search) WithBody(body io.Reader) func(*SearchRequest) {
	return func(r *SearchRequest) { r.body = body }
}
