package gateway_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/argosy-ml/argosy/server/run"
)

const helloRun = `{"id":"ID1","name":"first","description":"try it",` +
	`"pipeline_spec":{"pipeline_id":"ID2","pipeline_name":"hello","workflow_manifest":MANIFEST,"parameters":[{"name":"word","value":"hello"}]},` +
	`"resource_references":[{"key":{"type":"EXPERIMENT","id":"ID3"},"name":"Default","relationship":"OWNER"},` +
	`{"key":{"type":"PIPELINE_VERSION","id":"ID2"},"name":"hello","relationship":"CREATOR"}],"service_account":"pipeline-runner",` +
	`"created_at":"2026-11-20T12:00:02Z","scheduled_at":"1970-01-01T00:00:00Z","finished_at":"1970-01-01T00:00:00Z"}`

func TestRunOfPipeline(t *testing.T) {
	t.Parallel()
	s := start(t)
	pipelineID := s.pipeline(t, "hello")
	created := s.post(t, "/apis/v1beta1/runs", fmt.Sprintf(`{"name":"first","description":"try it",
		"pipeline_spec":{"pipeline_id":%q,"parameters":[{"name":"word","value":"hello"}]}}`, pipelineID), 200)
	id := field(t, created, "run", "id")

	var detail struct {
		Run             json.RawMessage
		PipelineRuntime struct {
			WorkflowManifest string `json:"workflow_manifest"`
		} `json:"pipeline_runtime"`
	}
	require.NoError(t, json.Unmarshal([]byte(created), &detail))
	asJSON, err := yaml.YAMLToJSON([]byte(hello))
	require.NoError(t, err)
	quoted, err := json.Marshal(string(asJSON))
	require.NoError(t, err)
	require.Equal(t, strings.Replace(helloRun, "MANIFEST", string(quoted), 1), numbered(string(detail.Run)))
	require.Equal(t, s.engine.submitted[0], detail.PipelineRuntime.WorkflowManifest, "the live Workflow")
	require.JSONEq(t, created, s.get(t, "/apis/v1beta1/runs/"+id, 200))

	list := s.get(t, "/apis/v1beta1/runs", 200)
	require.Contains(t, list, `"workflow_manifest":`+string(quoted), "lists carry the manifests that runs were made from")
	require.NotContains(t, s.get(t, "/apis/argosy/v1/runs", 200), "manifest", "and those of our own API none")
	require.Contains(t, list, `"total_size":1`)
}

func TestRunRequests(t *testing.T) {
	t.Parallel()
	s := start(t)
	pipelineID, other := s.pipeline(t, "hello"), s.pipeline(t, "other")
	manifest, err := json.Marshal(hello)
	require.NoError(t, err)
	version := fmt.Sprintf(`{"key":{"type":"PIPELINE_VERSION","id":%q},"relationship":"CREATOR"}`, pipelineID)
	for name, c := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"a manifest":                {`{"name":"r","pipeline_spec":{"workflow_manifest":` + string(manifest) + `}}`, 200, ""},
		"camelCase":                 {`{"name":"r","pipelineSpec":{"workflowManifest":` + string(manifest) + `},"unknownField":{}}`, 200, ""},
		"a version":                 {`{"name":"r","resource_references":[` + version + `]}`, 200, ""},
		"a version of its pipeline": {`{"name":"r","pipeline_spec":{"pipeline_id":"` + pipelineID + `"},"resource_references":[` + version + `]}`, 200, ""},
		"a version of another":      {`{"name":"r","pipeline_spec":{"pipeline_id":"` + other + `"},"resource_references":[` + version + `]}`, 400, "does not belong"},
		"manifest and pipeline":     {`{"name":"r","pipeline_spec":{"pipeline_id":"` + other + `","workflow_manifest":` + string(manifest) + `}}`, 400, "not both"},
		"nothing to run":            {`{"name":"r"}`, 400, "needs a pipeline"},
		"unknown parameter":         {`{"name":"r","pipeline_spec":{"pipeline_id":"` + other + `","parameters":[{"name":"wrod","value":"x"}]}}`, 400, "Unrecognized input parameter: wrod"},
		"unknown pipeline":          {`{"name":"r","pipeline_spec":{"pipeline_id":"nonsense"}}`, 404, "nonsense"},
		"unknown experiment":        {`{"name":"r","pipeline_spec":{"pipeline_id":"` + other + `"},"resource_references":[{"key":{"type":"EXPERIMENT","id":"nonsense"},"relationship":"OWNER"}]}`, 404, "nonsense"},
		"a v2 pipeline":             {`{"name":"r","pipeline_spec":{"pipeline_manifest":"{}"}}`, 400, "v2"},
		"no Workflow":               {`{"name":"r","pipeline_spec":{"workflow_manifest":"{}"}}`, 400, "not a Workflow"},
	} {
		answer := s.post(t, "/apis/v1beta1/runs", c.body, c.status)
		if c.status != 200 {
			require.Contains(t, field(t, answer, "error"), c.says, name)
		}
	}
	require.Contains(t, s.get(t, "/apis/v1beta1/runs", 200), `"total_size":4`, "what was refused left no trace")
}

