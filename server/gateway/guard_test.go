package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/gateway"
)

func TestGuard(t *testing.T) {
	t.Parallel()
	s := start(t)
	own := strings.TrimPrefix(s.url, "http://")
	for name, c := range map[string]struct {
		method  string
		headers []string
		status  int
	}{
		"a program":                        {"POST", nil, 200},
		"our own page":                     {"POST", []string{"Origin", s.url, "Sec-Fetch-Site", "same-origin"}, 200},
		"our own page, in an old browser":  {"POST", []string{"Origin", s.url}, 200},
		"a page of elsewhere":              {"POST", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, 403},
		"the same, in an old browser":      {"POST", []string{"Origin", "https://evil.example"}, 403},
		"a page of another port":           {"POST", []string{"Origin", "http://localhost:1", "Sec-Fetch-Site", "same-site"}, 403},
		"a page without origin":            {"POST", []string{"Origin", "null"}, 403},
		"a method by header":               {"POST", []string{"Origin", "https://evil.example", "X-HTTP-Method-Override", "GET"}, 403},
		"reading, which the browser keeps": {"GET", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, 200},
		"a rebound name":                   {"GET", []string{"Host", "evil.example:8888"}, 403},
		"a rebound name that looks local":  {"GET", []string{"Host", "localhost.evil.example"}, 403},
		"a rebound name that posts":        {"POST", []string{"Host", "evil.example", "Origin", "http://evil.example"}, 403},
		"localhost":                        {"GET", []string{"Host", "localhost:8888"}, 200},
		"the address":                      {"GET", []string{"Host", own}, 200},
	} {
		path, body := "/apis/v1beta1/healthz", ""
		if c.method == http.MethodPost {
			path, body = "/apis/v1beta1/experiments", `{"name":"`+name+`"}`
		}
		status, headers, answer := s.do(t, c.method, path, "application/json", strings.NewReader(body), c.headers...)
		require.Equal(t, c.status, status, "%s: %s", name, answer)
		if status == 403 {
			require.Contains(t, answer, `"code":7`)
		}
		require.Contains(t, headers.Get("Content-Security-Policy"), "default-src 'self'")
		require.Equal(t, "nosniff", headers.Get("X-Content-Type-Options"))
		require.Equal(t, "DENY", headers.Get("X-Frame-Options"))
		require.Empty(t, headers.Get("Access-Control-Allow-Origin"))
	}
}

// TestHosts: a server that has names of its own answers to those, too, and to no others.
func TestHosts(t *testing.T) {
	t.Parallel()
	s := start(t, func(s *server) { s.hosts = []string{"argosy", "argosy.kubeflow.svc"} })
	for host, want := range map[string]int{
		"argosy": 200, "argosy:8888": 200, "Argosy.Kubeflow.SVC.": 200, "localhost": 200,
		"argosy.evil.example": 403, "kubeflow": 403, "10.0.0.1:8888": 403, "": 200, // that is the address
	} {
		headers := []string{"Host", host}
		status, _, body := s.do(t, "GET", "/apis/v1beta1/healthz", "", nil, headers...)
		require.Equal(t, want, status, "%s: %s", host, body)
		if status == 403 {
			require.Contains(t, body, "this server answers to localhost, argosy, argosy.kubeflow.svc only, not to "+host)
		}
	}
	status, _, body := s.do(t, "POST", "/apis/v1beta1/experiments", "application/json", strings.NewReader(`{"name":"x"}`), "Host", "argosy:8888", "Origin", "http://argosy:8888")
	require.Equal(t, 200, status, "its own page: %s", body)
	status, _, _ = s.do(t, "POST", "/apis/v1beta1/experiments", "application/json", strings.NewReader(`{"name":"y"}`), "Host", "argosy:8888", "Origin", "http://evil.example")
	require.Equal(t, 403, status)
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST:80": true, "localhost.": true, "a.localhost:1": true, "127.0.0.1": true, "127.1.2.3:8888": true,
		"[::1]:8888": true, "::1": true, "[::1]": true,
		"": false, ":8888": false, "0.0.0.0:80": false, "10.0.0.1": false, "example.com": false, "localhost.example.com": false,
		"notlocalhost": false, "127.0.0.1.example.com": false, "[::]:80": false,
	} {
		require.Equal(t, want, gateway.Loopback(host), host)
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	s := start(t)
	require.Equal(t, `{"commit_sha":"abc","tag_name":"v1.2.3"}`, s.get(t, "/apis/v1beta1/healthz", 200))
	for _, path := range []string{"/apis/v1beta1/nonsense", "/apis/v2/x", "/apis/", "/apis", "/assets/of-another-build.js"} {
		status, headers, body := s.do(t, http.MethodGet, path, "", nil)
		require.Equal(t, 404, status, path)
		require.Contains(t, headers.Get("Content-Type"), "text/plain", path)
		require.NotContains(t, body, "{", path)
	}
	status, headers, _ := s.do(t, http.MethodPut, "/apis/v1beta1/healthz", "", nil)
	require.Equal(t, 405, status)
	require.Contains(t, headers.Get("Content-Type"), "text/plain")

	for _, path := range []string{"/", "/runs/some-id", "/pipelines?x=1"} {
		require.Equal(t, "<title>ui</title>", s.get(t, path, 200), path)
	}
	_, headers, body := s.do(t, http.MethodGet, "/assets/app.js", "", nil)
	require.Equal(t, "js", body)
	require.Contains(t, headers.Get("Cache-Control"), "immutable")
	status, _, _ = s.do(t, http.MethodPost, "/runs", "", nil)
	require.Equal(t, 405, status)

	require.Contains(t, s.get(t, "/apis/openapi.yaml", 200), "openapi: 3.1.0")
	require.Equal(t, "3.1.0", field(t, s.get(t, "/apis/openapi.json", 200), "openapi"))
}
