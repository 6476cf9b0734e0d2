package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

// serve starts a server with the handlers of mux patterns and gives a client of it that does not wait between attempts, and never
// loses its patience.
func serve(t *testing.T, handlers map[string]http.HandlerFunc) *Client {
	t.Helper()
	mux := http.NewServeMux()
	for pattern, h := range handlers {
		mux.HandleFunc(pattern, h)
	}
	s := httptest.NewServer(mux)
	transport := &http.Transport{}
	c, err := New(s.URL, WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	c.conn.backoff, c.conn.poll, c.conn.patience = time.Millisecond, time.Millisecond, time.Hour
	t.Cleanup(func() { s.CloseClientConnections(); s.Close(); transport.CloseIdleConnections() })
	return c
}

func answer(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

func refuse(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestNewRefusesWhatIsNoURL(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "localhost:8888", "ftp://x", "http://", "://"} {
		_, err := New(bad)
		require.ErrorContains(t, err, "server URL", bad)
	}
	c, err := New("https://argosy.example/base/")
	require.NoError(t, err)
	require.Equal(t, "https://argosy.example/base", c.URL())
	require.Equal(t, "https://argosy.example/base/runs/a%2Fb", c.RunURL("a/b"))
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		body    string
		message string
		code    int
		is      func(error) bool
	}{
		"gateway": {
			404, `{"error":"chain: no such run","message":"chain: no such run","code":5,"details":[{"@type":"type.googleapis.com/api.Error","error_message":"no such run","error_details":"more"}]}`,
			"no such run", CodeNotFound, IsNotFound,
		},
		"upload":    {400, `{"error_message":"not a tarball","error_details":"gzip: invalid header"}`, "not a tarball", 0, IsInvalid},
		"conflict":  {409, `{"error":"name taken","code":6}`, "name taken", CodeAlreadyExists, IsConflict},
		"plain":     {404, "404 page not found\n", "GET /apis/v1beta1/pipelines/x: HTTP 404: 404 page not found", 0, IsNotFound},
		"no body":   {500, `{}`, "the server answered HTTP 500 Internal Server Error", 0, func(err error) bool { return !IsNotFound(err) }},
		"array":     {500, `[]`, "GET /apis/v1beta1/pipelines/x: HTTP 500: []", 0, func(err error) bool { return !IsUnreachable(err) }},
		"two lines": {418, "first\nsecond", "GET /apis/v1beta1/pipelines/x: HTTP 418: first", 0, func(err error) bool { return !IsConflict(err) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, map[string]http.HandlerFunc{"/": refuse(c.status, c.body)})
			_, err := client.Pipelines.Get(t.Context(), "x")
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.status, e.Status)
			require.Equal(t, c.code, e.Code)
			require.EqualError(t, err, c.message)
			require.True(t, c.is(err))
		})
	}
}

func TestErrorsOfUploadsSayWhereTheManifestIsWrong(t *testing.T) {
	t.Parallel()
	client := serve(t, map[string]http.HandlerFunc{"/": refuse(400, `{"error_message":"cannot be used","error_details":"cannot be used","code":3,
		"faults":[{"line":6,"column":16,"path":"spec.parallelism","message":"it must be a whole number","excerpt":["spec:","  parallelism: many"],"excerpt_from":5}]}`)})
	_, err := client.Pipelines.Upload(t.Context(), "x", strings.NewReader("kind: Workflow"))
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, []Fault{{
		Line: 6, Column: 16, Path: "spec.parallelism", Message: "it must be a whole number", Excerpt: []string{"spec:", "  parallelism: many"}, ExcerptFrom: 5,
	}}, e.Faults)
}

