package client

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// The bodies below have the shapes of the v1beta1 wire: zero values left out, an empty list is {}.
const (
	wirePipeline = `{"id":"p1","created_at":"2026-11-20T10:00:00Z","name":"mpi-run","parameters":[{"name":"workers","value":"1"},{"name":"data"}],` +
		`"default_version":{"id":"p1","name":"mpi-run","created_at":"2026-11-20T10:00:00Z","resource_references":[{"key":{"type":"PIPELINE","id":"p1"},"relationship":"OWNER"}]}}`
	wireRunDetail = `{"run":{"id":"r1","name":"mpirun","pipeline_spec":{"pipeline_id":"p1","pipeline_name":"mpi-run","workflow_manifest":"{}","parameters":[{"name":"data"}]},` +
		`"resource_references":[{"key":{"type":"EXPERIMENT","id":"e1"},"name":"Default","relationship":"OWNER"},{"key":{"type":"PIPELINE_VERSION","id":"p1"},"name":"mpi-run","relationship":"CREATOR"}],` +
		`"created_at":"2026-11-20T10:00:00Z","scheduled_at":"1970-01-01T00:00:00Z","finished_at":"1970-01-01T00:00:00Z"},"pipeline_runtime":{"workflow_manifest":"{}"}}`
	runView = `{"id":"r1","name":"mpirun","status":"Succeeded","created_at":"2026-11-20T10:00:00Z","started_at":"2026-11-20T10:00:01Z","finished_at":"2026-11-20T10:00:31Z",` +
		`"experiment":{"id":"e1","name":"Default"},"pipeline":{"id":"p1","name":"mpi-run","version_id":"p1"},"workflow":{"namespace":"kubeflow","name":"mpi-run-abcde"},` +
		`"nodes":[{"id":"n1","name":"mpi-run-abcde.all-reduce","display_name":"all-reduce","type":"Pod","phase":"Succeeded","exit_code":"0","has_log":true}],` +
		`"metrics":[{"name":"images/sec","node_id":"n1","value":12.5,"format":"RAW"}]}`
)

func TestCheckRun(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	c := serve(t, map[string]http.HandlerFunc{"POST /apis/argosy/v1/runs": func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- string(body)
		answer(`{"run":{"name":"a"},"checked":true,"shortages":[{"step":"train","asks":"2 CPUs","has":"this cluster has 1","change":"lower cpu","parameters":["cpu"]}],`+
			`"concerns":[{"step":"train","why":"secret \"key\" not found"}]}`)(w, r)
	}})
	check, err := c.Runs.Check(t.Context(), NewRun{Name: "a", PipelineID: "p1", Parameters: []Parameter{{"cpu", "2"}}})
	require.NoError(t, err)
	require.Contains(t, <-seen, `"dry_run":true`)
	require.True(t, check.Checked)
	require.Equal(t, "step train asks 2 CPUs; this cluster has 1: lower cpu", check.Shortages[0].String())
	require.Equal(t, `step train: secret "key" not found`, check.Concerns[0].String())
}

func TestUpload(t *testing.T) {
	t.Parallel()
	type got struct{ name, description, pipeline, file, content string }
	seen := make(chan got, 1)
	take := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			f, header, err := r.FormFile("uploadfile")
			if err != nil {
				http.Error(w, err.Error(), 400)
				return
			}
			content, _ := io.ReadAll(f)
			q := r.URL.Query()
			seen <- got{q.Get("name"), q.Get("description"), q.Get("pipelineid"), header.Filename, string(content)}
			answer(body)(w, r)
		}
	}
	c := serve(t, map[string]http.HandlerFunc{
		"POST /apis/v1beta1/pipelines/upload":         take(wirePipeline),
		"POST /apis/v1beta1/pipelines/upload_version": take(`{"id":"v2","name":"two"}`),
	})
	p, err := c.Pipelines.Upload(t.Context(), "mpi-run", strings.NewReader("\x1f\x8bgzip"), Description("a & b"))
	require.NoError(t, err)
	require.Equal(t, got{"mpi-run", "a & b", "", "pipeline.tar.gz", "\x1f\x8bgzip"}, <-seen)
	created := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	require.Empty(t, cmp.Diff(&Pipeline{
		ID: "p1", Name: "mpi-run", CreatedAt: created, Parameters: []Parameter{{"workers", "1"}, {"data", ""}},
		Default: &PipelineVersion{ID: "p1", Name: "mpi-run", CreatedAt: created},
	}, p))

	v, err := c.Versions.Upload(t.Context(), "p1", "two", strings.NewReader("kind: Workflow"))
	require.NoError(t, err)
	require.Equal(t, got{"two", "", "p1", "pipeline.yaml", "kind: Workflow"}, <-seen)
	require.Equal(t, "v2", v.ID)

	_, err = c.Pipelines.Upload(t.Context(), "x", strings.NewReader("PKzip"), FileName("x.txt"))
	require.NoError(t, err)
	require.Equal(t, "x.txt", (<-seen).file)

	_, err = c.Pipelines.Upload(t.Context(), "x", io.LimitReader(zeros{}, MaxUpload+1))
	require.ErrorContains(t, err, "larger than 32 MiB")
}

