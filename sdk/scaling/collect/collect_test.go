package collect_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/sdk/scaling/collect"
)

// done is a run that measured something, as the server gives it.
func done(id string) *client.Run {
	return &client.Run{
		ID: id, Name: "run-" + id, Status: client.Succeeded, Pipeline: client.PipelineRef{Name: "mpi_run", VersionID: "v1"},
		Parameters: []client.Parameter{{Name: "workers", Value: "2"}, {Name: "gpus", Value: "0"}, {Name: "image", Value: "host"}},
		Nodes: []client.Node{
			{ID: "n", Name: "n.train", DisplayName: "train", Type: "Pod", Outputs: []client.Parameter{
				{Name: "world-size", Value: "2"},
				{Name: "job-name", Value: "train-x"},
				{Name: "driver", Value: "410.104"},
				{Name: "log", Value: "a\nb"},
				{Name: "environment", Value: `{"gpu":"V100","long":"` + strings.Repeat("x", 300) + `"}`},
			}},
			{ID: "m", Name: "m.probe", DisplayName: "probe", Type: "Pod", Outputs: []client.Parameter{{Name: "world-size", Value: "9"}}},
		},
		Metrics: []client.Metric{{Name: "images-sec", NodeID: "n", Value: 190.5}, {Name: "loss", NodeID: "n", Value: 3}},
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	runs, err := collect.Of(done("a"), collect.Metric{Name: "images/sec"})
	require.NoError(t, err)
	require.Len(t, runs, 1)
	run := runs[0]
	require.InDelta(t, 190.5, *run.Value, 0)
	require.Equal(t, 2, run.World)
	require.Equal(t, 2, run.Asked)
	require.Equal(t, map[string]string{"pipeline": "mpi_run", "pipeline version": "v1", "train driver": "410.104", "train gpu": "V100"}, run.Facts)
	require.Equal(t, map[string]string{"workers": "2", "gpus": "0", "image": "host"}, run.Parameters)

	r := done("a")
	r.Parameters[1].Value = "8"
	runs, err = collect.Of(r, collect.Metric{Name: "loss"})
	require.NoError(t, err)
	require.Equal(t, 16, runs[0].Asked)

	r.Metrics = append(r.Metrics, client.Metric{Name: "loss", NodeID: "m", Value: 1})
	_, err = collect.Of(r, collect.Metric{Name: "loss"})
	require.EqualError(t, err, "run run-a: the steps train, probe report loss; choose one with --step")
	runs, err = collect.Of(r, collect.Metric{Name: "loss", Step: "probe"})
	require.NoError(t, err)
	require.Equal(t, 9, runs[0].World)

	r.Status = client.Running
	_, err = collect.Of(r, collect.Metric{Name: "loss", Step: "probe"})
	require.ErrorContains(t, err, "has not ended")
	r.Status, r.Error = client.Failed, "worker 1 was lost\nand more"
	runs, err = collect.Of(r, collect.Metric{Name: "loss", Step: "probe"})
	require.NoError(t, err)
	require.Nil(t, runs[0].Value)
	require.Equal(t, "worker 1 was lost", runs[0].Failure)

	r.Error, r.Warnings = "", []string{"step train asks too much"}
	require.Equal(t, "step train asks too much", collect.Why(r))
	r.Nodes[0].Phase, r.Nodes[0].Message = client.Failed, "no room\nat all"
	require.Equal(t, "step train: no room", collect.Why(r))
	r.Nodes, r.Warnings = nil, nil
	require.Equal(t, "failed", collect.Why(r))
}

// A run with a loop gives a measurement for each pass, with the ranks of its own step.
func TestRunsOfALoop(t *testing.T) {
	t.Parallel()
	r := done("a")
	r.Metrics, r.Nodes = nil, nil
	for i, workers := range []string{"1", "2"} {
		pass, step := "pass-"+workers, "train-"+workers
		r.Nodes = append(r.Nodes,
			client.Node{
				ID: pass, Name: "wf.for-loop-1(" + strconv.Itoa(i) + ":workers:" + workers + ")", DisplayName: "for-loop-1(" + strconv.Itoa(i) + ":workers:" + workers + ")",
				Type: "DAG", Phase: client.Succeeded, BoundaryID: "wf", Inputs: []client.Parameter{{Name: "for-loop-1-item-workers", Value: workers}},
			},
			client.Node{
				ID: step, Name: "wf.for-loop-1(" + strconv.Itoa(i) + ":workers:" + workers + ").train", DisplayName: "train", Type: "Pod", Phase: client.Succeeded,
				BoundaryID: pass, Outputs: []client.Parameter{{Name: "world-size", Value: workers}},
			})
		r.Metrics = append(r.Metrics, client.Metric{Name: "images-sec", NodeID: step, Value: 100 * float64(i+1)})
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/series") {
			_, _ = io.WriteString(w, `{"series":[{"node_id":"train-1","points":[{"step":"1","value":7}]},
				{"node_id":"train-2","rank":1,"points":[{"step":"1","value":8}]},{"node_id":"train-2","points":[{"step":"1","value":9}]}]}`)
			return
		}
		if err := json.NewEncoder(w).Encode(r); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	c, err := client.New(s.URL, client.WithRetries(0))
	require.NoError(t, err)
	runs, err := collect.Runs(t.Context(), c, collect.Metric{Name: "images/sec"}, "a")
	require.NoError(t, err)
	require.Len(t, runs, 2)
	require.Equal(t, "run-a train(0:workers:1)", runs[0].Name)
	require.Equal(t, "2", runs[1].Parameters["workers"])
	require.Equal(t, 2, runs[1].World)
	require.Equal(t, []float64{7}, runs[0].Ranks)
	require.Equal(t, []float64{9, 8}, runs[1].Ranks)
}

func TestRuns(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.URL.Path[len("/apis/argosy/v1/runs/"):]
		if strings.HasSuffix(id, "/series") {
			_, _ = io.WriteString(w, `{"series":[{"rank":1,"points":[{"step":"1","value":9},{"step":"2","value":80}]},
				{"rank":-1,"points":[{"step":"1","value":160}]},{"points":[{"step":"1","value":7},{"step":"2","value":100},{"step":"3","value":101}]}]}`)
			return
		}
		if err := json.NewEncoder(w).Encode(done(id)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	c, err := client.New(s.URL, client.WithRetries(0))
	require.NoError(t, err)
	runs, err := collect.Runs(t.Context(), c, collect.Metric{Name: "images/sec"}, "a", "b")
	require.NoError(t, err)
	require.Len(t, runs, 2)
	require.Equal(t, "run-b", runs[1].Name)
	require.Equal(t, []float64{101, 80}, runs[1].Ranks, "rank 0 first, after the first half of its points")
	_, err = collect.Runs(t.Context(), c, collect.Metric{Name: "tokens/sec"}, "a", "b")
	require.EqualError(t, err, `no run has the metric "tokens/sec"; it reported images-sec, loss`)
}
