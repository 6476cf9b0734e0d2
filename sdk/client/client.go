// Package client talks to an Argosy server over REST: pipelines, experiments, runs, logs and metrics.
//
// It uses only the standard library. Every call takes a context and returns typed errors: *Error is an answer of the server other than
// success, *Unreachable means that no server answered. The client repeats reads with backoff while the server is away, and also calls that
// have the same effect when repeated, such as deleting or enabling. It repeats a call that creates something only if the connection was
// refused before anything was sent.
package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DefaultURL is the address at which `argosy up` serves by default.
const DefaultURL = "http://127.0.0.1:8888"

const (
	kfpAPI = "/apis/v1beta1"
	ownAPI = "/apis/argosy/v1"

	maxErrorBody = 64 << 10
)

// Client reaches one server. Each noun of the API has its own field: c.Runs.Create, c.Pipelines.Upload, c.Logs.Follow.
// It is safe for use by several goroutines.
type Client struct {
	Pipelines   PipelinesService
	Versions    VersionsService // of pipelines
	Experiments ExperimentsService
	Runs        RunsService
	Schedules   SchedulesService // recurring runs; the API of KFP v1 calls them jobs
	Logs        LogsService      // of the steps of runs
	Series      SeriesService    // curves: the values that metrics had while a run went on
	Artifacts   ArtifactsService // what steps left
	Jobs        JobsService      // the distributed jobs of runs
	Cluster     ClusterService   // the cluster that runs work in, and what it tells of a run
	Queues      QueuesService    // of Volcano's scheduler
	Samples     SamplesService   // pipelines that come with the server

	conn *connection
}

// The parts of a Client. Each has the calls for one noun of the API.
type (
	PipelinesService   struct{ conn *connection } // PipelinesService uploads pipelines and reads them.
	VersionsService    struct{ conn *connection } // VersionsService uploads the versions of pipelines and reads them.
	ExperimentsService struct{ conn *connection } // ExperimentsService groups runs.
	RunsService        struct{ conn *connection } // RunsService starts, follows, changes and deletes runs.
	SchedulesService   struct{ conn *connection } // SchedulesService starts runs again and again.
	LogsService        struct{ conn *connection } // LogsService reads what the steps of runs print.
	SeriesService      struct{ conn *connection } // SeriesService reads the curves of metrics.
	ArtifactsService   struct{ conn *connection } // ArtifactsService reads the files that steps leave.
	JobsService        struct{ conn *connection } // JobsService reads and stops the distributed jobs of runs.
	ClusterService     struct{ conn *connection } // ClusterService reads the nodes, and what the cluster tells of a run.
	QueuesService      struct{ conn *connection } // QueuesService reads and changes the queues of Volcano's scheduler.
	SamplesService     struct{ conn *connection } // SamplesService starts pipelines that come with the server.
)

// Option configures a Client.
type Option func(*Client)

// WithHTTPClient makes the client use h, for example for a transport of your own. Leave its Timeout at zero, because event streams stay
// open.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.conn.http = h } }

// WithRetries sets how often a call is repeated if that is safe. The default is 4; 0 means never.
func WithRetries(n int) Option { return func(c *Client) { c.conn.retries = max(n, 0) } }

// WithPatience sets how long Watch and Wait keep trying to reach the server. The default is one minute.
func WithPatience(d time.Duration) Option { return func(c *Client) { c.conn.patience = d } }

// WithPassword sends a password with every request. By default none is sent.
func WithPassword(p string) Option { return func(c *Client) { c.conn.password = p } }

// New returns a client of the server at baseURL, such as "http://127.0.0.1:8888".
func New(baseURL string, opts ...Option) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(baseURL, "/"))
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" {
		return nil, fmt.Errorf("server URL %q: want http://HOST:PORT or https://HOST:PORT", baseURL)
	}
	conn := &connection{
		base: base, http: &http.Client{}, retries: 4, backoff: 100 * time.Millisecond,
		patience: time.Minute, idle: 90 * time.Second, poll: time.Second,
	}
	c := &Client{
		conn:        conn,
		Pipelines:   PipelinesService{conn},
		Versions:    VersionsService{conn},
		Experiments: ExperimentsService{conn},
		Runs:        RunsService{conn},
		Schedules:   SchedulesService{conn},
		Logs:        LogsService{conn},
		Series:      SeriesService{conn},
		Artifacts:   ArtifactsService{conn},
		Jobs:        JobsService{conn},
		Cluster:     ClusterService{conn},
		Queues:      QueuesService{conn},
		Samples:     SamplesService{conn},
	}
	for _, o := range opts {
		o(c)
	}
	return c, nil
}

// URL is the address of the server, without a slash at the end.
func (c *Client) URL() string { return c.conn.url() }

// RunURL is the page of a run in the server's web interface.
func (c *Client) RunURL(id string) string { return c.URL() + "/runs/" + url.PathEscape(id) }

// Health is the server's report on itself.
type Health struct {
	Commit    string `json:"commit_sha,omitempty"`
	Tag       string `json:"tag_name,omitempty"`
	MultiUser bool   `json:"multi_user,omitempty"`
}

// Health asks whether the server is serving.
func (c *Client) Health(ctx context.Context) (*Health, error) {
	var h Health
	return &h, c.conn.get(ctx, kfpAPI+"/healthz", nil, &h)
}
