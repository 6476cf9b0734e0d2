package gateway_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/cache"
	"github.com/argosy-ml/argosy/server/run"
)

// named starts a run with a name and a word.
func (s *server) named(t *testing.T, name, word string) string {
	t.Helper()
	body := fmt.Sprintf(`{"name":%q,"pipeline_spec":{"workflow_manifest":%q,"parameters":[{"name":"word","value":%q}]}}`, name, hello, word)
	return field(t, s.post(t, "/apis/v1beta1/runs", body, 200), "run", "id")
}

// found gives the names of the runs that a list shows, and walks over its pages.
func (s *server) found(t *testing.T, query string) []string {
	t.Helper()
	var names []string
	for token := ""; ; {
		var list struct {
			Runs          []struct{ Name string }
			NextPageToken string `json:"next_page_token"`
		}
		require.NoError(t, json.Unmarshal([]byte(s.get(t, "/apis/argosy/v1/runs?page_size=1&sort_by=name&page_token="+url.QueryEscape(token)+"&"+query, 200)), &list))
		for _, r := range list.Runs {
			names = append(names, r.Name)
		}
		if token = list.NextPageToken; token == "" {
			return names
		}
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := start(t)
	long := strings.Repeat("long", 50)
	a, b, c := s.named(t, "a", "hi"), s.named(t, "b%", "ho"), s.named(t, "c", long)
	at := time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC)
	s.record(t, a, run.State{Status: run.Failed, Workflow: []byte(`{}`), StartedAt: at, FinishedAt: at.Add(time.Minute)})
	s.record(t, c, run.State{Status: run.Running, Nodes: []run.Node{{ID: "n", Name: "wf.n", Type: "Pod", Phase: run.Pending, Waiting: "no node has room"}}})
	for id, loss := range map[string]float64{a: 0.5, b: 0.25} {
		_, err := s.store.AddMetrics(t.Context(), id, []run.Metric{{NodeID: "n", Name: "loss", Value: loss, Format: run.Raw}})
		require.NoError(t, err)
	}
	put := func(id, body string, want int) string {
		status, _, got := s.do(t, http.MethodPut, "/apis/argosy/v1/runs/"+id+"/labels", "application/json", strings.NewReader(body))
		require.Equal(t, want, status, got)
		return got
	}
	require.Contains(t, put(a, `{"labels":{"team":"red","example.com/kind":""}}`, 200), `"labels":{"example.com/kind":"","team":"red"}`)
	put(b, `{"labels":{"team":"blue"}}`, 200)
	put(c, `{"labels":{"team":"red"}}`, 200)
	put(c, `{"labels":{}}`, 200)
	put(c, `{"labels":{"a b":"c"}}`, 400)
	put(c, `{"labels":{"a":"c d"}}`, 400)
	put("none", `{"labels":{}}`, 404)
	s.post(t, "/apis/v1beta1/runs/"+c+":archive", "", 200)

	for query, want := range map[string][]string{
		"":                                  {"a", "b%", "c"},
		"status=Failed":                     {"a"},
		"status=failed":                     {"a"},
		"status=ACCEPTED":                   {"b%"},
		"status=running":                    {"c"},
		"status=Failed&status=Succeeded":    {"a"},
		"parameter=word%3Dhi":               {"a"},
		"parameter=word!%3Dhi":              {"b%", "c"},
		"parameter=word~H":                  {"a", "b%"},
		"parameter=word%3D" + long:          {"c"},
		"parameter=word%3D" + long[:64]:     nil,
		"parameter=word%3E%3D4":             nil,
		"metric=loss%3C0.5":                 {"b%"},
		"metric=loss%3C%3D0.5":              {"a", "b%"},
		"metric=loss%3E0.3":                 {"a"},
		"metric=loss%3D0.25":                {"b%"},
		"metric=loss!%3D0.25":               {"a", "c"},
		"label=team%3Dred":                  {"a"},
		"label=team!%3Dred":                 {"b%", "c"},
		"label=team~E":                      {"a", "b%"},
		"text=%25":                          {"b%"},
		"text=" + a[:8]:                     {"a"},
		"archived=true":                     {"c"},
		"archived=false":                    {"a", "b%"},
		"metric=loss%3E0&label=team%3Dblue": {"b%"},
		"archived=false&metric=loss%3E0.3":  {"a"},
		"time=created%3E9999w":              {"a", "b%", "c"},
		"time=created%3C9999w":              nil,
		"time=finished%3E9999w":             {"a"},
		"time=finished%3C%3D2026-11-20":     {"a"},
		"time=started%3D2026-11-20":         {"a"},
		"time=started%3D2026-11-21%2B14:00": {"a"},
		"time=started%3E2026-11-20":         nil,
		"time=created%3C2026-11-20T12:00:00Z&time=created%3E2026-11-19": nil,
		"time=created%3E%3D2026-11-20&status=failed":                    {"a"},
		"status=waiting":               {"c"},
		"status=failed&status=waiting": {"a", "c"},
		"filter=" + url.QueryEscape(`{"predicates":[{"op":"LESS_THAN","key":"metric:loss","string_value":"0.3"}]}`): {"b%"},
	} {
		require.Equal(t, want, s.found(t, query), query)
	}
	require.Contains(t, s.get(t, "/apis/v1beta1/runs?filter="+url.QueryEscape(`{"predicates":[{"op":"EQUALS","key":"label:team","string_value":"blue"}]}`), 200), b, "filters of v1beta1 know these too")
	for query, says := range map[string]string{
		"status=Faild": "a run can be Accepted, Waiting, Pending, Running, Succeeded, Failed, Error, Terminating, Terminated",
		"metric=loss":  "NAME=VALUE", "metric=loss%3Ebig": `character 6: \"big\" is not a number`, "parameter=word%3E%3D": "character 7: a number is missing", "parameter=%3D1": "NAME=VALUE", "label=x": "NAME=VALUE",
		"time=ended%3E2d": "write created, started or finished", "time=created": "or =, then a time", "time=created%3E2y": `character 9: \"2y\" is no time`, "time=created%3D2d": "character 9: an age such as 2d is compared with",
		"archived=x": "archived",
	} {
		require.Contains(t, s.get(t, "/apis/argosy/v1/runs?"+query, 400), says, query)
	}
}

