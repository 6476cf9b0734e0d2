package notebook

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

// written is a page with its pictures written out.
func written(t *testing.T, page string) string {
	t.Helper()
	picture := regexp.MustCompile(`data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)`)
	return picture.ReplaceAllStringFunc(page, func(s string) string {
		svg, err := base64.StdEncoding.DecodeString(picture.FindStringSubmatch(s)[1])
		require.NoError(t, err)
		return string(svg)
	})
}

const node = `{"id":"%s","display_name":"%s","type":"%s","phase":"%s","pod_name":"%s","children":[%s]}`

func run(status string, nodes ...string) string {
	return fmt.Sprintf("event: run\ndata: {\"id\":\"r1\",\"name\":\"my <run>\",\"status\":%q,\"nodes\":[%s],\"metrics\":[{\"name\":\"images/sec\",\"node_id\":\"t\",\"value\":12.5}]}\n\n",
		status, strings.Join(nodes, ","))
}

func TestWatchShowsGraphCurveAndLog(t *testing.T) {
	t.Parallel()
	shown := make(chan struct{}) // closed with the first page
	mux := http.NewServeMux()
	mux.HandleFunc("GET /apis/argosy/v1/runs/r1/events", func(w http.ResponseWriter, r *http.Request) {
		if q := r.URL.Query(); q.Get("logs") != "true" || q.Get("points") != "true" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		dag := fmt.Sprintf(node, "d", "dag", "DAG", "Running", "", `"p"`)
		prepare := fmt.Sprintf(node, "p", "prepare", "Pod", "Succeeded", "pod-p", `"g"`)
		group := fmt.Sprintf(node, "g", "group", "TaskGroup", "Running", "", `"t"`)
		_, _ = io.WriteString(w, run("Running", dag, prepare, group, fmt.Sprintf(node, "t", "train", "Pod", "Running", "pod-t", "")))
		_ = http.NewResponseController(w).Flush()
		event := func(name, data string, args ...any) {
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, fmt.Sprintf(data, args...))
		}
		event("log", `{"node_id":"p","lines":["prepared"],"ended":true}`)
		for i := range 40 {
			event("points", `{"points":[{"node_id":"t","name":"images/sec","step":"%d","value":%d},{"node_id":"t","name":"other","step":"1","value":1},{"node_id":"t","name":"images/sec","step":"%d"}]}`, i, 100+i, i)
			event("log", `{"node_id":"t","first":"%d","lines":["[1,0]<stdout>:step %d images/sec: %d"]}`, i, i, 100+i)
		}
		event("log", `{"node_id":"t","first":"40","lines":["\u001b[31mit <broke>\u001b[0m"],"ended":true}`)
		event("later", `{}`)
		_ = http.NewResponseController(w).Flush()
		select { // the run ends after it was shown
		case <-shown:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, run("Failed", dag, prepare, group, fmt.Sprintf(node, "t", "train", "Pod", "Failed", "pod-t", ""))+"event: end\ndata: {}\n\n")
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c, err := client.New(server.URL, client.WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)

	var mu sync.Mutex
	var pages []string
	w := newWatcher(c, []string{"images/sec"}, func(page string) {
		mu.Lock()
		defer mu.Unlock()
		if pages = append(pages, page); len(pages) == 1 {
			close(shown)
		}
	})
	last, err := w.watch(t.Context(), &client.Run{ID: "r1", Name: "my <run>"})
	require.NoError(t, err)
	require.Equal(t, client.Failed, last.Status)
	require.NotEmpty(t, pages, "it was shown as it went")

	page := written(t, w.page(last))
	require.Contains(t, page, "<b>my &lt;run&gt;</b> · Failed")
	require.Contains(t, page, "<title>t: Failed</title>")
	require.Contains(t, page, ">prepare</text>")
	require.NotContains(t, page, ">dag</text>")
	require.Equal(t, 1, strings.Count(page, `fill="#9aa4b2"`), "one edge, through the group")
	require.Contains(t, page, "images/sec of train rank 0 139", "the curve's name and last value")
	require.NotContains(t, page, "other of train")
	require.Contains(t, page, "<td>images/sec</td><td>train</td><td>12.5</td>")
	require.Contains(t, page, "<p>log of train</p>")
	require.Contains(t, page, "\nit &lt;broke&gt;</pre>")
	require.Equal(t, tailLines, strings.Count(page[strings.Index(page, "<pre>"):], "\n")+1)
}

func TestPassesOfALoopStandInOrder(t *testing.T) {
	t.Parallel()
	var nodes []client.Node
	for i, name := range []string{"wf.l(10:z).fit", "wf.l(2:b).fit", "wf.report", "wf.l(0:a).fit"} {
		nodes = append(nodes, client.Node{ID: strconv.Itoa(i), Name: name, DisplayName: name[strings.LastIndex(name, ".")+1:], Type: "Pod"})
	}
	var labels []string
	for _, n := range steps(&client.Run{Nodes: nodes}) {
		labels = append(labels, n.Label)
	}
	require.Equal(t, []string{"fit(0:a)", "fit(2:b)", "fit(10:z)", "report"}, labels)
}

func TestWatchEndsWithItsServer(t *testing.T) {
	t.Parallel()
	c, err := client.New("http://127.0.0.1:1", client.WithRetries(0), client.WithPatience(10*time.Millisecond))
	require.NoError(t, err)
	given := &client.Run{ID: "r1"}
	last, err := newWatcher(c, nil, func(string) {}).watch(t.Context(), given)
	require.True(t, client.IsUnreachable(err), "%v", err)
	require.Equal(t, given, last)
}

func TestComparison(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	made := func(name, workers string, metrics ...client.Metric) *client.Run {
		return &client.Run{
			Name: name, Status: client.Succeeded, StartedAt: start, FinishedAt: start.Add(90 * time.Second), Metrics: metrics,
			Parameters: []client.Parameter{{Name: "image", Value: "x"}, {Name: "workers", Value: workers}},
			Nodes:      []client.Node{{ID: "n", DisplayName: "train"}},
		}
	}
	page := written(t, comparison(client.CompareRuns(made("a<b", "1", client.Metric{Name: "acc", NodeID: "n", Value: 0.5, Format: "PERCENTAGE"}), made("two", "2"))))
	require.Contains(t, page, "<th>a&lt;b</th><th>two</th>")
	require.Contains(t, page, "<td>took</td><td>1m30s</td><td>1m30s</td>")
	require.Contains(t, page, "<td><b>acc</b> of train</td><td>50.00%</td><td>–</td>")
	require.Less(t, strings.Index(page, "<b>workers</b>"), strings.Index(page, "<td>image</td>"), "what differs comes first")
	require.Contains(t, page, "<title>acc of train</title>")
}

func TestOutsideOfANotebook(t *testing.T) {
	t.Parallel()
	p := dsl.New("p")
	dsl.Run(p, "step", dsl.Container{Image: dsl.Lit("alpine:3.22")})
	require.ErrorIs(t, Show(p), errNoNotebook)
	var faults dsl.Faults
	require.ErrorAs(t, Show(dsl.New("empty")), &faults)
	_, err := Watch(t.Context(), &client.Run{ID: "r"})
	require.ErrorIs(t, err, errNoNotebook)
	require.ErrorIs(t, Compare(&client.Run{}), errNoNotebook)
	require.ErrorContains(t, Compare(), "no runs")
}
