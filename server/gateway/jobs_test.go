package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"sigs.k8s.io/yaml"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/run"
)

const weekly = `{"id":"ID1","name":"weekly","description":"each Monday",` +
	`"pipeline_spec":{"pipeline_id":"ID2","pipeline_name":"hello","workflow_manifest":MANIFEST,"parameters":[{"name":"word","value":"[[Index]]"}]},` +
	`"resource_references":[{"key":{"type":"EXPERIMENT","id":"ID3"},"name":"Default","relationship":"OWNER"},` +
	`{"key":{"type":"PIPELINE_VERSION","id":"ID2"},"name":"hello","relationship":"CREATOR"}],"service_account":"trainer","max_concurrency":"3",` +
	`"trigger":{"cron_schedule":{"start_time":"2027-01-01T00:00:00Z","cron":"0 30 9 ? * 1"}},` +
	`"created_at":"2026-11-20T12:00:04Z","updated_at":"2026-11-20T12:00:04Z","status":"Enabled","enabled":true,"no_catchup":true}`

func TestJobLife(t *testing.T) {
	t.Parallel()
	s := start(t)
	require.Equal(t, `{}`, s.get(t, "/apis/v1beta1/jobs", 200))
	pipelineID := s.pipeline(t, "hello")
	created := s.post(t, "/apis/v1beta1/jobs", fmt.Sprintf(`{"name":"weekly","description":"each Monday","service_account":"trainer",
		"pipeline_spec":{"pipeline_id":%q,"parameters":[{"name":"word","value":"[[Index]]"}]},"max_concurrency":"3","enabled":true,"no_catchup":true,
		"trigger":{"cron_schedule":{"cron":"0 30 9 ? * 1","start_time":"2027-01-01T00:00:00Z"}}}`, pipelineID), 200)
	asJSON, err := yaml.YAMLToJSON([]byte(hello))
	require.NoError(t, err)
	quoted, err := json.Marshal(string(asJSON))
	require.NoError(t, err)
	require.Equal(t, strings.Replace(weekly, "MANIFEST", string(quoted), 1), numbered(created))
	id := field(t, created, "id")
	path := "/apis/v1beta1/jobs/" + id
	require.Equal(t, created, s.get(t, path, 200))

	list := s.get(t, "/apis/v1beta1/jobs", 200)
	require.Contains(t, list, `"workflow_manifest":`+string(quoted), "lists carry the manifests that jobs run")
	require.Contains(t, list, `"total_size":1`)

	require.Equal(t, `{}`, s.post(t, path+"/disable", "", 200))
	require.Equal(t, "Disabled", field(t, s.get(t, path, 200), "status"))
	require.NotContains(t, s.get(t, path, 200), `"enabled"`)
	require.Equal(t, `{}`, s.post(t, path+"/enable", "", 200))
	require.Contains(t, s.get(t, path, 200), `"enabled":true`)

	byDefault, err := s.store.ExperimentByName(t.Context(), "Default")
	require.NoError(t, err)
	experiment := byDefault.ID
	require.Equal(t, `{}`, s.post(t, "/apis/v1beta1/experiments/"+experiment+":archive", "", 200))
	require.Equal(t, "Disabled", field(t, s.get(t, path, 200), "status"), "archiving an experiment disables its jobs")
	require.Equal(t, `{}`, s.post(t, "/apis/v1beta1/experiments/"+experiment+":unarchive", "", 200))
	require.Equal(t, "Disabled", field(t, s.get(t, path, 200), "status"), "and restoring it leaves them so")

	require.Equal(t, `{}`, s.delete(t, path, 200))
	s.get(t, path, 404)
	s.delete(t, path, 404)
	s.post(t, path+"/enable", "", 404)
	s.post(t, path+"/disable", "", 404)
}

func TestJobRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	manifest, err := json.Marshal(hello)
	require.NoError(t, err)
	spec := `"pipeline_spec":{"workflow_manifest":` + string(manifest) + `}`
	for name, c := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"nothing":             {`{}`, 400, "needs a name"},
		"no concurrency":      {`{"name":"j",` + spec + `}`, 400, "from 1 to 10"},
		"much concurrency":    {`{"name":"j",` + spec + `,"max_concurrency":"11"}`, 400, "from 1 to 10"},
		"concurrency, a word": {`{"name":"j",` + spec + `,"max_concurrency":"many"}`, 400, "maxConcurrency"},
		"five fields are six": {`{"name":"j",` + spec + `,"max_concurrency":1,"trigger":{"cron_schedule":{"cron":"0 0 12 * *"}}}`, 200, ""},
		"cron, bad":           {`{"name":"j",` + spec + `,"max_concurrency":1,"trigger":{"cron_schedule":{"cron":"often"}}}`, 400, "write five fields"},
		"cron, empty":         {`{"name":"j",` + spec + `,"max_concurrency":1,"trigger":{"cron_schedule":{}}}`, 400, "cron is missing"},
		"no interval":         {`{"name":"j",` + spec + `,"max_concurrency":1,"trigger":{"periodic_schedule":{}}}`, 400, "at least 1"},
		"long interval":       {`{"name":"j",` + spec + `,"max_concurrency":1,"trigger":{"periodic_schedule":{"interval_second":"9223372036854775807"}}}`, 400, "at least 1"},
		"end before start":    {`{"name":"j",` + spec + `,"max_concurrency":1,"trigger":{"periodic_schedule":{"interval_second":"1","start_time":"2026-01-02T00:00:00Z","end_time":"2026-01-01T00:00:00Z"}}}`, 400, "before it starts"},
		"nothing to run":      {`{"name":"j","max_concurrency":1}`, 400, "needs a pipeline"},
		"unknown parameter":   {`{"name":"j","max_concurrency":1,"pipeline_spec":{"workflow_manifest":` + string(manifest) + `,"parameters":[{"name":"wrod"}]}}`, 400, "Unrecognized input parameter: wrod"},
		"unknown pipeline":    {`{"name":"j","max_concurrency":1,"pipeline_spec":{"pipeline_id":"nil"}}`, 404, "nil"},
	} {
		answer := s.post(t, "/apis/v1beta1/jobs", c.body, c.status)
		if c.status != 200 {
			require.Contains(t, field(t, answer, "error"), c.says, name)
		}
	}
	require.Contains(t, s.get(t, "/apis/v1beta1/jobs", 200), `"total_size":1`)
	s.get(t, "/apis/v1beta1/jobs?resource_reference_key.type=JOB&resource_reference_key.id=x", 400)
	s.get(t, "/apis/v1beta1/jobs?sort_by=colour", 400)
	require.Equal(t, `{}`, s.get(t, "/apis/v1beta1/jobs?resource_reference_key.type=EXPERIMENT&resource_reference_key.id=x", 200))
	require.Contains(t, s.get(t, "/apis/v1beta1/jobs?resource_reference_key.type=UNKNOWN_RESOURCE_TYPE", 200), `"total_size":1`)
}

// TestScheduleIsChanged changes a job over REST: it keeps its id and stays disabled.
func TestScheduleIsChanged(t *testing.T) {
	t.Parallel()
	s := start(t)
	manifest, err := json.Marshal(hello)
	require.NoError(t, err)
	spec := `"pipeline_spec":{"workflow_manifest":` + string(manifest) + `}`
	made := s.post(t, "/apis/v1beta1/jobs", `{"name":"nightly","max_concurrency":1,`+spec+`,"trigger":{"cron_schedule":{"cron":"0 0 3 * * *"}}}`, 200)
	path := "/apis/argosy/v1/schedules/" + field(t, made, "id")
	changed := s.put(t, path, `{"name":"weekly","max_concurrency":2,"enabled":true,`+spec+`,"trigger":{"cron_schedule":{"cron":"@weekly"}}}`, 200)
	require.Equal(t, []string{field(t, made, "id"), "weekly", "2", "Disabled"}, []string{
		field(t, changed, "id"), field(t, changed, "name"), field(t, changed, "max_concurrency"), field(t, changed, "status"),
	})
	kept := s.get(t, "/apis/v1beta1/jobs/"+field(t, made, "id"), 200)
	require.JSONEq(t, changed, kept)
	require.Contains(t, kept, `"cron":"@weekly"`)
	require.Contains(t, s.put(t, path, `{"name":"weekly","max_concurrency":2,`+spec+`,"trigger":{"cron_schedule":{"cron":"often"}}}`, 400), "write five fields")
	require.JSONEq(t, kept, s.get(t, "/apis/v1beta1/jobs/"+field(t, made, "id"), 200), "a change that is refused changes nothing")
}

// TestJobRuns lets a job without a trigger, which runs once, start its run.
func TestJobRuns(t *testing.T) {
	t.Parallel()
	s := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.schedules.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	changes := s.feed.Subscribe("")
	defer changes.Close()
	jobs := kfpv1.NewJobServiceClient(s.conn)
	job, err := jobs.CreateJob(t.Context(), &kfpv1.CreateJobRequest{Job: &kfpv1.Job{
		Name: "Only Once!", MaxConcurrency: 1, Mode: kfpv1.Job_ENABLED, PipelineSpec: &kfpv1.PipelineSpec{WorkflowManifest: hello},
	}})
	require.NoError(t, err)
	select {
	case <-changes.C():
	case <-time.After(5 * time.Minute):
		t.Fatal("no run was started")
	}
	list := s.get(t, "/apis/v1beta1/runs?resource_reference_key.type=JOB&resource_reference_key.id="+job.GetId(), 200)
	require.Contains(t, list, `"total_size":1`)
	require.Contains(t, list, `{"key":{"type":"JOB","id":"`+job.GetId()+`"},"name":"Only Once!","relationship":"CREATOR"}`)
	require.Contains(t, list, `"name":"onlyonce-`+job.GetId()[:5]+`-1-`, "named as its Workflow")
	require.NotContains(t, list, `"scheduled_at":"1970`)
	require.Eventually(t, func() bool {
		now, err := jobs.GetJob(t.Context(), &kfpv1.GetJobRequest{Id: job.GetId()})
		return err == nil && now.GetStatus() == "Succeeded"
	}, 5*time.Minute, 5*time.Millisecond, "no other run will come")
}