// TestParameterOrder: parameters that are numbers are compared as numbers, and runs are grouped by them.
func TestParameterOrder(t *testing.T) {
	t.Parallel()
	s := start(t)
	for name, word := range map[string]string{"a": "2", "b": "10", "c": "many", "d": "10"} {
		id := s.named(t, name, word)
		_, err := s.store.AddMetrics(t.Context(), id, []run.Metric{{NodeID: "n", Name: "loss", Value: float64(name[0] - 'a'), Format: run.Raw}})
		require.NoError(t, err)
	}
	s.post(t, "/apis/v1beta1/runs", fmt.Sprintf(`{"name":"e","pipeline_spec":{"workflow_manifest":%q}}`, hello), 200)
	for query, want := range map[string][]string{
		"parameter=word%3E%3D2":                         {"a", "b", "d"},
		"parameter=word%3E2":                            {"b", "d"},
		"parameter=word%3C1e1":                          {"a"},
		"parameter=word%3C%3D10":                        {"a", "b", "d"},
		"parameter=word%3E2&metric=loss%3E1":            {"d"},
		"parameter=word%3E2&parameter=word%3C%3D9.5":    nil,
		"parameter=word%3E2&status=accepted&label=a!=b": {"b", "d"},
	} {
		require.Equal(t, want, s.found(t, query), query)
	}
	require.Contains(t, s.get(t, "/apis/argosy/v1/runs?label=word%3E2", 400), "NAME=VALUE")
	require.JSONEq(t, `{"total_size":4,"groups":[
		{"value":"2","runs":1,"metrics":[{"name":"loss","runs":1}]},
		{"value":"10","runs":2,"metrics":[{"name":"loss","runs":2,"mean":2,"deviation":1.4142135623730951,"min":1,"max":3}]},
		{"value":"many","runs":1,"metrics":[{"name":"loss","runs":1,"mean":2,"min":2,"max":2}]},
		{"runs":1}]}`, s.get(t, "/apis/argosy/v1/runs:group?by=word&of=loss&of=none", 200))
	require.JSONEq(t, `{"total_size":1,"groups":[{"value":"10","runs":2}]}`, s.get(t, "/apis/argosy/v1/runs:group?by=word&parameter=word%3E2", 200))
	require.Contains(t, s.get(t, "/apis/argosy/v1/runs:group", 400), "name the parameter")
}

