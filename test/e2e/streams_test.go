//go:build e2e

package e2e

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// trainer is a job of two ranks that print a loss at every step, one of them much larger than the others, and wait at a step for
// a gate to open, after a step that prepares, and before one that reports.
const trainer = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: trainer-}
spec:
  entrypoint: all
  arguments: {parameters: [{name: peak, value: "700"}, {name: note, value: fine}, {name: gate}]}
  templates:
  - name: all
    dag:
      tasks:
      - {name: prepare, template: prepare}
      - {name: train, template: train, dependencies: [prepare]}
      - {name: report, template: report, dependencies: [train]}
  - name: prepare
    metadata: {labels: {pipelines.kubeflow.org/enable_caching: "false"}}
    container: {image: debian, command: [sh, -c], args: ["echo prepared $(cat /proc/sys/kernel/random/uuid)"]}
  - name: train
    container:
      image: argosyml/argosy-launcher:dev
      command: [argosy-launcher, mpijob, --name=trainer, --image=debian, --workers=2, --metric=loss, "--data={{workflow.parameters.gate}}:/gate", --, COMMAND]
      env:
      - {name: WORKFLOW_NAME, value: "{{workflow.name}}"}
      - {name: NODE_ID, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['workflows.argoproj.io/node-id']"}}}
      - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
      - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
  - name: report
    metadata: {labels: {pipelines.kubeflow.org/enable_caching: "false"}}
    outputs:
      artifacts: [{name: mlpipeline-ui-metadata, path: /tmp/ui}, {name: mlpipeline-metrics, path: /tmp/metrics}]
    container:
      image: debian
      command: [sh, -c]
      args: ['echo "noted {{workflow.parameters.note}}"; echo ''{"metrics":[{"name":"peak","numberValue":{{workflow.parameters.peak}}}]}'' > /tmp/metrics; echo ''{"outputs":[{"type":"markdown","storage":"inline","source":"# {{workflow.parameters.note}}"},{"type":"pie","source":"x"}]}'' > /tmp/ui']
`

// steps is how many losses each rank prints, closed the step before which it waits for the gate.
const (
	steps  = 2000
	closed = 1501
)

var trainerCommand = fmt.Sprintf(`mpirun bash -c 'for i in $(seq 1 %d); do [ $i = %d ] && until [ -e /gate/open ]; do sleep 0.1; done; l=$i; [ $i = {{workflow.parameters.peak}} ] && l=99999; echo "step $i loss=$l"; [ $((i %% 100)) = 0 ] && sleep 0.4; done; true'`, steps, closed)

// listener follows the events of a run, over any number of connections, and sees that nothing is missing or comes twice.
type listener struct {
	query string
	last  string // id of the last event taken

	status string
	lines  map[string][]string // of logs, by node
	steps  map[string]int      // last point, by node, metric and rank
	kinds  map[string]int
	ended  bool
}

func newListener(query string) *listener {
	return &listener{query: query, lines: map[string][]string{}, steps: map[string]int{}, kinds: map[string]int{}}
}

// listen connects, and takes events until it is enough, the stream ends, or the connection breaks.
func (l *listener) listen(t *testing.T, url string, enough func() bool) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+l.query, nil)
	require.NoError(t, err)
	request.Header.Set("Last-Event-ID", l.last)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	require.Equal(t, 200, answer.StatusCode)
	reader := bufio.NewReader(answer.Body)
	fields := map[string]string{}
	for !enough() && !l.ended {
		line, err := reader.ReadString('\n')
		if err != nil {
			return err
		}
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			name, value, _ := strings.Cut(line, ": ")
			fields[name] = value
			continue
		}
		if fields["event"] != "" {
			l.take(t, fields)
		}
		clear(fields)
	}
	return nil
}

func (l *listener) take(t *testing.T, fields map[string]string) {
	t.Helper()
	var data struct {
		Status string
		NodeID string `json:"node_id"`
		First  int    `json:"first,string"`
		Lines  []string
		Points []struct {
			NodeID string `json:"node_id"`
			Name   string
			Rank   int
			Step   int `json:"step,string"`
		}
		RemovedNodes []string `json:"removed_nodes"`
	}
	require.NoError(t, json.Unmarshal([]byte(fields["data"]), &data), fields["data"])
	if fields["id"] != "" {
		l.last = fields["id"]
	}
	l.kinds[fields["event"]]++
	switch fields["event"] {
	case "run":
		l.status = data.Status
		for _, id := range data.RemovedNodes {
			delete(l.lines, id)
		}
	case "log":
		require.Len(t, l.lines[data.NodeID], data.First, "lines of %s are missing, or come twice", data.NodeID)
		l.lines[data.NodeID] = append(l.lines[data.NodeID], data.Lines...)
	case "points":
		for _, p := range data.Points {
			key := fmt.Sprintf("%s/%s/%d", p.NodeID, p.Name, p.Rank)
			require.Equal(t, l.steps[key]+1, p.Step, "points of %s are missing, or come twice", key)
			l.steps[key] = p.Step
		}
	case "end":
		l.ended = true
	}
}

// TestStreams follows a training run while the server is killed and restarted: every event comes once. Then it uses the run as people
// do.
func TestStreams(t *testing.T) {
	t.Parallel()
	home, gate := t.TempDir(), t.TempDir()
	require.NoError(t, os.Chmod(gate, 0o755))
	sharing := func(cmd *exec.Cmd) { cmd.Args = append(cmd.Args, "--host-path", gate) }
	a := up(t, home, sharing)
	var pipeline struct{ ID string }
	manifest := strings.Replace(trainer, "COMMAND", string(mustJSON(t, trainerCommand)), 1)
	a.upload(t, "trainer", "trainer.yaml", []byte(manifest), 200, &pipeline)
	id := a.createRun(t, "first", pipeline.ID, map[string]string{"gate": gate})
	l := newListener("/apis/argosy/v1/runs/" + id + "/events?nodes=changed&logs=true&points=true")
	seen := func(n int) func() bool {
		return func() bool {
			total := 0
			for _, last := range l.steps {
				total += last
			}
			return total >= n
		}
	}
	for _, n := range []int{200, 1200, 2400} { // each time the server is killed while it tells
		require.NoError(t, l.listen(t, a.url, seen(n)))
		require.False(t, l.ended, "the job still prints")
		broken := make(chan error, 1)
		go func() { broken <- l.drain(t, a.url) }()
		a.kill(t)
		require.Error(t, <-broken)
		a = up(t, home, sharing)
	}
	require.NoError(t, os.WriteFile(filepath.Join(gate, "open"), nil, 0o644))
	require.NoError(t, l.listen(t, a.url, func() bool { return false }))
	require.True(t, l.ended)
	require.Equal(t, "Succeeded", l.status)
	run := a.await(t, id, 3*time.Minute, runView.final)
	train := run.Nodes[run.node(t, "train")].ID
	require.Equal(t, map[string]int{train + "/loss/0": steps, train + "/loss/1": steps}, l.steps)
	for _, step := range []string{"prepare", "train", "report"} {
		node := run.Nodes[run.node(t, step)].ID
		require.True(t, a.log(t, id, node) == strings.Join(l.lines[node], "\n")+"\n", "%s: %d lines were told", step, len(l.lines[node]))
	}
	require.Zero(t, l.kinds["reset"])
	t.Logf("told over three kills: %v", l.kinds)

	t.Run("series", func(t *testing.T) { a.curves(t, id) })
	t.Run("what steps leave to look at", func(t *testing.T) { a.visuals(t, run) })
	t.Run("going on from a step", func(t *testing.T) { a.goesOn(t, run, gate) })
	t.Run("many runs at once", func(t *testing.T) { a.bulk(t, home) })
	a.stop(t)
}

// drain takes events until the connection breaks.
func (l *listener) drain(t *testing.T, url string) error {
	err := l.listen(t, url, func() bool { return false })
	if err == nil {
		err = errors.New("the stream came to its end")
	}
	return err
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return text
}

// curve is a series as the API shows it.
type curve struct {
	Rank     int
	Sampling string
	Total    int `json:"total,string"`
	Points   []struct {
		Step      int       `json:"step,string"`
		PrintedAt time.Time `json:"printed_at"`
		Value     float64
	}
}

func (a *argosy) curves(t *testing.T, id string) {
	var whole, thin struct{ Series []curve }
	a.get(t, "/apis/argosy/v1/runs/"+id+"/metrics/loss/series?points=10000", 200, &whole)
	a.get(t, "/apis/argosy/v1/runs/"+id+"/metrics/loss/series?points=50", 200, &thin)
	require.Len(t, whole.Series, 2)
	byRank := func(a, b curve) int { return cmp.Compare(a.Rank, b.Rank) }
	slices.SortFunc(whole.Series, byRank)
	slices.SortFunc(thin.Series, byRank)
	for rank, s := range whole.Series {
		require.Equal(t, []any{rank, "none", steps}, []any{s.Rank, s.Sampling, s.Total})
		require.Len(t, s.Points, steps)
		for i, p := range s.Points {
			require.Equal(t, i+1, p.Step)
			require.False(t, p.PrintedAt.IsZero(), "of each the time is known at which it was printed")
			require.False(t, i > 0 && p.PrintedAt.Before(s.Points[i-1].PrintedAt))
		}
		peak := s.Points[699].Value
		require.Equal(t, 99999.0, peak)
		few := thin.Series[rank]
		require.Equal(t, []any{"min/max", steps}, []any{few.Sampling, few.Total})
		require.LessOrEqual(t, len(few.Points), 50)
		require.Equal(t, []int{1, steps}, []int{few.Points[0].Step, few.Points[len(few.Points)-1].Step})
		found := false
		for _, p := range few.Points {
			require.Equal(t, s.Points[p.Step-1].Value, p.Value, "no point is made up")
			found = found || p.Value == peak
		}
		require.True(t, found, "no peak is lost")
	}
}

func (a *argosy) visuals(t *testing.T, run runView) {
	require.Len(t, run.Warnings, 1)
	require.Contains(t, run.Warnings[0], `step report: output 2 of the UI metadata: type "pie" is unknown`)
	var answer struct {
		Visuals []struct{ Type, Source, Problem, Raw string }
	}
	a.get(t, "/apis/argosy/v1/runs/"+run.ID+"/visuals?node_id="+run.Nodes[run.node(t, "report")].ID, 200, &answer)
	require.Len(t, answer.Visuals, 2)
	require.Equal(t, []string{"markdown", "# fine"}, []string{answer.Visuals[0].Type, answer.Visuals[0].Source})
	require.Equal(t, `{"type":"pie","source":"x"}`, answer.Visuals[1].Raw)
}

// goesOn retries from the last step with another parameter, then compares with a second run.
func (a *argosy) goesOn(t *testing.T, before runView, gate string) {
	id := before.ID
	prepared, trained := a.stepLog(t, before, "prepare"), a.stepLog(t, before, "train")
	body := map[string]any{"step": "report", "parameters": []map[string]string{{"name": "note", "value": "another"}}, "dry_run": true}
	var told struct {
		Again   []string
		Attempt string
	}
	a.post(t, "/apis/argosy/v1/runs/"+id+":retry", body, 200, &told)
	require.Equal(t, []string{before.Nodes[before.node(t, "report")].ID}, told.Again)
	delete(body, "dry_run")
	again := told
	a.post(t, "/apis/argosy/v1/runs/"+id+":retry", body, 200, &again)
	require.Equal(t, told, again)
	after := a.await(t, id, 3*time.Minute, runView.final)
	require.Len(t, after.Nodes, len(before.Nodes))
	require.Equal(t, "Succeeded", after.Status)
	require.Equal(t, "noted another\n", a.stepLog(t, after, "report"))
	require.Equal(t, prepared, a.stepLog(t, after, "prepare"), "what was done before is not done again")
	require.Equal(t, trained, a.stepLog(t, after, "train"))
	report := after.Nodes[after.node(t, "report")].ID
	require.Equal(t, "noted fine\n", a.readLog(t, id, report, "attempt=1"), "the first attempt's log stays")
	var answer struct{ Visuals []struct{ Source string } }
	a.get(t, "/apis/argosy/v1/runs/"+id+"/visuals?node_id="+report, 200, &answer)
	require.Equal(t, "# another", answer.Visuals[0].Source)

	// Once more, from the first step on, which stayed until now.
	a.post(t, "/apis/argosy/v1/runs/"+id+":retry", map[string]any{"step": "prepare"}, 200, &again)
	require.Len(t, again.Again, 3)
	third := a.await(t, id, 3*time.Minute, runView.final)
	require.Len(t, third.Nodes, len(before.Nodes))
	require.Equal(t, "Succeeded", third.Status)
	require.NotEqual(t, prepared, a.stepLog(t, third, "prepare"), "it did run again")
	var whole struct{ Series []curve }
	a.get(t, "/apis/argosy/v1/runs/"+id+"/metrics/loss/series?points=10000", 200, &whole)
	require.Len(t, whole.Series, 2)
	for _, s := range whole.Series {
		require.Equal(t, steps, s.Total, "a step that runs again measures again")
	}

	var pipelines struct{ Pipelines []struct{ ID string } }
	a.get(t, "/apis/v1beta1/pipelines", 200, &pipelines)
	second := a.await(t, a.createRun(t, "second", pipelines.Pipelines[0].ID, map[string]string{"peak": "3", "note": "another", "gate": gate}), 3*time.Minute, runView.final)
	require.Equal(t, "Succeeded", second.Status)
	var compared struct {
		Parameters []struct {
			Name   string
			Same   bool
			Values []struct {
				RunID string `json:"run_id"`
				Value string
			}
		}
		Metrics []struct {
			Name   string
			Values []struct{ Value float64 }
		}
		Series []struct {
			Name string
			Runs []struct {
				RunID  string `json:"run_id"`
				Series curve
			}
		}
	}
	a.get(t, fmt.Sprintf("/apis/argosy/v1/runs:compare?run_ids=%s&run_ids=%s&points=40", id, second.ID), 200, &compared)
	same := map[string]bool{}
	for _, p := range compared.Parameters {
		require.Len(t, p.Values, 2)
		same[p.Name] = p.Same
	}
	require.Equal(t, map[string]bool{"gate": true, "peak": false, "note": true}, same, "the retry's parameter is the run's now")
	require.Len(t, compared.Series, 1)
	require.Len(t, compared.Series[0].Runs, 2)
	for i, at := range []int{700, 3} {
		s := compared.Series[0].Runs[i].Series
		require.Equal(t, "min/max", s.Sampling)
		peak := 0
		for _, p := range s.Points {
			if p.Value == 99999 {
				peak = p.Step
			}
		}
		require.Equal(t, at, peak)
	}
	require.Len(t, compared.Metrics, 1)
	require.Len(t, compared.Metrics[0].Values, 2)
	require.Equal(t, []float64{700, 3}, []float64{compared.Metrics[0].Values[0].Value, compared.Metrics[0].Values[1].Value})
}

const sleeper = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: sleeper-, labels: {team: sleepers}}
spec:
  entrypoint: sleep
  templates:
  - name: sleep
    container: {image: debian, command: [bash, -c], args: ["echo good night; exec sleep 1000"]}
`

// bulk stops, archives and deletes runs that are named, and that fit a search.
func (a *argosy) bulk(t *testing.T, home string) {
	var pipeline struct{ ID string }
	a.upload(t, "sleeper", "sleeper.yaml", []byte(sleeper), 200, &pipeline)
	var ids []string
	for i := range 4 {
		ids = append(ids, a.createRun(t, fmt.Sprintf("sleeper %d", i), pipeline.ID, nil))
	}
	for _, id := range ids {
		a.awaitLog(t, id, a.await(t, id, 3*time.Minute, func(r runView) bool { return len(r.Nodes) > 0 }).Nodes[0].DisplayName, "good night")
	}
	do := func(action string, body map[string]any) map[string]int {
		t.Helper()
		var answer struct {
			Results []struct{ Outcome, Message string }
		}
		a.post(t, "/apis/argosy/v1/runs:"+action, body, 200, &answer)
		count := map[string]int{}
		for _, r := range answer.Results {
			count[r.Outcome]++
		}
		return count
	}
	done := func(n int) map[string]int { return map[string]int{"OUTCOME_DONE": n} }
	search := map[string]any{"label": []string{"team=sleepers"}}
	require.Equal(t, done(4), do("terminate", map[string]any{"label": []string{"team=sleepers"}, "dry_run": true}))
	require.Equal(t, done(1), do("terminate", map[string]any{"run_ids": ids[:1]}))
	require.Equal(t, map[string]int{"OUTCOME_DONE": 3, "OUTCOME_UNCHANGED": 1}, do("terminate", search))
	for _, id := range ids {
		r := a.await(t, id, 3*time.Minute, runView.final)
		require.Equal(t, "Terminated", r.Status)
		require.Equal(t, "good night\n", a.log(t, id, r.Nodes[0].ID), "what a stopped run printed stays")
	}
	require.Equal(t, done(2), do("archive", map[string]any{"run_ids": ids[:2]}))
	require.Equal(t, map[string]int{"OUTCOME_DONE": 2, "OUTCOME_UNCHANGED": 2}, do("archive", search))
	require.Equal(t, done(4), do("unarchive", search))
	require.Equal(t, map[string]int{"OUTCOME_DONE": 1, "OUTCOME_UNCHANGED": 1}, do("delete", map[string]any{"run_ids": []string{ids[0], "none"}}))
	require.Equal(t, done(3), do("delete", search))
	for _, id := range ids {
		a.get(t, "/apis/argosy/v1/runs/"+id, 404, nil)
	}
	list, err := workflows(t, home).List(t.Context(), metav1.ListOptions{LabelSelector: "team=sleepers"})
	require.NoError(t, err)
	require.Empty(t, list.Items)
}