func TestRunListScopes(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	for query, total := range map[string]string{
		"": "1",
		"?resource_reference_key.type=UNKNOWN_RESOURCE_TYPE":                    "1",
		"?resource_reference_key.type=NAMESPACE":                                "1",
		"?resource_reference_key.type=JOB":                                      "0",
		"?resource_reference_key.type=EXPERIMENT":                               "0",
		"?resource_reference_key.type=EXPERIMENT&resource_reference_key.id=nil": "0",
	} {
		list := s.get(t, "/apis/v1beta1/runs"+query, 200)
		if total == "0" {
			require.Equal(t, `{}`, list)
		} else {
			require.Contains(t, list, `"total_size":`+total, query)
			require.Contains(t, list, id)
		}
	}
	s.get(t, "/apis/v1beta1/runs?resource_reference_key.type=PIPELINE&resource_reference_key.id=x", 400)
	require.Contains(t, s.get(t, "/apis/argosy/v1/runs?experiment_id=nil", 200), `{}`)
	require.Contains(t, s.get(t, "/apis/argosy/v1/runs?sort_by=created_at%20desc", 200), `"total_size":1`)
}

func TestRunLife(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	path := "/apis/v1beta1/runs/" + id
	begun := time.Date(2026, 11, 20, 12, 30, 0, 500_000_000, time.UTC)
	s.record(t, id, run.State{Status: run.Running, StartedAt: begun, Workflow: []byte(`{"status":{"phase":"Running"}}`)})
	require.Equal(t, "Running", field(t, s.get(t, path, 200), "run", "status"))
	require.Equal(t, `{"status":{"phase":"Running"}}`, field(t, s.get(t, path, 200), "pipeline_runtime", "workflow_manifest"))

	require.Equal(t, `{}`, s.post(t, path+"/terminate", "", 200))
	require.Equal(t, []string{"hello-abcde"}, s.engine.stopped)
	require.Equal(t, "Terminating", field(t, s.get(t, path, 200), "run", "status"))
	s.record(t, id, run.State{Status: run.Failed, Message: "stopped", StartedAt: begun, FinishedAt: begun.Add(time.Minute), Workflow: []byte(`{}`)})
	require.Equal(t, "2026-11-20T12:31:00Z", field(t, s.get(t, path, 200), "run", "finished_at"), "whole seconds on v1beta1")
	require.Contains(t, s.post(t, path+"/terminate", "", 400), `"code":3`)
	require.Equal(t, "Failed", field(t, s.get(t, path, 200), "run", "status"), "the word that KFP's clients wait for")
	for filter, total := range map[string]string{
		`{"op":"EQUALS","key":"status","string_value":"Failed"}`:                                                 `"total_size":1`,
		`{"op":"IN","key":"status","string_values":{"values":["Failed","Error"]}}`:                               `"total_size":1`,
		`{"op":"NOT_EQUALS","key":"status","string_value":"Failed"}`:                                             `{}`,
		`{"op":"NOT_EQUALS","key":"status","string_value":"Error"}`:                                              `"total_size":1`,
		`{"op":"EQUALS","key":"status","string_value":"Failed"},{"op":"EQUALS","key":"name","string_value":"x"}`: `{}`,
	} {
		require.Contains(t, s.get(t, "/apis/v1beta1/runs?filter="+url.QueryEscape(`{"predicates":[`+filter+`]}`), 200), total, filter)
	}
	own := s.get(t, "/apis/argosy/v1/runs/"+id, 200)
	require.Equal(t, []string{"Terminated", "terminated"}, []string{field(t, own, "status"), field(t, own, "error")})
	require.Contains(t, s.get(t, "/apis/argosy/v1/runs?status=terminated", 200), id)

	require.NoError(t, s.store.Settle(t.Context(), id))
	require.Equal(t, `{}`, s.post(t, path+"/retry", "", 200))
	retried := s.get(t, path, 200)
	require.Equal(t, "Running", field(t, retried, "run", "status"))
	require.Equal(t, "1970-01-01T00:00:00Z", field(t, retried, "run", "finished_at"))
	require.Len(t, s.engine.submitted, 2, "the Workflow goes to the cluster again")
	require.Contains(t, s.post(t, path+"/retry", "", 409), `"code":10`, "only what has failed can be retried")
	s.record(t, id, run.State{Status: run.Failed, Attempt: 1, StartedAt: begun, FinishedAt: begun.Add(time.Minute), Workflow: []byte(`{}`)})

	require.Equal(t, `{}`, s.post(t, path+":archive", "", 200))
	require.Equal(t, "STORAGESTATE_ARCHIVED", field(t, s.get(t, path, 200), "run", "storage_state"))
	require.Equal(t, `{}`, s.post(t, path+":unarchive", "", 200))
	require.NotContains(t, s.get(t, path, 200), "storage_state")
	require.Equal(t, `{}`, s.delete(t, path, 200))
	for _, gone := range []string{path, "/apis/argosy/v1/runs/" + id, "/apis/argosy/v1/runs/" + id + "/events", path + "/nodes/n/log"} {
		require.Contains(t, s.get(t, gone, 404), `"code":5`, gone)
	}
	s.post(t, path+"/terminate", "", 404)
	s.post(t, path+"/retry", "", 404)
	s.delete(t, path, 404)
}

