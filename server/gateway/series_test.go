package gateway_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/run"
)

// curve gives a run a step "fit" that printed n values of a metric.
func (s *server) curve(t *testing.T, id, node, metric string, rank, n int, value func(i int) float64) {
	t.Helper()
	var points []run.Point
	for i := range n {
		points = append(points, run.Point{
			Name: metric, Rank: rank, Format: run.Raw, Index: int64(i), Step: int64(10 * (i + 1)), PrintedAt: time.Unix(int64(1000+i), 0), Value: value(i),
		})
	}
	_, err := s.store.AddPoints(t.Context(), id, node, "pod-"+node, points)
	require.NoError(t, err)
}

// trained makes a run with a node "fit".
func (s *server) trained(t *testing.T) (id string) {
	t.Helper()
	body := fmt.Sprintf(`{"pipeline_spec":{"workflow_manifest":%q,"parameters":[{"name":"word","value":"hi"}]}}`, hello)
	id = field(t, s.post(t, "/apis/v1beta1/runs", body, 200), "run", "id")
	n := s.stepNode(id[:8], run.Running)
	n.DisplayName = "fit"
	s.record(t, id, run.State{Status: run.Running, StartedAt: time.Unix(990, 0), Workflow: []byte(`{}`), Nodes: []run.Node{n}})
	return id
}

func TestSeries(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.trained(t)
	node := id[:8]
	require.Equal(t, `{}`, s.get(t, "/apis/argosy/v1/runs/"+id+"/metrics", 200))
	s.curve(t, id, node, "images/sec", 0, 1000, func(i int) float64 { return map[bool]float64{true: 5000, false: float64(i % 7)}[i == 777] })
	s.curve(t, id, node, "images/sec", 1, 3, func(i int) float64 { return []float64{1, math.NaN(), 3}[i] })

	base := "/apis/argosy/v1/runs/" + id + "/metrics/images%2Fsec/series"
	require.Equal(t, fmt.Sprintf(`{"series":[{"node_id":%q,"step_name":"fit","name":"images/sec","rank":1,"format":"RAW","total":"3","sampling":"none","points":[`+
		`{"step":"10","printed_at":"1970-01-01T00:16:40Z","value":1},{"step":"20","printed_at":"1970-01-01T00:16:41Z"},`+
		`{"step":"30","printed_at":"1970-01-01T00:16:42Z","value":3}]}]}`, node), s.get(t, base+"?rank=1", 200))

	thin := s.get(t, base+"?rank=0&points=20", 200)
	require.Contains(t, thin, `"total":"1000","sampling":"min/max"`)
	require.Contains(t, thin, `"value":5000`, "the one peak stays")
	require.LessOrEqual(t, strings.Count(thin, `"step":`), 20)
	require.Contains(t, thin, `"step":"10"`)
	require.Contains(t, thin, `"step":"10000"`)
	require.InDelta(t, 400, strings.Count(s.get(t, base+"?rank=0", 200), `"step":`), 100, "as many as fit into 500")
	require.Contains(t, s.get(t, "/apis/argosy/v1/runs/"+id+"/metrics", 200), `"total":"1000"}`, "the list has no points")
	require.Equal(t, 2, strings.Count(s.get(t, base+"?node_id="+node, 200), `"sampling"`))

	for path, want := range map[string]int{base + "?points=3": 400, base + "?points=x": 400, base + "?rank=7": 404, base + "?node_id=x": 404, "/apis/argosy/v1/runs/none/metrics": 404} {
		s.get(t, path, want)
	}
	got, err := argosyv1.NewMetricServiceClient(s.conn).GetSeries(t.Context(), &argosyv1.GetSeriesRequest{RunId: id, Name: "images/sec", Points: 4})
	require.NoError(t, err)
	require.Len(t, got.GetSeries(), 2)
	require.LessOrEqual(t, len(got.GetSeries()[0].GetPoints()), 4)
}

// TestPartOfASeries: a part of a long curve has all its points, however small it is.
func TestPartOfASeries(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.trained(t)
	s.curve(t, id, id[:8], "loss", 0, 20_000, func(i int) float64 { return float64(i) })
	get := func(query string) (values []float64, answer string) {
		answer = s.get(t, "/apis/argosy/v1/runs/"+id+"/metrics/loss/series?points=100&"+query, 200)
		var got struct {
			Series []struct{ Points []struct{ Value float64 } }
		}
		require.NoError(t, json.Unmarshal([]byte(answer), &got))
		for _, p := range got.Series[0].Points {
			values = append(values, p.Value)
		}
		return values, answer
	}
	// The step of point i is 10*(i+1), its time 1000+i seconds since 1970.
	want := []float64{12_344, 12_345, 12_346, 12_347, 12_348}
	values, answer := get("from_step=123460&to_step=123480")
	require.Equal(t, want, values, "with one point beyond each end")
	require.Contains(t, answer, `"total":"20000","sampling":"none"`)
	values, _ = get("from_step=123461&to_step=123469")
	require.Equal(t, []float64{12_345, 12_346}, values, "between two points")
	values, _ = get("from_time=1970-01-01T03:42:25Z&to_time=1970-01-01T03:42:27Z")
	require.Equal(t, want, values)
	values, _ = get("to_step=20")
	require.Equal(t, []float64{0, 1, 2}, values)
	values, _ = get("from_step=199990")
	require.Equal(t, []float64{19_997, 19_998, 19_999}, values)
	values, answer = get("from_step=50000&to_step=150000")
	require.Contains(t, answer, `"sampling":"min/max"`)
	require.InDelta(t, 80, len(values), 20)
	values, _ = get("from_step=900000")
	require.Equal(t, []float64{19_999}, values)
	s.get(t, "/apis/argosy/v1/runs/"+id+"/metrics/loss/series?from_step=2&to_step=1", 400)
}