func TestReports(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	report := func(text string, want int) string {
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		return s.post(t, "/apis/v1beta1/workflows", string(quoted), want)
	}
	const workflow = `{"kind":"Workflow","metadata":{"name":"w","namespace":"kubeflow","uid":"u","labels":{"pipeline/runid":%q}},"status":{"phase":"Succeeded"}}`
	require.Equal(t, `{}`, report(fmt.Sprintf(workflow, id), 200))
	require.NotContains(t, s.get(t, "/apis/v1beta1/runs/"+id, 200), "Succeeded", "what the cluster says is read from the cluster")
	require.Contains(t, report(fmt.Sprintf(workflow, "another"), 404), `"code":5`)
	require.Contains(t, report(`{`, 400), "valid JSON")
	require.Contains(t, report(`{"kind":"Pod"}`, 400), "a Pod was reported")
	require.Contains(t, report(`{"metadata":{"name":"w"}}`, 400), "uid")
	require.Contains(t, report(`{"metadata":{"name":"w","namespace":"n","uid":"u"}}`, 400), "belongs to no run")

	reports := kfpv1.NewReportServiceClient(s.conn)
	_, err := reports.ReportWorkflowV1(t.Context(), &kfpv1.ReportWorkflowRequest{Workflow: fmt.Sprintf(workflow, id), MetricErrors: []string{"step x: no metrics"}})
	require.NoError(t, err)
	require.Equal(t, "step x: no metrics", field(t, s.get(t, "/apis/v1beta1/runs/"+id, 200), "run", "metric_errors"))

	scheduled, err := json.Marshal(`{"kind":"ScheduledWorkflow","metadata":{"name":"w","namespace":"n","uid":"u"}}`)
	require.NoError(t, err)
	require.Contains(t, s.post(t, "/apis/v1beta1/scheduledworkflows", string(scheduled), 404), "job u not found")
	_, err = reports.ReportScheduledWorkflow(t.Context(), &kfpv1.ReportScheduledWorkflowRequest{ScheduledWorkflow: "x"})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
}

func TestAuthorize(t *testing.T) {
	t.Parallel()
	s := start(t)
	require.Equal(t, `{}`, s.get(t, "/apis/v1beta1/auth?namespace=n&resources=VIEWERS&verb=GET", 200))
	for _, query := range []string{"", "?namespace=n", "?namespace=n&resources=VIEWERS", "?namespace=n&verb=GET", "?namespace=n&resources=ROOMS&verb=GET"} {
		require.Contains(t, s.get(t, "/apis/v1beta1/auth"+query, 400), `"code":3`, query)
	}
}

func TestVisualizations(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path = "/apis/v1beta1/visualizations/kubeflow"
	require.Contains(t, s.post(t, path, `{"type":"TABLE"}`, 400), "source is missing")
	require.Contains(t, s.post(t, path, `{"type":"TABLE","source":"s","arguments":"{"}`, 400), "not valid JSON")
	require.Contains(t, s.post(t, path, `{"type":"TABLE","source":"s","arguments":"{}"}`, 500), "mlpipeline-ui-metadata")
	_, err := kfpv1.NewVisualizationServiceClient(s.conn).CreateVisualizationV1(t.Context(), &kfpv1.CreateVisualizationRequest{})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
}

// TestRetryWaits asks for a retry in the moment that a client sees a run fail: its logs are not in yet.
func TestRetryWaits(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	s.record(t, id, run.State{Status: run.Failed, Workflow: []byte(`{}`)})
	answered := make(chan error, 1)
	go func() {
		_, err := kfpv1.NewRunServiceClient(s.conn).RetryRunV1(context.WithoutCancel(t.Context()), &kfpv1.RetryRunRequest{RunId: id})
		answered <- err
	}()
	require.NoError(t, s.store.Settle(t.Context(), id))
	s.feed.Publish(id)
	require.NoError(t, <-answered)
	require.Equal(t, "Running", field(t, s.get(t, "/apis/v1beta1/runs/"+id, 200), "run", "status"))
}