func TestRunView(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	begun := time.Date(2026, 11, 20, 12, 30, 0, 500_000_000, time.UTC)
	s.record(t, id, run.State{
		Status: run.Failed, Message: "child failed", StartedAt: begun, FinishedAt: begun.Add(time.Minute), Workflow: []byte(`{}`),
		Nodes: []run.Node{{
			ID: "hello-1", Name: "hello.say", DisplayName: "say", Type: "Pod", Template: "say", Phase: run.Failed, Message: "exit 7",
			ExitCode: "7", PodName: "hello-pod", BoundaryID: "hello", StartedAt: begun, FinishedAt: begun.Add(time.Minute),
			Inputs:    []run.Parameter{{Name: "word", Value: "hi"}},
			Artifacts: []run.Artifact{{Name: "model", Key: "artifacts/model.tgz"}},
		}},
	})
	_, err := s.store.AddMetrics(t.Context(), id, []run.Metric{{NodeID: "hello-1", Name: "images/sec", Value: 0, Format: run.Raw}})
	require.NoError(t, err)
	require.NoError(t, s.store.AddWarning(t.Context(), id, "metrics file: unknown field"))
	const golden = `{"id":"ID1","name":"first","status":"Failed","error":"child failed","created_at":"2026-11-20T12:00:01Z",` +
		`"started_at":"2026-11-20T12:30:00.500Z","finished_at":"2026-11-20T12:31:00.500Z","service_account":"pipeline-runner",` +
		`"experiment":{"id":"ID2","name":"Default"},"workflow":{"namespace":"kubeflow","name":"hello-abcde"},` +
		`"nodes":[{"id":"hello-1","name":"hello.say","display_name":"say","type":"Pod","template":"say","phase":"Failed","message":"exit 7",` +
		`"exit_code":"7","started_at":"2026-11-20T12:30:00.500Z","finished_at":"2026-11-20T12:31:00.500Z","pod_name":"hello-pod",` +
		`"boundary_id":"hello","inputs":[{"name":"word","value":"hi"}],"artifacts":[{"name":"model","key":"artifacts/model.tgz"}],"has_log":true}],` +
		`"metrics":[{"name":"images/sec","node_id":"hello-1","value":0,"format":"RAW"}],"warnings":["metrics file: unknown field"]}`
	require.Equal(t, golden, numbered(s.get(t, "/apis/argosy/v1/runs/"+id, 200)))
	require.Contains(t, s.get(t, "/apis/v1beta1/runs/"+id, 200), `"metrics":[{"name":"images/sec","node_id":"hello-1","number_value":0,"format":"RAW"}]`)
	require.NotContains(t, s.get(t, "/apis/argosy/v1/runs", 200), `"nodes"`, "lists carry no nodes")
}

