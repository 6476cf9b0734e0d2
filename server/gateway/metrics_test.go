package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/run"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	s.record(t, id, run.State{Status: run.Running, Workflow: []byte(`{}`), Nodes: []run.Node{s.stepNode("n", run.Succeeded)}})
	s.print("n", "hello\n", true)
	s.harvest(t, id, "n")
	s.get(t, "/apis/v1beta1/runs/"+id, 200)
	s.get(t, "/apis/argosy/v1/runs/none", 404)
	s.get(t, "/apis/argosy/v1/nonsense-"+id, 404)
	s.get(t, "/some/page/"+id, 200)
	s.get(t, "/apis/v1beta1/runs/"+id+"/nodes/x/log", 404)
	s.do(t, "STRANGE"+id[:4], "/apis/v1beta1/runs/"+id, "", nil)
	got := s.get(t, "/metrics", 200)
	for _, line := range []string{
		`argosy_http_request_duration_seconds_count{code="200",method="GET",route="/apis/v1beta1/runs/{run_id=*}"} 1`,
		`argosy_http_request_duration_seconds_count{code="404",method="GET",route="/apis/argosy/v1/runs/{run_id=*}"} 1`,
		`argosy_http_request_duration_seconds_count{code="404",method="GET",route="none"} 1`,
		`argosy_http_request_duration_seconds_count{code="200",method="GET",route="ui"} 1`,
		`argosy_http_request_duration_seconds_count{code="404",method="GET",route="/apis/v1beta1/runs/{run}/nodes/{node}/log"} 1`,
		`argosy_http_requests_open 1`,
		`argosy_runs{status="Running"} 1`,
		`argosy_outbox_runs 0`,
		`argosy_logs 1`, `argosy_logs_bytes 6`, `argosy_logs_parts 1`, `argosy_logs_live 0`, `argosy_logs_waiting 0`, `argosy_logs_lag_seconds 0`,
		`argosy_store_write_duration_seconds_count{failed="false"}`,
		`go_goroutines`,
	} {
		require.Contains(t, got, line)
	}
	require.NotContains(t, got, id, "nothing of users is in labels")
	require.NotContains(t, got, "STRANGE")

	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/cmdline"} {
		status, _, _ := s.do(t, http.MethodGet, path, "", nil, "Host", "evil.example")
		require.Equal(t, http.StatusForbidden, status, "%s is for this machine alone", path)
	}
	require.Contains(t, s.get(t, "/debug/pprof/", 200), "goroutine")
	require.Contains(t, s.get(t, "/debug/pprof/goroutine?debug=1", 200), "goroutine profile")
}

// TestCostlyPages: an image on a page of elsewhere can ask for a profile, and gets none.
func TestCostlyPages(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/profile?seconds=60"} {
		for name, headers := range map[string][]string{
			"a page of elsewhere":           {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"},
			"a page of another port":        {"Sec-Fetch-Site", "same-site"},
			"the same, in an old browser":   {"Origin", "https://evil.example"},
			"a link on a page of elsewhere": {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"},
		} {
			status, _, answer := s.do(t, http.MethodGet, path, "", nil, headers...)
			require.Equal(t, http.StatusForbidden, status, "%s from %s: %s", path, name, answer)
		}
	}
	for name, site := range map[string]string{"our own page": "same-origin", "the address bar": "none"} {
		status, _, _ := s.do(t, http.MethodGet, "/debug/pprof/cmdline", "", nil, "Sec-Fetch-Site", site)
		require.Equal(t, http.StatusOK, status, name)
	}
}

func TestDocsPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	status, header, page := s.do(t, http.MethodGet, "/apis/docs", "", nil)
	require.Equal(t, 200, status)
	require.Equal(t, "text/html; charset=utf-8", header.Get("Content-Type"))
	require.NotContains(t, strings.ToLower(page), "<script", "it needs none")
	require.NotContains(t, page, "http://", "nothing comes from elsewhere")
	require.NotContains(t, page, "https://")
	for _, part := range []string{
		"/apis/argosy/v1/runs/{run_id}/events", "/apis/v1beta1/pipelines/upload", `id="schema-argosy.v1.RunView"`, `href="#schema-argosy.v1.Comparison"`,
		"Puts runs beside each other", "OUTCOME_UNCHANGED",
	} {
		require.Contains(t, page, part)
	}
	require.Less(t, len(page), 300<<10)
}