// TestDryRun: a run is checked and leaves nothing behind.
func TestDryRun(t *testing.T) {
	t.Parallel()
	s := start(t)
	ask := func(rest string, want int) string {
		return s.post(t, "/apis/argosy/v1/runs", fmt.Sprintf(`{"name":"a","manifest":%q%s}`, hello, rest), want)
	}
	answer := ask(`,"dry_run":true,"parameters":[{"name":"word","value":"hi"}]`, 200)
	require.NotContains(t, answer, `"id"`)
	require.Contains(t, answer, `{"name":"word","value":"hi"}`)
	require.Contains(t, ask(`,"dry_run":true,"parameters":[{"name":"none"}]`, 400), "Unrecognized input parameter: none")
	require.Contains(t, ask(`,"dry_run":true,"experiment_id":"none"`, 404), "none")
	require.Empty(t, s.found(t, ""))
	require.JSONEq(t, `{}`, s.get(t, "/apis/v1beta1/experiments", 200), "not even the default experiment")

	id := field(t, ask("", 200), "run", "id")
	require.Contains(t, s.get(t, "/apis/argosy/v1/runs/"+id, 200), `"name":"Default"`)
}

// TestRunFields: the server lists the searchable fields, so that clients can detect typing mistakes.
func TestRunFields(t *testing.T) {
	t.Parallel()
	s := start(t)
	const statuses = `"statuses":["Accepted","Waiting","Pending","Running","Succeeded","Failed","Error","Terminating","Terminated"]`
	require.Equal(t, `{`+statuses+`}`, s.get(t, "/apis/argosy/v1/runs:fields", 200))
	id := s.named(t, "a", "hi")
	_, err := s.store.AddMetrics(t.Context(), id, []run.Metric{{NodeID: "n", Name: "loss", Value: 1, Format: run.Raw}, {NodeID: "n", Name: "images/sec", Value: 1, Format: run.Raw}})
	require.NoError(t, err)
	status, _, _ := s.do(t, http.MethodPut, "/apis/argosy/v1/runs/"+id+"/labels", "application/json", strings.NewReader(`{"labels":{"team":"red"}}`))
	require.Equal(t, 200, status)
	require.Equal(t, `{`+statuses+`,"parameters":["word"],"labels":["team"],"metrics":["images/sec","loss"]}`, s.get(t, "/apis/argosy/v1/runs:fields", 200))
}

// outcomes returns the outcomes of runs, by name.
func outcomes(t *testing.T, answer string) map[string]string {
	t.Helper()
	var got struct {
		Results []struct{ Name, Outcome string }
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &got))
	all := map[string]string{}
	for _, r := range got.Results {
		all[r.Name] = strings.TrimPrefix(r.Outcome, "OUTCOME_")
	}
	return all
}

func TestBulk(t *testing.T) {
	t.Parallel()
	s := start(t)
	a, b, c := s.named(t, "a", "hi"), s.named(t, "b", "ho"), s.named(t, "c", "hi")
	s.record(t, a, run.State{Status: run.Failed, Workflow: []byte(`{}`)})
	bulk := func(action, body string) map[string]string {
		return outcomes(t, s.post(t, "/apis/argosy/v1/runs:"+action, body, 200))
	}
	byWord := `{"parameter":["word=hi"]}`
	require.Equal(t, map[string]string{"a": "UNCHANGED", "c": "DONE"}, bulk("terminate", `{"parameter":["word=hi"],"dry_run":true}`))
	require.NotContains(t, s.get(t, "/apis/argosy/v1/runs/"+c, 200), "Terminating", "a dry run does nothing")
	require.Equal(t, map[string]string{"a": "UNCHANGED", "c": "DONE"}, bulk("terminate", byWord))
	require.Contains(t, s.get(t, "/apis/argosy/v1/runs/"+c, 200), `"status":"Terminating"`)
	require.Equal(t, map[string]string{"a": "UNCHANGED", "c": "UNCHANGED"}, bulk("terminate", byWord), "again, nothing is left to do")

	ids := fmt.Sprintf(`{"run_ids":[%q,%q,%q,"none"]}`, a, b, a)
	require.Equal(t, map[string]string{"a": "DONE", "b": "DONE", "": "FAILED"}, bulk("archive", ids))
	require.Equal(t, map[string]string{"a": "UNCHANGED", "b": "UNCHANGED", "": "FAILED"}, bulk("archive", ids))
	require.Equal(t, map[string]string{"a": "DONE", "b": "DONE"}, bulk("unarchive", `{"archived":true}`))

	require.Contains(t, s.post(t, "/apis/argosy/v1/runs:delete", `{"status":["Failed","Terminating"],"limit":1}`, 200), `"more":true`)
	require.Contains(t, s.post(t, "/apis/argosy/v1/runs:delete", `{"status":["Failed","Terminating"],"limit":1}`, 200), `OUTCOME_DONE`)
	require.Equal(t, []string{"b"}, s.found(t, ""))
	require.Equal(t, map[string]string{"": "UNCHANGED"}, bulk("delete", fmt.Sprintf(`{"run_ids":[%q]}`, a)), "it is gone already")

	for body, says := range map[string]string{
		`{}`: "say which runs", `{"run_ids":["x"],"text":"y"}`: "not both", `{"text":"x","limit":-1}`: "negative", `{"metric":["x"]}`: "NAME=VALUE",
	} {
		require.Contains(t, s.post(t, "/apis/argosy/v1/runs:delete", body, 400), says)
	}
	got, err := argosyv1.NewRunServiceClient(s.conn).ArchiveRuns(t.Context(), &argosyv1.BulkRequest{RunIds: []string{b}})
	require.NoError(t, err)
	require.Equal(t, argosyv1.BulkResult_OUTCOME_DONE, got.GetResults()[0].GetOutcome())
}

