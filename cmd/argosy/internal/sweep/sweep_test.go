package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/report"
	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/sdk/scaling"
)

// fake is as much of a server as a sweep needs. Runs end at once with the outcome that it gives them.
type fake struct {
	*httptest.Server
	outcome func(*client.Run)

	mu          sync.Mutex
	experiments []*client.Experiment
	runs        []*client.Run
	stopped     []string
}

// parameters of the fake's only pipeline.
var parameters = []client.Parameter{{Name: "workers", Value: "1"}, {Name: "gpus", Value: "0"}, {Name: "network", Value: "cni"}, {Name: "batch_size", Value: "64"}}

func serve(t *testing.T, outcome func(*client.Run)) *fake {
	t.Helper()
	f := &fake{outcome: outcome}
	mux := http.NewServeMux()
	handle := func(pattern string, answer func(*http.Request) any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			f.mu.Lock()
			defer f.mu.Unlock()
			found := answer(r)
			if found == nil {
				w.WriteHeader(http.StatusNotFound)
				found = map[string]any{"code": 5, "error": "not found"}
			}
			if err := json.NewEncoder(w).Encode(found); err != nil {
				t.Error(err)
			}
		})
	}
	handle("GET /apis/v1beta1/pipelines", func(*http.Request) any {
		version := map[string]any{"id": "v", "name": "mpi_run", "parameters": parameters}
		return map[string]any{"pipelines": []any{map[string]any{"id": "p", "name": "mpi_run", "parameters": parameters, "default_version": version}}}
	})
	handle("GET /apis/v1beta1/experiments", func(r *http.Request) any { return map[string]any{"experiments": f.named(r)} })
	handle("POST /apis/v1beta1/experiments", func(r *http.Request) any {
		e := &client.Experiment{ID: "e" + strconv.Itoa(len(f.experiments))}
		if err := json.NewDecoder(r.Body).Decode(e); err != nil {
			t.Error(err)
		}
		f.experiments = append(f.experiments, e)
		return e
	})
	handle("GET /apis/argosy/v1/runs", func(r *http.Request) any {
		var found []*client.Run
		for _, run := range f.runs {
			if run.Experiment.ID == r.URL.Query().Get("experiment_id") {
				found = append(found, run)
			}
		}
		return map[string]any{"runs": found}
	})
	handle("POST /apis/v1beta1/runs", func(r *http.Request) any { return map[string]any{"run": f.create(t, r)} })
	mux.HandleFunc("POST /apis/v1beta1/runs/{id}/terminate", f.terminate)
	handle("GET /apis/argosy/v1/runs/{id}/metrics/{name}/series", func(*http.Request) any { return map[string]any{} })
	handle("GET /apis/argosy/v1/runs/{id}", func(r *http.Request) any { return f.runs[f.index(r.PathValue("id"))] })
	mux.HandleFunc("GET /apis/argosy/v1/runs/{id}/events", f.events)
	f.Server = httptest.NewServer(mux)
	t.Cleanup(func() { f.CloseClientConnections(); f.Close() })
	return f
}

func (f *fake) events(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	run := f.runs[f.index(r.PathValue("id"))]
	data, _ := json.Marshal(run)
	done := run.Done()
	f.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "event: run\ndata: %s\n\n", data)
	if done {
		fmt.Fprint(w, "event: end\ndata: {}\n\n")
		return
	}
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// terminate stops a run that goes on. One that has ended stays as it is.
func (f *fake) terminate(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	run := f.runs[f.index(r.PathValue("id"))]
	if run.Done() {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"code":3,"error":"the run has ended"}`)
		return
	}
	run.Status, run.Error = client.Terminated, "it was stopped"
	f.stopped = append(f.stopped, run.Name)
	fmt.Fprint(w, "{}")
}

// named finds an experiment by the filter for its name.
func (f *fake) named(r *http.Request) []*client.Experiment {
	text, _ := url.QueryUnescape(r.URL.Query().Get("filter"))
	var found []*client.Experiment
	for _, e := range f.experiments {
		if strings.Contains(text, `"`+e.Name+`"`) {
			found = append(found, e)
		}
	}
	return found
}

func (f *fake) index(id string) int {
	n, _ := strconv.Atoi(id)
	return n
}

func (f *fake) create(t *testing.T, r *http.Request) any {
	var asked struct {
		Name string `json:"name"`
		Spec struct {
			Parameters []client.Parameter `json:"parameters"`
		} `json:"pipeline_spec"`
		References []struct {
			Key struct{ Type, ID string } `json:"key"`
		} `json:"resource_references"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		t.Error(err)
	}
	run := &client.Run{
		ID: strconv.Itoa(len(f.runs)), Name: asked.Name, Status: client.Succeeded, Pipeline: client.PipelineRef{ID: "p", Name: "mpi_run", VersionID: "v"},
		StartedAt: time.Date(2026, 11, 23, 10, len(f.runs), 0, 0, time.UTC), Parameters: asked.Spec.Parameters, Nodes: []client.Node{{ID: "n", Name: "n", DisplayName: "train"}},
	}
	for _, ref := range asked.References {
		if ref.Key.Type == "EXPERIMENT" {
			run.Experiment.ID = ref.Key.ID
		}
	}
	for _, p := range parameters { // the server fills in the defaults
		if !slices.ContainsFunc(run.Parameters, func(q client.Parameter) bool { return q.Name == p.Name }) {
			run.Parameters = append(run.Parameters, p)
		}
	}
	f.outcome(run)
	f.runs = append(f.runs, run)
	return map[string]any{"id": run.ID, "name": run.Name, "metric_errors": strings.Join(run.Warnings, "\n")}
}