func TestUploadOfATakenName(t *testing.T) {
	t.Parallel()
	found := true
	c := serve(t, map[string]http.HandlerFunc{
		"POST /apis/v1beta1/pipelines/upload": refuse(500, `{"error_message":"exists","error_details":"exists"}`), // as KFP v1 does
		"GET /apis/v1beta1/pipelines": func(w http.ResponseWriter, r *http.Request) {
			if found {
				answer(`{"pipelines":[`+wirePipeline+`]}`)(w, r)
				return
			}
			answer(`{}`)(w, r)
		},
	})
	_, err := c.Pipelines.Upload(t.Context(), "mpi-run", strings.NewReader("x"))
	require.True(t, IsConflict(err))
	found = false
	_, err = c.Pipelines.Upload(t.Context(), "mpi-run", strings.NewReader("x"))
	require.Error(t, err)
	require.False(t, IsConflict(err), "another fault of the server")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestCreateRun(t *testing.T) {
	t.Parallel()
	bodies := make(chan map[string]any, 1)
	c := serve(t, map[string]http.HandlerFunc{"POST /apis/v1beta1/runs": func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		bodies <- body
		answer(wireRunDetail)(w, r)
	}})
	r, err := c.Runs.Create(t.Context(), NewRun{
		Name: "mpirun", PipelineID: "p1", VersionID: "v1", ExperimentID: "e1",
		Parameters: []Parameter{{"workers", "2"}, {"data", ""}},
	})
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(map[string]any{
		"name": "mpirun",
		"pipeline_spec": map[string]any{"pipeline_id": "p1", "parameters": []any{
			map[string]any{"name": "workers", "value": "2"}, map[string]any{"name": "data", "value": ""}, // an empty value is a value
		}},
		"resource_references": []any{
			map[string]any{"key": map[string]any{"type": "PIPELINE_VERSION", "id": "v1"}, "relationship": "CREATOR"},
			map[string]any{"key": map[string]any{"type": "EXPERIMENT", "id": "e1"}, "relationship": "OWNER"},
		},
	}, <-bodies))
	require.Empty(t, cmp.Diff(&Run{
		ID: "r1", Name: "mpirun", CreatedAt: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC),
		Experiment: Ref{"e1", "Default"}, Pipeline: PipelineRef{ID: "p1", Name: "mpi-run", VersionID: "p1"},
		Parameters: []Parameter{{"data", ""}},
	}, r))
	require.False(t, r.Done())
	require.Zero(t, r.Duration())
}

func TestRun(t *testing.T) {
	t.Parallel()
	c := serve(t, map[string]http.HandlerFunc{"GET /apis/argosy/v1/runs/r1": answer(runView)})
	r, err := c.Runs.Get(t.Context(), "r1")
	require.NoError(t, err)
	require.True(t, r.Done())
	require.Equal(t, 30*time.Second, r.Duration())
	require.Equal(t, "all-reduce", r.Nodes[0].DisplayName)
	require.True(t, r.Nodes[0].Done())
	require.True(t, r.Nodes[0].HasLog)
	m, err := c.Runs.Metrics(t.Context(), "r1")
	require.NoError(t, err)
	require.Equal(t, []Metric{{"images/sec", "n1", 12.5, "RAW"}}, m)
}

func TestListsWalkAllPages(t *testing.T) {
	t.Parallel()
	c := serve(t, map[string]http.HandlerFunc{"GET /apis/argosy/v1/runs": func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("experiment_id") != "e1" {
			refuse(400, `{"message":"no experiment","code":3}`)(w, r)
			return
		}
		switch r.URL.Query().Get("page_token") {
		case "":
			answer(`{"runs":[{"id":"a"},{"id":"b"}],"total_size":3,"next_page_token":"2"}`)(w, r)
		case "2":
			answer(`{"runs":[{"id":"c"}],"total_size":3}`)(w, r)
		}
	}})
	var ids []string
	for r, err := range c.Runs.All(t.Context(), RunListOptions{ExperimentID: "e1"}) {
		require.NoError(t, err)
		ids = append(ids, r.ID)
	}
	require.Equal(t, []string{"a", "b", "c"}, ids)
	for r, err := range c.Runs.All(t.Context(), RunListOptions{ExperimentID: "e1"}) {
		require.NoError(t, err)
		require.Equal(t, "a", r.ID)
		break
	}
	n := 0
	for _, err := range c.Runs.All(t.Context(), RunListOptions{}) {
		require.True(t, IsInvalid(err))
		n++
	}
	require.Equal(t, 1, n, "one error, then the end")
}