// A name that KFP refuses for its slash, and the one that pipelines made for KFP use instead, are two names. Each comes back as it was reported,
// and lists are sorted by it.
func TestMetricNamesOfKFP(t *testing.T) {
	t.Parallel()
	s := start(t)
	ids := []string{s.run(t), s.run(t)}
	for i, id := range ids {
		path := "/apis/v1beta1/runs/" + id
		report := s.post(t, path+":reportMetrics", fmt.Sprintf(`{"metrics":[{"name":"images/sec","node_id":"n","number_value":%d},{"name":"images-sec","node_id":"n","number_value":%d}]}`, i+1, 9-i), 200)
		require.Equal(t, 2, strings.Count(report, `"OK"`), report)
		all := s.get(t, path, 200)
		require.Contains(t, all, fmt.Sprintf(`{"name":"images/sec","node_id":"n","number_value":%d}`, i+1))
		require.Contains(t, all, fmt.Sprintf(`{"name":"images-sec","node_id":"n","number_value":%d}`, 9-i))
	}
	for name, first := range map[string]string{"images/sec": ids[0], "images-sec": ids[1]} {
		require.Contains(t, s.get(t, "/apis/v1beta1/runs?page_size=1&sort_by="+url.QueryEscape("metric:"+name), 200), first, name)
	}
}

func TestMetricsAndArtifacts(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	path := "/apis/v1beta1/runs/" + id
	report := s.post(t, path+":reportMetrics", `{"metrics":[
		{"name":"accuracy","node_id":"n1","number_value":0.5,"format":"PERCENTAGE"},
		{"name":"accuracy","nodeId":"n1","numberValue":0.6},
		{"name":"9lives","node_id":"n1","number_value":1},
		{"name":"loss","number_value":1}]}`, 200)
	var results struct {
		Results []struct {
			Name    string `json:"metric_name"`
			Node    string `json:"metric_node_id"`
			Status  string
			Message string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(report), &results))
	var got []string
	for _, r := range results.Results {
		got = append(got, r.Name+" "+r.Status)
	}
	require.Equal(t, []string{"accuracy OK", "accuracy DUPLICATE_REPORTING", "9lives INVALID_ARGUMENT", "loss INVALID_ARGUMENT"}, got)
	require.Contains(t, s.get(t, path, 200), `"metrics":[{"name":"accuracy","node_id":"n1","number_value":0.5,"format":"PERCENTAGE"}]`)
	s.post(t, "/apis/v1beta1/runs/nonsense:reportMetrics", `{"metrics":[{"name":"a","node_id":"n","number_value":1}]}`, 404)

	for i, value := range []string{"5", "2.5"} { // whole numbers and fractions, across a page
		other := s.run(t)
		s.post(t, "/apis/v1beta1/runs/"+other+":reportMetrics", fmt.Sprintf(`{"metrics":[{"name":"Train-Accuracy","node_id":"n%d","number_value":%s}]}`, i, value), 200)
	}
	first := s.get(t, "/apis/v1beta1/runs?page_size=1&sort_by=metric:Train-Accuracy", 200)
	require.Contains(t, first, `"number_value":2.5`)
	second := s.get(t, "/apis/v1beta1/runs?page_size=1&page_token="+field(t, first, "next_page_token"), 200)
	require.Contains(t, second, `"number_value":5`)
	third := s.get(t, "/apis/v1beta1/runs?page_size=1&page_token="+field(t, second, "next_page_token"), 200)
	require.Contains(t, third, id, "runs without the metric come last")

	s.objects.data["artifacts/model.tgz"] = []byte("\x00\x01model")
	s.record(t, id, run.State{Status: run.Running, Workflow: []byte(`{}`), Nodes: []run.Node{{
		ID: "n1", Name: "n1", DisplayName: "n1", Type: "Pod", Phase: run.Succeeded,
		Artifacts: []run.Artifact{{Name: "model", Key: "artifacts/model.tgz"}, {Name: "lost", Key: "artifacts/lost"}},
	}}})
	data := field(t, s.get(t, path+"/nodes/n1/artifacts/model:read", 200), "data")
	require.Equal(t, base64.StdEncoding.EncodeToString([]byte("\x00\x01model")), data)
	for _, missing := range []string{"/nodes/n1/artifacts/other:read", "/nodes/n2/artifacts/model:read", "/nodes/n1/artifacts/lost:read"} {
		s.get(t, path+missing, 404)
	}
}