func TestRetries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method string
		status int
		tries  int32
	}{
		"GET 503":  {http.MethodGet, 503, 5},
		"GET 429":  {http.MethodGet, 429, 5},
		"GET 500":  {http.MethodGet, 500, 1},
		"GET 404":  {http.MethodGet, 404, 1},
		"POST 503": {http.MethodPost, 503, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int32
			client := serve(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, _ *http.Request) {
				tries.Add(1)
				w.WriteHeader(c.status)
			}})
			var err error
			if c.method == http.MethodGet {
				_, err = client.Runs.Get(t.Context(), "x")
			} else {
				_, err = client.Runs.Create(t.Context(), NewRun{Name: "x"})
			}
			require.Error(t, err)
			require.Equal(t, c.tries, tries.Load())
		})
	}
}

func TestGetSurvivesABrokenConnection(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	client := serve(t, map[string]http.HandlerFunc{"GET /apis/v1beta1/healthz": func(w http.ResponseWriter, _ *http.Request) {
		if tries.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		answer(`{"commit_sha":"abc","multi_user":false}`)(w, nil)
	}})
	h, err := client.Health(t.Context())
	require.NoError(t, err)
	require.Equal(t, "abc", h.Commit)
}

// What comes to the same when done twice is repeated after an answer that got lost. Where the first attempt had done it,
// the server's answer to the second counts as success.
func TestWhatIsSafeIsRepeatedWhenTheAnswerIsLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call  func(context.Context, *Client) error
		again http.HandlerFunc
	}{
		"enable":               {func(ctx context.Context, c *Client) error { return c.Schedules.Enable(ctx, "x") }, answer("{}")},
		"archive":              {func(ctx context.Context, c *Client) error { return c.Runs.Archive(ctx, "x") }, answer("{}")},
		"default":              {func(ctx context.Context, c *Client) error { return c.Versions.SetDefault(ctx, "x", "y") }, answer("{}")},
		"delete":               {func(ctx context.Context, c *Client) error { return c.Runs.Delete(ctx, "x") }, answer("{}")},
		"delete, done before":  {func(ctx context.Context, c *Client) error { return c.Pipelines.Delete(ctx, "x") }, refuse(404, `{"message":"no x","code":5}`)},
		"terminate, had ended": {func(ctx context.Context, c *Client) error { return c.Runs.Terminate(ctx, "x") }, refuse(400, `{"message":"ended","code":3}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, first := range []http.HandlerFunc{
				func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
				refuse(http.StatusServiceUnavailable, `{"message":"away","code":14}`),
			} {
				var tries atomic.Int32
				client := serve(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
					if tries.Add(1) == 1 {
						first(w, r)
						return
					}
					c.again(w, r)
				}})
				require.NoError(t, c.call(t.Context(), client))
				require.Equal(t, int32(2), tries.Load())
			}
		})
	}
	gone := serve(t, map[string]http.HandlerFunc{"/": refuse(404, `{"message":"no x","code":5}`)})
	require.True(t, IsNotFound(gone.Runs.Delete(t.Context(), "x")), "the first answer counts as it is")
	require.True(t, IsNotFound(gone.Runs.Retry(t.Context(), "x")))
}

func TestPostIsNotRepeatedOnceSent(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	client := serve(t, map[string]http.HandlerFunc{"/": func(http.ResponseWriter, *http.Request) {
		tries.Add(1)
		panic(http.ErrAbortHandler)
	}})
	_, err := client.Runs.Create(t.Context(), NewRun{Name: "x"})
	require.True(t, IsUnreachable(err))
	require.ErrorContains(t, err, "lost the connection")
	require.Equal(t, int32(1), tries.Load())
}

// nowhere is an address that refuses connections: its port is not one that the kernel assigns.
const nowhere = "127.0.0.1:1"

// The server is there only after the first attempts were refused.
func TestPostIsRepeatedWhenRefused(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(answer(`{"run":{"id":"r1","name":"x"}}`))
	defer s.Close()
	var dialed atomic.Int32
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		address := s.Listener.Addr().String()
		if dialed.Add(1) <= 3 {
			address = nowhere
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
	defer transport.CloseIdleConnections()
	client, err := New("http://"+nowhere, WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	client.conn.backoff = time.Millisecond
	r, err := client.Runs.Create(t.Context(), NewRun{Name: "x"})
	require.NoError(t, err)
	require.Equal(t, "r1", r.ID)
	require.Equal(t, int32(4), dialed.Load())
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	client, err := New("http://"+nowhere, WithRetries(0))
	require.NoError(t, err)
	_, err = client.Health(t.Context())
	require.True(t, IsUnreachable(err))
	require.ErrorContains(t, err, "argosy up")
}

func TestCancelledCallGivesTheCause(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	client := serve(t, map[string]http.HandlerFunc{"/": func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	}})
	cause := fmt.Errorf("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-arrived; cancel(cause) }()
	_, err := client.Health(ctx)
	require.ErrorIs(t, err, cause)
}

// A call whose time is over while its answer comes gives the cause as well.
func TestTimeIsOverWithinAnAnswer(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"an answer": http.StatusOK, "an error": http.StatusNotFound} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cause := errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			client := serve(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, `{"commit_sha":`)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}})
			client.conn.http.Transport = begun{client.conn.http.Transport, func() { cancel(cause) }}
			_, err := client.Health(ctx)
			require.ErrorIs(t, err, cause)
		})
	}
}

// begun says when an answer has begun.
type begun struct {
	http.RoundTripper
	say func()
}

func (b begun) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(r)
	b.say()
	return resp, err
}

func TestNotJSON(t *testing.T) {
	t.Parallel()
	client := serve(t, map[string]http.HandlerFunc{"/": answer("<html>")})
	_, err := client.Health(t.Context())
	require.ErrorContains(t, err, "is this an Argosy server?")
}

func TestPaths(t *testing.T) {
	t.Parallel()
	paths := make(chan string, 1)
	client := serve(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
		paths <- r.URL.EscapedPath()
		answer(`{}`)(w, r)
	}})
	_, err := client.Pipelines.Get(t.Context(), "a/../b c%")
	require.NoError(t, err)
	require.Equal(t, "/apis/v1beta1/pipelines/a%2F..%2Fb%20c%25", <-paths)
}

func TestConfig(t *testing.T) { // changes the environment: not parallel
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv(EnvURL, "")
	urlOf := func() string {
		c, err := FromEnv()
		require.NoError(t, err)
		return c.URL()
	}
	require.Equal(t, DefaultURL, urlOf())

	file, err := ConfigFile()
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "argosy", "config.json"), file)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(`{"url":"http://file:1"}`), 0o600))
	require.Equal(t, "http://file:1", urlOf())

	t.Setenv(EnvURL, "http://env:2")
	require.Equal(t, "http://env:2", urlOf())
	t.Setenv(EnvPassword, "of the environment")
	c, err := FromEnv()
	require.NoError(t, err)
	require.Equal(t, "of the environment", c.conn.password)

	t.Setenv(EnvURL, "")
	require.NoError(t, os.WriteFile(file, []byte(`{"URI":"x"}`), 0o600))
	_, err = FromEnv()
	require.ErrorContains(t, err, file)
	require.ErrorContains(t, err, `unknown field "URI"`)
}

func TestListQuery(t *testing.T) {
	t.Parallel()
	q, err := ListOptions{PageSize: 5, PageToken: "t", SortBy: "name desc", Filter: []Predicate{Equals("name", "50% a&b"), OneOf("status", "Failed", "Error")}}.query()
	require.NoError(t, err)
	require.Equal(t, "5", q.Get("page_size"))
	require.Equal(t, "t", q.Get("page_token"))
	require.Equal(t, "name desc", q.Get("sort_by"))
	text, err := url.QueryUnescape(q.Get("filter"))
	require.NoError(t, err)
	var f map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &f))
	require.Equal(t, map[string]any{"predicates": []any{
		map[string]any{"op": "EQUALS", "key": "name", "string_value": "50% a&b"},
		map[string]any{"op": "IN", "key": "status", "string_values": map[string]any{"values": []any{"Failed", "Error"}}},
	}}, f)
}