// TestDeleteWithArtifacts: what a run left goes with it, unless the run goes on, another has taken it over, or it lies where
// others put things too.
func TestDeleteWithArtifacts(t *testing.T) {
	t.Parallel()
	s := start(t)
	ended, going, taken, taker := s.named(t, "ended", "a"), s.named(t, "going", "b"), s.named(t, "taken", "c"), s.named(t, "taker", "d")
	var all []string
	for _, id := range []string{ended, going, taken} {
		own, shared := "artifacts/"+id+"/model.tgz", "artifacts/shared.tgz"
		s.objects.data[own], s.objects.data[shared] = []byte("model"), []byte("everybody's")
		s.record(t, id, run.State{Status: run.Succeeded, Workflow: []byte(`{}`), Nodes: []run.Node{{
			ID: "n", Name: "n", DisplayName: "n", Type: "DAG", Phase: run.Succeeded,
			Artifacts: []run.Artifact{{Name: "own", Key: own}, {Name: "shared", Key: shared}},
		}}})
		if id != going {
			require.NoError(t, s.store.Settle(t.Context(), id))
		}
		all = append(all, id)
	}
	entry := cache.Entry{Key: "k", Family: "f", RunID: taken, NodeID: "n", FinishedAt: time.Now(), Outputs: []byte(`{}`)}
	require.NoError(t, s.store.PutCacheEntry(t.Context(), entry))
	require.NoError(t, s.store.Reuse(t.Context(), taker, "n", entry))

	ids, err := json.Marshal(all)
	require.NoError(t, err)
	ask := func(more string) string {
		return s.post(t, "/apis/argosy/v1/runs:delete", `{"run_ids":`+string(ids)+`,"artifacts":true`+more+`}`, 200)
	}
	before := maps.Clone(s.objects.data)
	want := map[string]string{"ended": "DONE", "going": "FAILED", "taken": "FAILED"}
	require.Equal(t, want, outcomes(t, ask(`,"dry_run":true`)))
	require.Equal(t, before, s.objects.data, "a dry run does nothing")
	answer := ask("")
	require.Equal(t, want, outcomes(t, answer))
	require.Contains(t, answer, "terminate it first")
	require.Contains(t, answer, "run "+taker+" uses its artifacts through the cache; delete that run first")
	s.get(t, "/apis/argosy/v1/runs/"+ended, 404)
	require.NotContains(t, s.objects.data, "artifacts/"+ended+"/model.tgz")
	require.Contains(t, s.objects.data, "artifacts/shared.tgz")
	require.Contains(t, s.objects.data, "artifacts/"+taken+"/model.tgz")

	s.delete(t, "/apis/v1beta1/runs/"+taker, 200)
	s.delete(t, "/apis/v1beta1/runs/"+going, 200)
	require.Contains(t, s.objects.data, "artifacts/"+going+"/model.tgz", "DeleteRun of v1beta1 leaves them, as KFP does")
	require.Equal(t, map[string]string{"": "UNCHANGED", "taken": "DONE"}, outcomes(t, ask("")))
	require.NotContains(t, s.objects.data, "artifacts/"+taken+"/model.tgz")
}