func TestByName(t *testing.T) {
	t.Parallel()
	c := serve(t, map[string]http.HandlerFunc{
		"GET /apis/v1beta1/pipelines":   answer(`{"pipelines":[` + wirePipeline + `],"total_size":1}`),
		"GET /apis/v1beta1/experiments": answer(`{}`),
		"POST /apis/v1beta1/experiments": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
		},
	})
	p, err := c.Pipelines.ByName(t.Context(), "mpi-run")
	require.NoError(t, err)
	require.Equal(t, "p1", p.ID)
	_, err = c.Experiments.ByName(t.Context(), "none")
	require.True(t, IsNotFound(err))
	require.EqualError(t, err, `there is no experiment named "none"`)
	e, err := c.Experiments.Ensure(t.Context(), "none")
	require.NoError(t, err)
	require.Equal(t, "none", e.Name)
}

func TestEnsureExperimentWhenAnotherIsQuicker(t *testing.T) {
	t.Parallel()
	made := false
	c := serve(t, map[string]http.HandlerFunc{
		"GET /apis/v1beta1/experiments": func(w http.ResponseWriter, r *http.Request) {
			if made {
				answer(`{"experiments":[{"id":"e1","name":"x"}]}`)(w, r)
				return
			}
			answer(`{}`)(w, r)
		},
		"POST /apis/v1beta1/experiments": func(w http.ResponseWriter, r *http.Request) {
			made = true
			refuse(409, `{"message":"exists","code":6}`)(w, r)
		},
	})
	e, err := c.Experiments.Ensure(t.Context(), "x")
	require.NoError(t, err)
	require.Equal(t, "e1", e.ID)
}

// TestCalls checks method and path of what answers nothing of interest.
func TestCalls(t *testing.T) {
	t.Parallel()
	calls := make(chan string, 1)
	c := serve(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
		calls <- r.Method + " " + r.URL.RequestURI()
		answer(`{}`)(w, r)
	}})
	for want, call := range map[string]func() error{
		"DELETE /apis/v1beta1/pipelines/p":                     func() error { return c.Pipelines.Delete(t.Context(), "p") },
		"DELETE /apis/v1beta1/pipeline_versions/v":             func() error { return c.Versions.Delete(t.Context(), "v") },
		"POST /apis/v1beta1/pipelines/p/default_version/v":     func() error { return c.Versions.SetDefault(t.Context(), "p", "v") },
		"DELETE /apis/v1beta1/experiments/e":                   func() error { return c.Experiments.Delete(t.Context(), "e") },
		"POST /apis/v1beta1/runs/r/terminate":                  func() error { return c.Runs.Terminate(t.Context(), "r") },
		"POST /apis/v1beta1/runs/r/retry":                      func() error { return c.Runs.Retry(t.Context(), "r") },
		"DELETE /apis/v1beta1/runs/r":                          func() error { return c.Runs.Delete(t.Context(), "r") },
		"POST /apis/v1beta1/jobs/j/enable":                     func() error { return c.Schedules.Enable(t.Context(), "j") },
		"POST /apis/v1beta1/jobs/j/disable":                    func() error { return c.Schedules.Disable(t.Context(), "j") },
		"DELETE /apis/v1beta1/jobs/j":                          func() error { return c.Schedules.Delete(t.Context(), "j") },
		"GET /apis/v1beta1/pipelines/p/templates":              func() error { _, err := c.Pipelines.Template(t.Context(), "p"); return err },
		"GET /apis/v1beta1/pipeline_versions/v/templates":      func() error { _, err := c.Versions.Template(t.Context(), "v"); return err },
		"GET /apis/argosy/v1/runs/r/visuals?node_id=n":         func() error { _, err := c.Artifacts.Visuals(t.Context(), "r", "n"); return err },
		"GET /apis/argosy/v1/runs:visuals?run_ids=a&run_ids=b": func() error { _, err := c.Artifacts.Compare(t.Context(), "a", "b"); return err },
		"POST /apis/argosy/v1/runs:delete":                     func() error { return c.Runs.Purge(t.Context(), "r") },
		"GET /apis/argosy/v1/pipelines/p/graph":                func() error { _, err := c.Pipelines.Graph(t.Context(), "p"); return err },
		"GET /apis/v1beta1/pipeline_versions?resource_key.id=p&resource_key.type=PIPELINE": func() error {
			_, err := c.Versions.List(t.Context(), "p", ListOptions{})
			return err
		},
	} {
		require.NoError(t, call(), want)
		require.Equal(t, want, <-calls)
	}
}

