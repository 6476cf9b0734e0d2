package gateway_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/run"
)

// measured makes a run in an experiment that has ended, with its throughput and that of each rank.
func (s *server) measured(t *testing.T, experiment, name string, workers int, value float64) (id string) {
	t.Helper()
	body := fmt.Sprintf(`{"name":%q,"pipeline_spec":{"workflow_manifest":%q,"parameters":[{"name":"workers","value":"%d"},{"name":"batch_size","value":"64"}]},
		"resource_references":[{"key":{"type":"EXPERIMENT","id":%q},"relationship":"OWNER"}]}`, name, scaled, workers, experiment)
	id = field(t, s.post(t, "/apis/v1beta1/runs", body, 200), "run", "id")
	n := s.stepNode(id[:8], run.Succeeded)
	n.DisplayName, n.Outputs = "train", []run.Parameter{{Name: "world-size", Value: fmt.Sprint(workers)}, {Name: "driver", Value: "550.90"}}
	s.record(t, id, run.State{Status: run.Succeeded, StartedAt: time.Unix(990, 0), FinishedAt: time.Unix(1200, 0), Workflow: []byte(`{}`), Nodes: []run.Node{n}})
	_, err := s.store.AddMetrics(t.Context(), id, []run.Metric{{NodeID: n.ID, Name: "images/sec", Value: value, Format: run.Raw}})
	require.NoError(t, err)
	for rank := range workers {
		s.curve(t, id, n.ID, "images/sec", rank, 4, func(int) float64 { return value / float64(workers) * (1 - 0.1*float64(rank)) })
	}
	return id
}

// scaled is a pipeline with the parameters of a scaling report.
var scaled = strings.NewReplacer("{name: word, value: hi}, {name: times}", `{name: workers, value: "1"}, {name: batch_size, value: "64"}`, "parameters.word", "parameters.workers").Replace(hello)

func TestScalingReport(t *testing.T) {
	t.Parallel()
	s := start(t)
	line := "argosy sweep mpi_run --matrix workers=1,2 --repeats 6 --seed 1"
	experiment := field(t, s.post(t, "/apis/v1beta1/experiments", fmt.Sprintf(`{"name":"sweep","description":%q}`, line), 200), "id")
	path := "/apis/argosy/v1/scaling?experiment_id=" + experiment
	require.Contains(t, s.get(t, path, 200), `"refused":"no run of these has ended"`)
	var ids []string
	for i := range 6 {
		ids = append(ids, s.measured(t, experiment, fmt.Sprintf("one-%d", i), 1, 100+float64(i)), s.measured(t, experiment, fmt.Sprintf("two-%d", i), 2, 180+float64(i)))
	}
	got, err := argosyv1.NewScalingServiceClient(s.conn).GetScalingReport(t.Context(), &argosyv1.GetScalingReportRequest{ExperimentId: experiment, Price: 3, PriceSource: "USD"})
	require.NoError(t, err)
	r := got.GetResult()
	require.Equal(t, "sweep", r.GetTitle())
	require.Equal(t, line, r.GetCommand(), "the command of the sweep repeats it")
	require.Len(t, r.GetVerdicts(), 1)
	require.Regexp(t, `^2 ranks: 89\.\d % efficient \(95 %: .*\), 1\.78 times the throughput of 1; ranks lose speed$`, r.GetVerdicts()[0])
	cells := r.GetLines()[0].GetCells()
	require.Equal(t, "weak", r.GetLines()[0].GetKind())
	require.Len(t, cells, 2)
	require.Equal(t, []float64{1, 0.9}, cells[1].GetStragglers())
	require.True(t, cells[1].GetCounted())
	require.InDelta(t, 6, cells[1].GetCostPerHour(), 0)
	require.Len(t, r.GetRuns(), 12)
	require.Equal(t, "550.90", r.GetSame()["train driver"])
	require.Equal(t, "images/sec", got.GetMetrics()[0].GetName())
	require.Equal(t, []string{"1", "2"}, got.GetVarying()[0].GetValues())
	require.Contains(t, got.GetMethod(), "Mann-Whitney")

	named := "/apis/argosy/v1/scaling?run_ids=" + strings.Join(ids[:4], "&run_ids=")
	require.Contains(t, s.get(t, named+"&base=2", 200), `"command":"argosy report `+strings.Join(ids[:4], " ")+` --step train --base 2"`)
	require.Contains(t, s.get(t, named+"&metric=loss", 200), `"refused":"no run has the metric \"loss\"; it reported images/sec"`)
	require.Contains(t, s.get(t, named+"&price=3", 200), `needs its source`)
	s.get(t, "/apis/argosy/v1/scaling", 400)
	s.get(t, "/apis/argosy/v1/scaling?run_ids=none", 404)

	export := "/apis/argosy/v1/scaling:export?report.experiment_id=" + experiment + "&format="
	for format, part := range map[string]string{"md": "# sweep", "csv": "run,id,started,workers", "json": `\"verdicts\"`, "html": "<!doctype html>"} {
		require.Contains(t, strings.ToLower(s.get(t, export+format, 200)), part, format)
	}
	s.get(t, export+"pdf", 400)
	s.get(t, "/apis/argosy/v1/scaling:export?format=md&report.metric=loss&report.experiment_id="+url.QueryEscape(experiment), 400)
}