// TestCurvesInLists: lists show how each curve went, and find and sort runs by it.
func TestCurvesInLists(t *testing.T) {
	t.Parallel()
	s := start(t)
	a, b := s.trained(t), s.trained(t)
	s.curve(t, a, a[:8], "loss", 0, 3, func(i int) float64 { return []float64{3, 0.5, 1}[i] })
	s.curve(t, b, b[:8], "loss", 0, 2, func(i int) float64 { return []float64{2, math.NaN()}[i] })
	require.Contains(t, s.get(t, "/apis/argosy/v1/runs/"+a+"?nodes=none", 200), `"curves":[{"name":"loss","format":"RAW","last":1,"min":0.5,"max":3}]`)
	require.Contains(t, s.get(t, "/apis/argosy/v1/runs/"+b+"?nodes=none", 200), `"curves":[{"name":"loss","format":"RAW","min":2,"max":2}]`)
	require.Contains(t, s.get(t, "/apis/argosy/v1/runs:fields", 200), `"curves":["loss"]`)

	found := s.get(t, "/apis/argosy/v1/runs?metric="+url.QueryEscape("min(loss)<1"), 200)
	require.Contains(t, found, a)
	require.NotContains(t, found, b)
	sorted := s.get(t, "/apis/argosy/v1/runs?sort_by="+url.QueryEscape("metric:max(loss) desc"), 200)
	require.Less(t, strings.Index(sorted, a), strings.Index(sorted, b))
	sorted = s.get(t, "/apis/argosy/v1/runs?sort_by="+url.QueryEscape("metric:max(loss)"), 200)
	require.Less(t, strings.Index(sorted, b), strings.Index(sorted, a))
}

func TestCompareRuns(t *testing.T) {
	t.Parallel()
	s := start(t)
	a, b := s.trained(t), s.trained(t)
	s.curve(t, a, a[:8], "loss", 0, 3, func(i int) float64 { return float64(i) })
	s.curve(t, a, a[:8], "loss", 1, 3, func(i int) float64 { return 100 })
	s.curve(t, b, b[:8], "loss", 1, 2, func(i int) float64 { return float64(10 * i) })
	_, err := s.store.AddMetrics(t.Context(), b, []run.Metric{{NodeID: b[:8], Name: "accuracy", Value: 0.5, Format: run.Percentage}})
	require.NoError(t, err)
	got := s.get(t, "/apis/argosy/v1/runs:compare?run_ids="+a+"&run_ids="+b, 200)
	got = strings.NewReplacer(a, "A", b, "B", a[:8], "NA", b[:8], "NB").Replace(got)
	_, got, _ = strings.Cut(got, `"parameters":[{"name":"word","values":[`)
	same, got, _ := strings.Cut(got, `,"metrics":`)
	require.Equal(t, `{"run_id":"A","value":"hi"},{"run_id":"B","value":"hi"}],"same":true}]`, same)
	require.Equal(t, `[{"name":"accuracy","step_name":"fit","format":"PERCENTAGE","values":[{"run_id":"B","value":0.5}]}],"align":"step","series":[{"name":"loss","step_name":"fit","runs":[`+
		`{"run_id":"A","series":{"node_id":"NA","step_name":"fit","name":"loss","format":"RAW","total":"3","sampling":"none","points":[`+
		`{"step":"10","printed_at":"1970-01-01T00:16:40Z","value":0,"x":10},{"step":"20","printed_at":"1970-01-01T00:16:41Z","value":1,"x":20},{"step":"30","printed_at":"1970-01-01T00:16:42Z","value":2,"x":30}]}},`+
		`{"run_id":"B","series":{"node_id":"NB","step_name":"fit","name":"loss","rank":1,"format":"RAW","total":"2","sampling":"none","points":[`+
		`{"step":"10","printed_at":"1970-01-01T00:16:40Z","value":0,"x":10},{"step":"20","printed_at":"1970-01-01T00:16:41Z","value":10,"x":20}]}}]}]}`, got)
	require.Contains(t, s.get(t, "/apis/argosy/v1/runs:compare?run_ids="+a+"&run_ids="+b+"&align=time", 200), `"value":2,"x":12`, "seconds since the run began")
	require.NotContains(t, s.get(t, "/apis/argosy/v1/runs:compare?run_ids="+a+"&run_ids="+b+"&metrics=other", 200), `"series"`)
	without := s.get(t, "/apis/argosy/v1/runs:compare?run_ids="+a+"&run_ids="+b+"&without_points=true", 200)
	require.Contains(t, without, `"series"`)
	require.Contains(t, without, `"total"`)
	require.NotContains(t, without, `"points"`)
	s.get(t, "/apis/argosy/v1/runs:compare?run_ids="+a, 400)
	s.get(t, "/apis/argosy/v1/runs:compare?run_ids="+a+"&run_ids="+b+"&align=x", 400)
	s.get(t, "/apis/argosy/v1/runs:compare?run_ids="+a+"&run_ids=none", 404)
}