// TestPurge: what the server could not do is an error, though the call as such succeeded.
func TestPurge(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1)
	c := serve(t, map[string]http.HandlerFunc{"POST /apis/argosy/v1/runs:delete": func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- string(body)
		answer(`{"results":[{"run_id":"r1","outcome":"OUTCOME_FAILED","message":"run r1 goes on"}]}`)(w, r)
	}})
	err := c.Runs.Purge(t.Context(), "r1")
	require.EqualError(t, err, "run r1 goes on")
	require.True(t, IsConflict(err))
	require.JSONEq(t, `{"run_ids":["r1"],"artifacts":true}`, <-asked)
}

func TestSearch(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 2)
	c := serve(t, map[string]http.HandlerFunc{"GET /apis/argosy/v1/runs": func(w http.ResponseWriter, r *http.Request) {
		next := ""
		if r.URL.Query().Get("page_token") == "" {
			next = "2"
		}
		q := r.URL.Query()
		q.Del("page_token")
		asked <- q.Encode()
		answer(`{"runs":[{"id":"a"}],"next_page_token":"`+next+`"}`)(w, r)
	}})
	no := false
	search := Search{Text: "net", Parameters: []string{"lr=0.1", "kind~x"}, Metrics: []string{"loss<0.5"}, Labels: []string{"team=red"}, Archived: &no}
	for _, err := range c.Runs.All(t.Context(), RunListOptions{Search: search}) {
		require.NoError(t, err)
	}
	for range 2 {
		require.Equal(t, "archived=false&label=team%3Dred&metric=loss%3C0.5&parameter=lr%3D0.1&parameter=kind~x&text=net", <-asked, "of each page")
	}
}

func TestLogs(t *testing.T) {
	t.Parallel()
	more := make(chan struct{})
	c := serve(t, map[string]http.HandlerFunc{"GET /apis/argosy/v1/runs/r1/nodes/n1/log": func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "one\n")
		if r.URL.Query().Get("follow") != "true" {
			return
		}
		_ = http.NewResponseController(w).Flush()
		<-more
		_, _ = io.WriteString(w, "two\n")
	}})
	once, err := c.Logs.Open(t.Context(), "r1", "n1", LogOptions{})
	require.NoError(t, err)
	defer once.Close()
	text, err := io.ReadAll(once)
	require.NoError(t, err)
	require.Equal(t, "one\n", string(text))

	follow, err := c.Logs.Open(t.Context(), "r1", "n1", LogOptions{Follow: true})
	require.NoError(t, err)
	defer follow.Close()
	line := make([]byte, 4)
	_, err = io.ReadFull(follow, line)
	require.NoError(t, err)
	require.Equal(t, "one\n", string(line), "arrives before the stream ends")
	close(more)
	rest, err := io.ReadAll(follow)
	require.NoError(t, err)
	require.Equal(t, "two\n", string(rest))
}

func TestLabels(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"wf.train": "train", "wf.for-loop-1(2:0.01).train": "train(2:0.01)", "wf.a(0:x).b(1:y.z).train": "train(0:x)(1:y.z)",
		"wf.a(0:" + strings.Repeat("long", 20) + ").train": "train(0:" + strings.Repeat("long", 8)[:31] + "…)", "wf.train(0)": "train", "wf[0].train": "train",
	} {
		require.Equal(t, want, (&Node{Name: name, DisplayName: "train"}).Label())
	}
	require.Equal(t, "wf", (&Node{Name: "wf"}).Label())
	run := &Run{Nodes: []Node{{ID: "a", Name: "wf.l(0:x).fit", DisplayName: "fit"}, {ID: "b", Name: "wf.l(1:y).fit", DisplayName: "fit"}}}
	run.Metrics = []Metric{{Name: "loss", NodeID: "a", Value: 1}, {Name: "loss", NodeID: "b", Value: 2}}
	require.Len(t, CompareRuns(run).Metrics, 2, "each pass of a loop is a step of its own")
	require.Equal(t, "gone", run.Step("gone"))
}