// One run of a sweep is enough for a report: each pass of its loop is a measurement, a failed one too.
func TestScalingReportOfALoop(t *testing.T) {
	t.Parallel()
	s := start(t)
	body := fmt.Sprintf(`{"name":"loop","pipeline_spec":{"workflow_manifest":%q,"parameters":[{"name":"batch_size","value":"64"}]}}`, scaled)
	id := field(t, s.post(t, "/apis/v1beta1/runs", body, 200), "run", "id")
	state := run.State{Status: run.Failed, StartedAt: time.Unix(990, 0), FinishedAt: time.Unix(1200, 0), Workflow: []byte(`{}`)}
	var metrics []run.Metric
	for i, workers := range []int{1, 2, 2, 1, 4} {
		item := fmt.Sprintf("for-loop-1(%d:repeat:1,workers:%d)", i, workers)
		pass := run.Node{
			ID: fmt.Sprint("pass-", i), Name: "wf." + item, DisplayName: item, Type: "DAG", Phase: run.Succeeded,
			Inputs: []run.Parameter{{Name: "for-loop-1-item-workers", Value: fmt.Sprint(workers)}},
		}
		n := s.stepNode(fmt.Sprint("train-", i), run.Succeeded)
		n.Name, n.DisplayName, n.BoundaryID = pass.Name+".train", "train", pass.ID
		n.Outputs = []run.Parameter{{Name: "world-size", Value: fmt.Sprint(workers)}}
		if workers == 4 {
			n.Phase, n.Message = run.Failed, "rank 3 died"
		} else {
			metrics = append(metrics, run.Metric{NodeID: n.ID, Name: "images/sec", Value: float64(90*workers + i), Format: run.Raw})
		}
		state.Nodes = append(state.Nodes, pass, n)
	}
	s.record(t, id, state)
	_, err := s.store.AddMetrics(t.Context(), id, metrics)
	require.NoError(t, err)
	for rank := range 2 {
		s.curve(t, id, "train-1", "images/sec", rank, 4, func(int) float64 { return 100 - 20*float64(rank) })
	}
	got, err := argosyv1.NewScalingServiceClient(s.conn).GetScalingReport(t.Context(), &argosyv1.GetScalingReportRequest{RunIds: []string{id}})
	require.NoError(t, err)
	require.Empty(t, got.GetRefused())
	require.Equal(t, "train", got.GetStep())
	require.Equal(t, []string{"1", "2", "4"}, got.GetVarying()[0].GetValues())
	r := got.GetResult()
	require.Len(t, r.GetRuns(), 5)
	cells := r.GetLines()[0].GetCells()
	require.Len(t, cells, 2)
	require.Equal(t, []float64{90, 93}, cells[0].GetValues())
	require.Equal(t, []float64{181, 182}, cells[1].GetValues())
	require.Equal(t, []float64{1, 0.8}, cells[1].GetStragglers(), "of the pass whose ranks are known")
	require.Equal(t, "weak", r.GetLines()[0].GetKind())
	require.Len(t, r.GetFailures(), 1)
	require.Equal(t, "loop train(4:repeat:1,workers:4)", r.GetFailures()[0].GetRun())
	require.Equal(t, "rank 3 died", r.GetFailures()[0].GetWhy())
	require.Contains(t, s.get(t, "/apis/argosy/v1/scaling:export?format=csv&report.run_ids="+id, 200), "loop train(2:repeat:1,workers:2)")
}

func TestTestRules(t *testing.T) {
	t.Parallel()
	s := start(t)
	body := `{"log":"[1,0]<stdout>:loss=3\n[1,1]<stdout>:loss=nan\nval_loss=9\nimages/sec: 7\nargosy: metric loss = 1\n","rules":["loss:RAW:min","x:y"],"show":1}`
	require.Equal(t, `{"reports":[{"rule":"loss:RAW:min","reduce":"min","points":2,"ranks":2,`+
		`"results":[{"reduce":"last"},{"reduce":"max","value":3},{"reduce":"min","value":3},{"reduce":"mean"},{"reduce":"sum"}],`+
		`"matches":[{"line":1,"rank":0,"text":"loss=3","value":3}],"misses":[{"line":3,"text":"val_loss=9","miss":"\"val_loss\" is a longer name: it takes a rule of its own"}],"more_matches":1},`+
		`{"rule":"x:y","refused":"metric \"x:y\": unknown format \"y\": use RAW or PERCENTAGE"}],`+
		`"suggestions":[{"rule":"images/sec","why":"throughput, as it was last","points":1,"value":7},`+
		`{"rule":"val_loss","why":"the last value; val_loss:RAW:min is the least","points":1,"value":9}]}`, s.post(t, "/apis/argosy/v1/metrics:test", body, 200))
	s.post(t, "/apis/argosy/v1/metrics:test", `{"show":-1}`, 400)
	s.post(t, "/apis/argosy/v1/metrics:test", fmt.Sprintf(`{"log":%q}`, strings.Repeat("x", 5<<20)), 400)
}