// TestListNodes: a run of 5,000 nodes is read page by page.
func TestListNodes(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	state := run.State{Status: run.Running, Workflow: []byte(`{}`)}
	for i := range 5000 {
		n := run.Node{ID: fmt.Sprintf("n%04d", i), Name: fmt.Sprintf("wf.n%04d", i), DisplayName: fmt.Sprintf("step %d", i), Type: "Pod", Phase: run.Succeeded, StartedAt: time.Unix(int64(10_000-i), 0)}
		if i%10 == 3 {
			n.Phase, n.StartedAt = "Pending", time.Time{}
		}
		if i == 77 {
			n.Type = "DAG"
		}
		state.Nodes = append(state.Nodes, n)
	}
	s.record(t, id, state)
	walk := func(query string) (ids []string) {
		token, total := "", 0
		for {
			var page struct {
				Nodes         []struct{ ID string }
				TotalSize     int    `json:"total_size"`
				NextPageToken string `json:"next_page_token"`
			}
			require.NoError(t, json.Unmarshal([]byte(s.get(t, "/apis/argosy/v1/runs/"+id+"/nodes?page_token="+url.QueryEscape(token)+"&"+query, 200)), &page))
			for _, n := range page.Nodes {
				ids = append(ids, n.ID)
			}
			total = page.TotalSize
			if token = page.NextPageToken; token == "" {
				require.Len(t, ids, total)
				return ids
			}
		}
	}
	all := walk("page_size=1000")
	require.Len(t, all, 5000)
	require.Equal(t, []string{"n4999", "n4998"}, all[:2], "what began first")
	require.Equal(t, "n4993", all[4999], "what did not begin comes last")
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(all))), 5000, "each once")
	require.Equal(t, []string{"n0077"}, walk("type=DAG"))
	require.Len(t, walk("phase=Pending&page_size=77"), 500)
	require.Equal(t, []string{"n1234"}, walk("name=STEP+1234"))
	require.Empty(t, walk("name=%25"))
	require.NotContains(t, s.get(t, "/apis/argosy/v1/runs/"+id+"?nodes=none", 200), `"nodes"`)
	s.get(t, "/apis/argosy/v1/runs/"+id+"?nodes=some", 400)
	s.get(t, "/apis/argosy/v1/runs/"+id+"/nodes?page_size=-1", 400)
	s.get(t, "/apis/argosy/v1/runs/"+id+"/nodes?page_token=x", 400)
	s.get(t, "/apis/argosy/v1/runs/none/nodes", 404)
}

func TestDiffPipelineVersions(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.pipeline(t, "one")
	version := func(name, manifest string) string {
		return field(t, s.upload(t, "/apis/v1beta1/pipelines/upload_version?pipelineid="+id+"&name="+name, "x.yaml", []byte(manifest), 200), "id")
	}
	same, other := version("same", hello), version("other", strings.Replace(hello, "image: busybox", "image: alpine", 1))
	require.Equal(t, `{}`, s.get(t, "/apis/argosy/v1/pipeline_versions:diff?from="+same+"&to="+same, 200))
	require.Equal(t, `{"changes":[{"path":"container.image","from":"\"busybox\"","to":"\"alpine\""}]}`,
		s.get(t, "/apis/argosy/v1/pipeline_versions:diff?from="+same+"&to="+other, 200))
	s.get(t, "/apis/argosy/v1/pipeline_versions:diff?from="+same, 400)
	s.get(t, "/apis/argosy/v1/pipeline_versions:diff?from="+same+"&to=none", 404)
}

func TestRetryFromStep(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.named(t, "a", "hi")
	path := "/apis/argosy/v1/runs/" + id + ":retry"
	require.Contains(t, s.post(t, path, `{}`, 409), "only a run that has failed")
	require.Contains(t, s.post(t, path, `{"step":"fit"}`, 409), "only when it has ended")
	s.record(t, id, run.State{Status: run.Succeeded, Workflow: []byte(`{"ended":true}`)})
	require.NoError(t, s.store.Settle(t.Context(), id))
	require.Contains(t, s.post(t, path, `{}`, 409), "only a run that has failed")
	body := `{"step":"fit","parameters":[{"name":"word","value":"ho"}]`
	require.Equal(t, `{"attempt":"1"}`, s.post(t, path, body+`,"dry_run":true}`, 200))
	require.Contains(t, s.get(t, "/apis/argosy/v1/runs/"+id, 200), `"value":"hi"`)
	require.Equal(t, `{"attempt":"1"}`, s.post(t, path, body+`}`, 200))
	after := s.get(t, "/apis/argosy/v1/runs/"+id, 200)
	require.Contains(t, after, `"status":"Running"`)
	require.Contains(t, after, `{"name":"word","value":"ho"}`)
	s.post(t, "/apis/argosy/v1/runs/none:retry", `{}`, 404)
}