func parameter(r *client.Run, name string) string {
	for _, p := range r.Parameters {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

// scales makes a run with workers that lose a tenth of their speed when they are several.
func scales(r *client.Run) {
	workers, _ := strconv.Atoi(parameter(r, "workers"))
	value := 100 * float64(workers)
	if workers > 1 {
		value *= 0.9
	}
	id, _ := strconv.Atoi(strings.TrimPrefix(r.Name[strings.LastIndex(r.Name, "."):], "."))
	r.Metrics = []client.Metric{{Name: "images/sec", NodeID: "n", Value: value + float64(id)/10}}
	r.Nodes[0].Outputs = []client.Parameter{{Name: "world-size", Value: strconv.Itoa(workers)}}
}

// command runs a command line against the fake.
func (f *fake) command(ctx context.Context, make func(report.Env) *cobra.Command, args ...string) (out, errs string, err error) {
	var o, e bytes.Buffer
	cmd := make(report.Env{
		Out: &o, Err: &e,
		Client: func() (*client.Client, error) {
			return client.New(f.URL, client.WithRetries(0), client.WithHTTPClient(f.Client()))
		},
		FindExperiment: func(ctx context.Context, cl *client.Client, name string) (*client.Experiment, error) {
			for _, e := range f.experiments {
				if e.ID == name {
					return e, nil
				}
			}
			return cl.Experiments.ByName(ctx, name)
		},
		FindRun: func(_ context.Context, _ *client.Client, name string) (*client.Run, error) {
			for _, r := range f.runs {
				if r.Name == name {
					return r, nil
				}
			}
			return nil, &client.Error{Status: 404, Message: "there is no run " + name}
		},
	})
	cmd.SetArgs(args)
	cmd.SetOut(&o)
	cmd.SetErr(&e)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(ctx)
	return o.String(), e.String(), err
}

// A sweep that is repeated by its command stays in the same experiment.
func TestCommandNamesTheExperiment(t *testing.T) {
	t.Parallel()
	f := serve(t, scales)
	_, errs, err := f.command(t.Context(), Command, "mpi_run", "--matrix", "workers=1,2", "--repeats", "1", "--experiment", "by hand")
	require.NoError(t, err, errs)
	require.Equal(t, "argosy sweep mpi_run --matrix workers=1,2 --repeats 1 --seed 1 --experiment 'by hand'", f.experiments[0].Description)
}

// The bandwidth is measured by a parameter that the pipeline gives to its job; one without it is refused.
func TestProbe(t *testing.T) {
	t.Parallel()
	f := serve(t, scales)
	_, _, err := f.command(t.Context(), Command, "mpi_run", "--matrix", "workers=1,2", "--probe")
	require.ErrorContains(t, err, "pipeline mpi_run has no parameter probe")
}

func TestSweep(t *testing.T) {
	t.Parallel()
	f := serve(t, scales)
	out, errs, err := f.command(t.Context(), Command, "mpi_run", "--matrix", "workers=1,2,4", "-p", "gpus=0", "--repeats", "5")
	require.NoError(t, err, errs)
	require.Len(t, f.runs, 15)
	require.Equal(t, "mpi_run-workers", f.experiments[0].Name)
	require.Equal(t, "argosy sweep mpi_run --matrix workers=1,2,4 -p gpus=0 --repeats 5 --seed 1", f.experiments[0].Description)
	require.Contains(t, errs, "experiment mpi_run-workers: 3 combinations, 5 runs each, order by seed 1\n[1/15] ")
	require.Regexp(t, `\[15/15\] workers=\d #5: \d+(\.\d)? images/sec`, errs)
	require.Regexp(t, `  4 ranks: 89\.8 % efficient \(95 %: .*\), 3\.59 times the throughput of 1; ranks lose speed`, out)
	require.Contains(t, out, "argosy sweep mpi_run --matrix workers=1,2,4")

	again, errs, err := f.command(t.Context(), Command, "mpi_run", "--matrix", "workers=1,2,4", "-p", "gpus=0", "--repeats", "5")
	require.NoError(t, err)
	require.Len(t, f.runs, 15, "nothing is made twice")
	require.Contains(t, errs, "#1: done before: ")
	require.Equal(t, out, again)

	_, _, err = f.command(t.Context(), Command, "mpi_run", "--matrix", "workers=1,2,4", "-p", "gpus=1")
	require.ErrorContains(t, err, "with gpus=0 instead of 1: name another --experiment")
	require.Equal(t, exit.Refused, exit.Code(err))

	again, _, err = f.command(t.Context(), Command, "mpi_run", "--matrix", "workers=1,2,4", "-p", "gpus=0", "--repeats", "6")
	require.NoError(t, err)
	require.Len(t, f.runs, 18)
	require.Contains(t, again, "argosy sweep mpi_run --matrix workers=1,2,4 -p gpus=0 --repeats 6 --seed 1")

	f.mu.Lock()
	f.runs = f.runs[:7] // as after an interruption
	f.mu.Unlock()
	again, _, err = f.command(t.Context(), Command, "mpi_run", "--matrix", "workers=1,2,4", "-p", "gpus=0", "--repeats", "5")
	require.NoError(t, err)
	require.Len(t, f.runs, 15)
	require.Equal(t, out, again)
}

func TestStrongSweep(t *testing.T) {
	t.Parallel()
	f := serve(t, scales)
	out, _, err := f.command(t.Context(), Command, "mpi_run", "--matrix", "workers=1,2", "--strong", "batch_size=128", "--repeats", "2")
	require.NoError(t, err)
	for _, r := range f.runs {
		require.Equal(t, map[string]string{"1": "128", "2": "64"}[parameter(r, "workers")], parameter(r, "batch_size"))
	}
	require.Contains(t, out, "Strong scaling: images/sec by workers")
}

// TestFailures: failed runs stay, what can never fit is tried once, and failed runs are made again when that is asked for.
func TestFailures(t *testing.T) {
	t.Parallel()
	broken := true
	f := serve(t, func(r *client.Run) {
		scales(r)
		switch {
		case parameter(r, "workers") == "8":
			r.Status, r.Error, r.Warnings = client.Failed, "needs 8 CPU", []string{"step train needs 8 CPU, the largest node has 2"}
		case parameter(r, "workers") == "2" && broken && strings.HasSuffix(r.Name, ".1"):
			r.Status, r.Error = client.Failed, "worker 1 was lost\nits last lines"
		}
	})
	line := []string{"mpi_run", "--matrix", "workers=1,2,8", "--repeats", "4", "--experiment", "mine"}
	out, errs, err := f.command(t.Context(), Command, line...)
	require.NoError(t, err)
	require.Len(t, f.runs, 9, "4, 4 and 1")
	require.Contains(t, errs, "warning: step train needs 8 CPU")
	require.Contains(t, errs, "workers=8 #2: left out, step train needs 8 CPU, the largest node has 2")
	require.Contains(t, out, "worker 1 was lost")
	require.Contains(t, out, "needs 8 CPU")
	require.Contains(t, out, "2 of 9 runs do not count")

	broken = false
	out, _, err = f.command(t.Context(), Command, append(line, "--retry-failed")...)
	require.NoError(t, err)
	require.Contains(t, out, "worker 1 was lost", "the failed run stays")
	require.Contains(t, []string{f.runs[9].Name, f.runs[10].Name}, "mine.workers=2.1-2")
}

// TestTimeout: a run that does not end is stopped, and counts as failed. On a slow machine the sweep may not see in time that the other
// has ended; that one counts all the same.
func TestTimeout(t *testing.T) {
	t.Parallel()
	f := serve(t, func(r *client.Run) {
		if scales(r); parameter(r, "workers") == "2" {
			r.Status = client.Running
		}
	})
	out, errs, err := f.command(t.Context(), Command, "mpi_run", "--matrix", "workers=1,2", "--repeats", "1", "--timeout", "100ms")
	require.NoError(t, err)
	require.Equal(t, []string{"mpi_run-workers.workers=2.1"}, f.stopped)
	require.Contains(t, errs, "mpi_run-workers.workers=2.1: stopped, since it was not done after 100ms")
	require.Regexp(t, `workers=1 #1: \S+ images/sec`, errs)
	require.Contains(t, out, "it was stopped")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	f := serve(t, scales)
	for want, line := range map[string][]string{
		"takes one package":                          {},
		"say what to vary":                           {"mpi_run"},
		"pipeline mpi_run has no parameter wor":      {"mpi_run", "--matrix", "wor=1,2"},
		"-p workers=1: workers is given twice":       {"mpi_run", "--matrix", "workers=1,2", "-p", "workers=1"},
		"--repeats 0":                                {"mpi_run", "--matrix", "workers=1,2", "--repeats", "0"},
		"--fact driver: want name=value":             {"mpi_run", "--matrix", "workers=1,2", "--fact", "driver"},
		"which do not divide it":                     {"mpi_run", "--matrix", "workers=1,3", "--strong", "batch_size=128"},
		"--preset tpu: there are eni, gpus, storage": {"mpi_run", "--preset", "tpu"},
	} {
		_, _, err := f.command(t.Context(), Command, line...)
		require.ErrorContains(t, err, want)
		require.Equal(t, exit.Usage, exit.Code(err), want)
	}
	require.Empty(t, f.runs)
}

// TestReport: chosen runs, formats, and the gate with its exit code.
func TestReport(t *testing.T) {
	t.Parallel()
	f := serve(t, scales)
	_, _, err := f.command(t.Context(), Command, "mpi_run", "--matrix", "workers=1,2", "--repeats", "4", "--experiment", "old")
	require.NoError(t, err)
	for format, want := range map[string]string{"md": "# old\n", "html": "<!doctype html>", "csv": "run,id,started,workers,images/sec", "yaml": "by: workers", "table": "old\n"} {
		out, _, err := f.command(t.Context(), report.Command, "--experiment", "old", "-o", format)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(out, want) || format == "yaml" && strings.Contains(out, want), out)
	}
	written, _, err := f.command(t.Context(), report.Command, "--experiment", "old", "-o", "json", "--fact", "driver=550.90", "--price", "3", "--price-source", "USD")
	require.NoError(t, err)
	var r scaling.Report
	require.NoError(t, json.Unmarshal([]byte(written), &r))
	require.Equal(t, "550.90", r.Same["driver"])
	require.Greater(t, r.Lines[0].Cells[0].CostPerMillion, 0.0)
	file := filepath.Join(t.TempDir(), "last.json")
	require.NoError(t, os.WriteFile(file, []byte(written), 0o600))

	f.outcome = func(r *client.Run) {
		if scales(r); parameter(r, "workers") == "2" {
			r.Metrics[0].Value *= 0.9
		}
	}
	_, _, err = f.command(t.Context(), Command, "mpi_run", "--matrix", "workers=1,2", "--repeats", "4", "--experiment", "new")
	require.NoError(t, err)
	for _, baseline := range []string{file, "old"} {
		out, _, err := f.command(t.Context(), report.Command, "--experiment", "new", "--baseline", baseline)
		require.ErrorContains(t, err, "workers=2: images/sec is 162.23, 0.900 of the baseline's 180.25, and below 0.970")
		require.Equal(t, exit.Failure, exit.Code(err))
		require.Contains(t, out, "workers=1: 1.000 of the baseline")
		_, _, err = f.command(t.Context(), report.Command, "--experiment", "new", "--baseline", baseline, "--fail-below", "0.85")
		require.NoError(t, err)
	}
	out, _, err := f.command(t.Context(), report.Command, "old.workers=1.1", "old.workers=2.1", "--base", "workers=2", "-o", "json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, "2", r.Lines[0].Base)
	require.Equal(t, "report old.workers=1.1 old.workers=2.1 --base workers=2", r.Command)
	for want, line := range map[string][]string{
		"say which runs": {},
		`no run has the metric "tokens/sec"; it reported`:  {"--experiment", "old", "--metric", "tokens/sec"},
		"gpus is the same in all runs; these vary":         {"--experiment", "old", "--by", "gpus"},
		"--base network=host: the report is by workers":    {"--experiment", "old", "--by", "workers", "--base", "network=host"},
		"is neither a file nor an experiment":              {"--experiment", "old", "--baseline", "none"},
		"want one of table, md, html, csv, json, yaml":     {"--experiment", "old", "-o", "pdf"},
		"--fail-below -1: want a share":                    {"--experiment", "old", "--fail-below", "-1"},
		"a price must be above 0 and needs its source":     {"--experiment", "old", "--price", "3"},
		"there is no run nobody":                           {"nobody"},
		"say which runs: their names, or --experiment and": {"old.workers=1.1", "--experiment", "old"},
	} {
		_, _, err := f.command(t.Context(), report.Command, line...)
		require.ErrorContains(t, err, want)
	}
}
