package runview

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

func serve(t *testing.T, handlers map[string]http.HandlerFunc) *client.Client {
	t.Helper()
	mux := http.NewServeMux()
	for pattern, h := range handlers {
		mux.HandleFunc(pattern, h)
	}
	s := httptest.NewServer(mux)
	transport := &http.Transport{}
	t.Cleanup(func() { s.CloseClientConnections(); s.Close(); transport.CloseIdleConnections() })
	c, err := client.New(s.URL, client.WithHTTPClient(&http.Client{Transport: transport}), client.WithRetries(0))
	require.NoError(t, err)
	return c
}

// view is an event with a run of two steps in these phases.
func view(status, first, second string) string {
	return fmt.Sprintf(`event: run
data: {"id":"r","name":"run","status":%q,"nodes":[{"id":"dag","name":"run","type":"DAG","phase":"Running"},
data: {"id":"b","name":"run.second","display_name":"second","type":"Pod","phase":%q,"has_log":%t},
data: {"id":"a","name":"run.first","display_name":"first","type":"Pod","phase":%q,"has_log":true,"started_at":"2026-11-20T10:00:00Z"}]}

`, status, second, second != "Pending", first)
}

func TestFollower(t *testing.T) {
	t.Parallel()
	read := make(chan struct{})
	c := serve(t, map[string]http.HandlerFunc{
		"GET /apis/argosy/v1/runs/r/events": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, view("Running", "Running", "Pending"))
			_ = http.NewResponseController(w).Flush()
			<-read
			fmt.Fprint(w, view("Running", "Succeeded", "Running"), view("Failed", "Succeeded", "Failed"), "event: end\ndata: {}\n\n")
		},
		"GET /apis/argosy/v1/runs/r/nodes/a/log": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "one\r\ntwo\nunfinished")
		},
		"GET /apis/argosy/v1/runs/r/nodes/b/log": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
		},
	})
	var steps, lines, lost []string
	f := Follower{
		Client:   c,
		patience: time.Hour,
		Step:     func(n client.Node) { steps = append(steps, n.Label()+" "+n.Phase) },
		Line: func(n client.Node, line string) {
			lines = append(lines, n.Label()+" "+line)
			if line == "unfinished" {
				close(read)
			}
		},
		Lost: func(n client.Node, err error) { lost = append(lost, n.Label()+" "+err.Error()) },
	}
	r, err := f.Run(t.Context(), "r")
	require.NoError(t, err)
	require.Equal(t, client.Failed, r.Status)
	require.Equal(t, []string{"first Running", "second Pending", "first Succeeded", "second Running", "second Failed"}, steps)
	require.Equal(t, []string{"first one", "first two", "first unfinished"}, lines)
	require.Len(t, lost, 1)
	require.Contains(t, lost[0], "second ")
}

// The follower prints each waiting sentence once, however often it comes back.
func TestFollowerTellsWhatStepsWaitFor(t *testing.T) {
	t.Parallel()
	c := serve(t, map[string]http.HandlerFunc{
		"GET /apis/argosy/v1/runs/r/events": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for _, step := range []string{
				`"phase":"Pending"`, `"phase":"Pending","waiting":"needs 4 CPUs"`, `"phase":"Pending","waiting":"needs 4 CPUs"`,
				`"phase":"Pending","waiting":"the image is pulled"`, `"phase":"Pending","waiting":"needs 4 CPUs"`, `"phase":"Running"`, `"phase":"Succeeded"`,
			} {
				fmt.Fprintf(w, "event: run\ndata: {\"id\":\"r\",\"status\":\"Succeeded\",\"nodes\":[{\"id\":\"a\",\"name\":\"a\",\"type\":\"Pod\",%s}]}\n\n", step)
			}
			fmt.Fprint(w, "event: end\ndata: {}\n\n")
		},
	})
	var steps []string
	f := Follower{Client: c, Step: func(n client.Node) { steps = append(steps, strings.TrimSpace(n.Phase+" "+n.Waiting)) }}
	_, err := f.Run(t.Context(), "r")
	require.NoError(t, err)
	require.Equal(t, []string{"Pending", "Pending needs 4 CPUs", "Pending the image is pulled", "Running", "Succeeded"}, steps)
}

func TestFollowerOfNoRun(t *testing.T) {
	t.Parallel()
	c := serve(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(404)
		fmt.Fprint(w, `{"message":"no run r","code":5}`)
	}})
	_, err := (&Follower{Client: c}).Run(t.Context(), "r")
	require.True(t, client.IsNotFound(err))
}

var failed = &client.Run{
	ID: "r", Name: "run", Status: client.Failed, Error: "child failed",
	Nodes: []client.Node{
		{ID: "dag", Name: "run", Type: "DAG", Phase: client.Failed},
		{ID: "c", DisplayName: "never", Type: "Skipped", Phase: "Omitted"},
		{ID: "f", DisplayName: "later", Type: "Pod", Phase: client.Pending, Waiting: `secret "s" not found`},
		{ID: "e", DisplayName: "other", Type: "Skipped", Phase: "Skipped", Message: "when '1 > 2' evaluated false"},
		{
			ID: "a", DisplayName: "train(1)", Template: "train", Type: "Pod", Phase: client.Failed, ExitCode: "7", HasLog: true, Message: "exit code 7",
			StartedAt: at(10), FinishedAt: at(75), Outputs: []client.Parameter{{Name: "world-size", Value: "2"}, {Name: "text", Value: "two\nlines"}},
		},
		{ID: "b", DisplayName: "train(0)", Template: "train", Type: "Pod", Phase: client.Errored, StartedAt: at(0), FinishedAt: at(5), Message: "cause\nlast line", HasLog: true},
	},
	Metrics: []client.Metric{{Name: "images/sec", NodeID: "a", Value: 134.66, Format: "RAW"}, {Name: "accuracy", NodeID: "a", Value: 0.5, Format: "PERCENTAGE"}},
}

func at(second int) time.Time { return time.Date(2026, 11, 20, 10, 0, second, 0, time.UTC) }

func TestFindStep(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{"a": "a", "train(0)": "b", "train": "a", "never": "c"} {
		n, err := FindStep(failed, name)
		require.NoError(t, err)
		require.Equal(t, id, n.ID, name)
	}
	_, err := FindStep(failed, "dag")
	require.True(t, client.IsNotFound(err))
	require.EqualError(t, err, `run run has no step "dag"; it has: 'train(0)', 'train(1)', never, later, other`)

	looped := &client.Run{Name: "run", Nodes: []client.Node{
		{ID: "a", Name: "run.loop(0:0.1).train(0)", DisplayName: "train(0)", Template: "train", Type: "Pod"},
		{ID: "b", Name: "run.loop(0:0.1).train(1)", DisplayName: "train(1)", Template: "train", Type: "Pod"},
		{ID: "c", Name: "run.loop(1:0.2).train(0)", DisplayName: "train(0)", Template: "train", Type: "Pod"},
	}}
	n, err := FindStep(looped, "train(1)(0:0.1)")
	require.NoError(t, err)
	require.Equal(t, "b", n.ID)
	for _, name := range []string{"train", "train(0)"} {
		_, err = FindStep(looped, name)
		require.ErrorContains(t, err, "a loop ran "+name+" several times; name one of 'train(0)(0:0.1)', ")
		require.Equal(t, exit.Usage, exit.Code(err))
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := output.Printer{Out: &out, Format: output.Table}
	StepTable(p, failed)
	MetricTable(p, failed)
	StepTable(p, &client.Run{})
	MetricTable(p, &client.Run{})
	require.Equal(t, `STEP       STATUS    TOOK   EXIT CODE   OUTPUTS
train(0)   Error     5s
train(1)   Failed    1m5s   7           world-size=2
never      Omitted
later      Pending                                     secret "s" not found
other      Skipped                                     when '1 > 2' evaluated false
METRIC       VALUE     STEP
images/sec   134.660   train(1)
accuracy     50.000%   train(1)
no steps yet
no metrics
`, out.String())
}

func TestStepLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := terminal.Plain(&out)
	for _, n := range []client.Node{
		{DisplayName: "train", Phase: client.Pending, Message: "Unschedulable: 0/1 nodes are available", Waiting: "no node has 4 CPUs free"},
		{DisplayName: "train", Phase: client.Pending, Message: "PodInitializing"},
		{DisplayName: "train", Phase: client.Running, StartedAt: at(0)},
		{DisplayName: "train", Phase: client.Succeeded, StartedAt: at(0), FinishedAt: at(3)},
		{DisplayName: "prep", Phase: client.Succeeded, Message: "taken from the cache", StartedAt: at(0), FinishedAt: at(0)},
		{DisplayName: "test", Phase: client.Failed, StartedAt: at(0), FinishedAt: at(3)},
		{Name: "run.loop(2:b).quick", DisplayName: "quick", Phase: client.Succeeded, StartedAt: at(3), FinishedAt: at(3)},
		{DisplayName: "deleted", Phase: client.Errored},
	} {
		StepLine(s, n)
	}
	require.Equal(t, "  · train Pending: no node has 4 CPUs free\n  · train Pending\n  · train Running\n  ✓ train Succeeded 3s\n  ✓ prep Succeeded (taken from the cache)\n  ✗ test Failed 3s\n  ✓ quick(2:b) Succeeded <1s\n  ✗ deleted Error\n", out.String())
}

func TestExplain(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("early\n", 100_000)
	c := serve(t, map[string]http.HandlerFunc{
		"GET /apis/argosy/v1/runs/r/nodes/a/log": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, long)
			for i := range 20 {
				fmt.Fprintf(w, "line %d\n", i)
			}
		},
	})
	var out bytes.Buffer
	Explain(t.Context(), &out, c, failed)
	var last strings.Builder
	for i := range 20 {
		fmt.Fprintf(&last, "    line %d\n", i)
	}
	require.Equal(t, "child failed\nstep train(0) error\n    cause\n    last line\n"+
		"step train(1) failed with exit code 7\n    exit code 7\nits last lines:\n"+last.String(), out.String())
}

// Kubernetes tells times to the second: of two steps that began in the same one, the order is that of the graph.
func TestStepsThatWaitedComeLater(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	run := &client.Run{Nodes: []client.Node{
		{ID: "waits", Type: "Pod"},
		{ID: "a", Type: "Pod", StartedAt: at, DisplayName: "show"},
		{ID: "b", Type: "Pod", StartedAt: at, DisplayName: "epoch 2", Children: []string{"inner"}},
		{ID: "inner", Type: "TaskGroup", StartedAt: at, Children: []string{"a"}},
		{ID: "c", Type: "Pod", StartedAt: at, DisplayName: "epoch 1", Children: []string{"b"}},
		{ID: "d", Type: "Pod", StartedAt: at.Add(-time.Second), DisplayName: "first"},
	}}
	var names []string
	for _, n := range Steps(run) {
		names = append(names, n.DisplayName)
	}
	require.Equal(t, []string{"first", "epoch 1", "epoch 2", "show", ""}, names)
}
