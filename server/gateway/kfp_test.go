package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	argofake "github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned/fake"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/engine"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/run"
)

// Answers that clients of KFP v1 need to the letter (docs/adr/0025), over REST and over gRPC. Both must give the
// same answer.

// onArgo has the server validate with Argo and keep Workflows in a cluster of fake clients.
func onArgo(argo *argofake.Clientset) func(*server) {
	return func(s *server) {
		s.real = engine.New(argo, fake.NewClientset(), enginetest.NewDynamic(), "kubeflow", slog.New(slog.NewTextHandler(io.Discard, nil)))
	}
}

func grpcClient(s *server) *client { return &client{server: s, called: map[string]bool{}} }

// same sends a request by REST and by gRPC, and returns the answer, which must be the same.
func same(t *testing.T, rest, grpc string) string {
	t.Helper()
	require.JSONEq(t, rest, grpc)
	return rest
}

// echo has a parameter without default, which its entry point and its exit handler take.
const echo = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  generateName: echo-
  annotations: {pipelines.kubeflow.org/pipeline_spec: '{"name":"echo","inputs":[{"name":"text","type":"String"}]}'}
spec:
  entrypoint: echo
  onExit: tell
  serviceAccountName: pipeline-runner
  arguments: {parameters: [{name: text}]}
  templates:
  - name: echo
    inputs: {parameters: [{name: text}]}
    dag:
      tasks:
      - name: print
        template: print
        arguments: {parameters: [{name: text, value: '{{inputs.parameters.text}}'}]}
  - name: print
    inputs: {parameters: [{name: text}]}
    container: {image: alpine, command: [echo, '{{inputs.parameters.text}}']}
  - name: tell
    inputs: {parameters: [{name: text}]}
    container: {image: alpine, command: [echo, '{{inputs.parameters.text}}', '{{workflow.status}}']}
`

func TestRequiredParameter(t *testing.T) {
	t.Parallel()
	s := start(t, onArgo(argofake.NewSimpleClientset()))
	c := grpcClient(s)
	uploaded := s.upload(t, "/apis/v1beta1/pipelines/upload?name=echo", "echo.yaml", []byte(echo), 200)
	id := field(t, uploaded, "id")
	require.Contains(t, uploaded, `"parameters":[{"name":"text"}]`)
	s.upload(t, "/apis/v1beta1/pipelines/upload_version?name=two&pipelineid="+id, "echo.yaml", []byte(echo), 200)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(echo)) //nolint:errcheck // the test sees what arrives
	}))
	t.Cleanup(site.Close)
	c.call(t, "PipelineService/CreatePipeline", &kfpv1.CreatePipelineRequest{Pipeline: &kfpv1.Pipeline{Name: "by URL", Url: &kfpv1.Url{PipelineUrl: site.URL + "/echo.yaml"}}})

	const missing = "parameter text has no default; give it a value"
	body := fmt.Sprintf(`{"name":"x","max_concurrency":"1","pipeline_spec":{"pipeline_id":%q}}`, id)
	require.Equal(t, missing, field(t, s.post(t, "/apis/v1beta1/runs", body, 400), "error"))
	require.Equal(t, missing, field(t, s.post(t, "/apis/v1beta1/jobs", body, 400), "error"))
	spec := &kfpv1.PipelineSpec{PipelineId: id}
	_, err := kfpv1.NewRunServiceClient(s.conn).CreateRun(t.Context(), &kfpv1.CreateRunRequest{Run: &kfpv1.Run{Name: "x", PipelineSpec: spec}})
	require.Equal(t, status.New(codes.InvalidArgument, missing).String(), withoutDetails(err))
	_, err = kfpv1.NewJobServiceClient(s.conn).CreateJob(t.Context(), &kfpv1.CreateJobRequest{Job: &kfpv1.Job{Name: "x", MaxConcurrency: 1, PipelineSpec: spec}})
	require.Equal(t, status.New(codes.InvalidArgument, missing).String(), withoutDetails(err))
	s.post(t, "/apis/v1beta1/runs", strings.Replace(body, `}}`, `,"parameters":[{"name":"text","value":"hi"}]}}`, 1), 200)
}

func withoutDetails(err error) string {
	s := status.Convert(err)
	return status.New(s.Code(), s.Message()).String()
}

func TestManifestsInLists(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := grpcClient(s)
	pipeline := s.pipeline(t, "hello")
	quoted, err := json.Marshal(hello)
	require.NoError(t, err)
	asJSON, err := yaml.YAMLToJSON([]byte(hello))
	require.NoError(t, err)
	const inline = `{"apiVersion":"argoproj.io/v1alpha1", "kind":"Workflow", "metadata":{"generateName":"as-it-was-sent-"}, "spec":{}}`
	for name, spec := range map[string]string{
		"one": fmt.Sprintf(`{"pipeline_id":%q}`, pipeline), "two": fmt.Sprintf(`{"pipeline_id":%q}`, pipeline),
		"three": `{"workflow_manifest":` + string(quoted) + `}`, "four": fmt.Sprintf(`{"workflow_manifest":%q}`, inline),
	} {
		body := fmt.Sprintf(`{"name":%q,"max_concurrency":"1","pipeline_spec":%s}`, name, spec)
		s.post(t, "/apis/v1beta1/runs", body, 200)
		s.post(t, "/apis/v1beta1/jobs", body, 200)
	}
	want := map[string]string{"one": string(asJSON), "two": string(asJSON), "three": string(asJSON), "four": inline}
	runs := same(t, s.get(t, "/apis/v1beta1/runs?page_size=3&sort_by=name", 200), c.call(t, "RunService/ListRuns", &kfpv1.ListRunsRequest{PageSize: 3, SortBy: "name"}))
	jobs := same(t, s.get(t, "/apis/v1beta1/jobs?page_size=3&sort_by=name", 200), c.call(t, "JobService/ListJobs", &kfpv1.ListJobsRequest{PageSize: 3, SortBy: "name"}))
	for _, list := range []string{runs, jobs} {
		var page struct {
			Runs, Jobs []struct {
				Name string
				Spec struct {
					Manifest string `json:"workflow_manifest"`
				} `json:"pipeline_spec"`
			}
		}
		require.NoError(t, json.Unmarshal([]byte(list), &page))
		items := append(page.Runs, page.Jobs...)
		require.Len(t, items, 3)
		for _, item := range items {
			require.Equal(t, want[item.Name], item.Spec.Manifest, item.Name)
		}
	}
	require.NotContains(t, s.get(t, "/apis/argosy/v1/runs", 200), "manifest", "our own API stays lean")
}

func TestTerminateRunsTheExitHandler(t *testing.T) {
	t.Parallel()
	argo := argofake.NewSimpleClientset()
	s := start(t, onArgo(argo))
	begin := func(phase wfv1.WorkflowPhase, deadline string) (id, name string) {
		manifest := strings.Replace(echo, "onExit: tell", "onExit: tell"+deadline, 1)
		created := s.post(t, "/apis/v1beta1/runs", fmt.Sprintf(`{"name":"r","pipeline_spec":{"workflow_manifest":%q,"parameters":[{"name":"text","value":"hi"}]}}`, manifest), 200)
		var wf wfv1.Workflow
		require.NoError(t, json.Unmarshal([]byte(field(t, created, "pipeline_runtime", "workflow_manifest")), &wf))
		there, err := argo.ArgoprojV1alpha1().Workflows("kubeflow").Get(t.Context(), wf.Name, metav1.GetOptions{})
		require.NoError(t, err)
		there.Status.Phase = phase
		_, err = argo.ArgoprojV1alpha1().Workflows("kubeflow").Update(t.Context(), there, metav1.UpdateOptions{})
		require.NoError(t, err)
		return field(t, created, "run", "id"), wf.Name
	}
	told := func(name string) []any {
		wf, err := argo.ArgoprojV1alpha1().Workflows("kubeflow").Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		require.NotNil(t, wf.Spec.ActiveDeadlineSeconds)
		return []any{*wf.Spec.ActiveDeadlineSeconds, wf.Spec.Shutdown, wf.Annotations["argosy.dev/deadline"]}
	}
	id, name := begin(wfv1.WorkflowRunning, "")
	require.Equal(t, `{}`, s.post(t, "/apis/v1beta1/runs/"+id+"/terminate", "", 200))
	require.Equal(t, []any{int64(0), wfv1.ShutdownStrategyStop, ""}, told(name), "exit handlers run")
	require.Equal(t, `{}`, s.post(t, "/apis/v1beta1/runs/"+id+"/terminate", "", 200), "asking twice is harmless")

	id, name = begin(wfv1.WorkflowRunning, "\n  activeDeadlineSeconds: 3600")
	grpcClient(s).call(t, "RunService/TerminateRun", &kfpv1.TerminateRunRequest{RunId: id})
	require.Equal(t, []any{int64(0), wfv1.ShutdownStrategyStop, "3600"}, told(name), "with the deadline kept for a retry")

	id, name = begin(wfv1.WorkflowPending, "")
	s.post(t, "/apis/v1beta1/runs/"+id+"/terminate", "", 200)
	require.Equal(t, []any{int64(0), wfv1.ShutdownStrategyTerminate, ""}, told(name), "what waits to begin has nothing to clean up")
}

func TestServiceAccountOfJobs(t *testing.T) {
	t.Parallel()
	s := start(t, onArgo(argofake.NewSimpleClientset()))
	for manifest, want := range map[string]string{
		hello: "pipeline-runner",
		strings.Replace(hello, "  entrypoint: say", "  serviceAccountName: theirs\n  entrypoint: say", 1): "theirs",
	} {
		job := &kfpv1.Job{Name: "j", MaxConcurrency: 1, PipelineSpec: &kfpv1.PipelineSpec{WorkflowManifest: manifest, Parameters: []*kfpv1.Parameter{{Name: "times", Value: "1"}}}}
		created := grpcClient(s).call(t, "JobService/CreateJob", &kfpv1.CreateJobRequest{Job: job})
		require.Equal(t, want, field(t, created, "service_account"))
		same(t, s.get(t, "/apis/v1beta1/jobs/"+field(t, created, "id"), 200), created)
		job.ServiceAccount = "mine"
		require.Equal(t, "mine", field(t, grpcClient(s).call(t, "JobService/CreateJob", &kfpv1.CreateJobRequest{Job: job}), "service_account"))
	}
}

// A pipeline is named where the request named it; what was made by a version alone refers to that.
func TestPipelineOfRunsAndJobs(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := grpcClient(s)
	id := s.pipeline(t, "hello")
	version := fmt.Sprintf(`"resource_references":[{"key":{"type":"PIPELINE_VERSION","id":%q},"relationship":"CREATOR"}]`, id)
	named := fmt.Sprintf(`"pipeline_spec":{"pipeline_id":%q}`, id)
	for name, wants := range map[string]bool{version: false, named: true, named + "," + version: true} {
		body := `{"name":"x","max_concurrency":"1",` + name + `}`
		created := s.post(t, "/apis/v1beta1/runs", body, 200)
		told := same(t, s.get(t, "/apis/v1beta1/runs/"+field(t, created, "run", "id"), 200), c.call(t, "RunService/GetRun", &kfpv1.GetRunRequest{RunId: field(t, created, "run", "id")}))
		job := s.post(t, "/apis/v1beta1/jobs", body, 200)
		same(t, job, c.call(t, "JobService/GetJob", &kfpv1.GetJobRequest{Id: field(t, job, "id")}))
		for _, answer := range []string{told, job} {
			require.Equal(t, wants, strings.Contains(answer, fmt.Sprintf(`"pipeline_id":%q,"pipeline_name":"hello"`, id)), answer)
			require.Contains(t, answer, fmt.Sprintf(`{"key":{"type":"PIPELINE_VERSION","id":%q},"name":"hello","relationship":"CREATOR"}`, id))
		}
		view := s.get(t, "/apis/argosy/v1/runs/"+field(t, created, "run", "id"), 200)
		require.Contains(t, view, fmt.Sprintf(`"pipeline":{"id":%q,"name":"hello"`, id), "our own API knows it always")
	}
}

func TestRunOfAJob(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.pipeline(t, "hello")
	require.NoError(t, s.store.Accept(t.Context(), run.Run{
		ID: "r", Name: "j-1", PipelineID: id, PipelineName: "hello", VersionID: id, VersionName: "hello", ScheduleID: "j", ScheduleName: "weekly",
		ExperimentID: "e", Namespace: "kubeflow", Workflow: "j-1",
	}, []byte(hello), []byte(`{}`)))
	answer := same(t, s.get(t, "/apis/v1beta1/runs/r", 200), grpcClient(s).call(t, "RunService/GetRun", &kfpv1.GetRunRequest{RunId: "r"}))
	require.Contains(t, answer, `"resource_references":[{"key":{"type":"EXPERIMENT","id":"e"},"relationship":"OWNER"},{"key":{"type":"JOB","id":"j"},"name":"weekly","relationship":"CREATOR"}]`)
	require.NotContains(t, answer, "pipeline_id")
}

func TestNamesThatAreTaken(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.pipeline(t, "taken")
	s.post(t, "/apis/v1beta1/experiments", `{"name":"taken"}`, 200)
	const says = "Please specify a new name"
	require.Contains(t, field(t, s.post(t, "/apis/v1beta1/experiments", `{"name":"taken"}`, 409), "error"), says)
	_, err := kfpv1.NewExperimentServiceClient(s.conn).CreateExperiment(t.Context(), &kfpv1.CreateExperimentRequest{Experiment: &kfpv1.Experiment{Name: "taken"}})
	require.Equal(t, codes.AlreadyExists, status.Code(err))
	require.ErrorContains(t, err, says)
	require.Contains(t, field(t, s.upload(t, "/apis/v1beta1/pipelines/upload?name=taken", "x.yaml", []byte(hello), 500), "error_message"), says)
	require.Contains(t, field(t, s.upload(t, "/apis/v1beta1/pipelines/upload_version?name=taken&pipelineid="+id, "x.yaml", []byte(hello), 500), "error_message"), says)
}

// A list of what belongs to something that is not named is empty: a client that deletes all that it is given deletes nothing.
func TestListsOfNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := grpcClient(s)
	s.run(t)
	s.post(t, "/apis/v1beta1/jobs", fmt.Sprintf(`{"name":"j","max_concurrency":"1","pipeline_spec":{"workflow_manifest":%q}}`, hello), 200)
	for _, kind := range []kfpv1.ResourceType{kfpv1.ResourceType_JOB, kfpv1.ResourceType_EXPERIMENT} {
		key := &kfpv1.ResourceKey{Type: kind}
		query := "?resource_reference_key.type=" + kind.String()
		require.Equal(t, `{}`, same(t, s.get(t, "/apis/v1beta1/runs"+query, 200), c.call(t, "RunService/ListRuns", &kfpv1.ListRunsRequest{ResourceReferenceKey: key})))
		if kind == kfpv1.ResourceType_EXPERIMENT {
			require.Equal(t, `{}`, same(t, s.get(t, "/apis/v1beta1/jobs"+query, 200), c.call(t, "JobService/ListJobs", &kfpv1.ListJobsRequest{ResourceReferenceKey: key})))
		}
	}
	for _, list := range []string{"runs", "jobs", "experiments"} {
		require.Contains(t, s.get(t, "/apis/v1beta1/"+list+"?resource_reference_key.type=NAMESPACE&resource_reference_key.id=team", 400), `namespace \"team\"`)
		require.Contains(t, s.get(t, "/apis/v1beta1/"+list+"?resource_reference_key.type=NAMESPACE", 200), `"total_size":1`)
	}
	require.Contains(t, s.post(t, "/apis/v1beta1/experiments", `{"name":"mine","resource_references":[{"key":{"type":"NAMESPACE","id":"team"},"relationship":"OWNER"}]}`, 400), "leave them out")
}

// A run whose experiment was deleted can still be opened: clients ask for the experiment that it refers to.
func TestRunOfADeletedExperiment(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := grpcClient(s)
	id := field(t, s.post(t, "/apis/v1beta1/experiments", `{"name":"tuning","description":"of the rate"}`, 200), "id")
	reference := fmt.Sprintf(`"resource_references":[{"key":{"type":"EXPERIMENT","id":%q},"relationship":"OWNER"}]`, id)
	body := fmt.Sprintf(`{"name":"r","max_concurrency":"1","pipeline_spec":{"workflow_manifest":%q},%s}`, hello, reference)
	made := field(t, s.post(t, "/apis/v1beta1/runs", body, 200), "run", "id")
	s.delete(t, "/apis/v1beta1/experiments/"+id, 200)

	told := same(t, s.get(t, "/apis/v1beta1/runs/"+made, 200), c.call(t, "RunService/GetRun", &kfpv1.GetRunRequest{RunId: made}))
	require.Contains(t, told, fmt.Sprintf(`{"key":{"type":"EXPERIMENT","id":%q},"name":"tuning","relationship":"OWNER"}`, id))
	require.Contains(t, s.get(t, "/apis/argosy/v1/runs", 200), `"name":"tuning"`)
	gone := same(t, s.get(t, "/apis/v1beta1/experiments/"+id, 200), c.call(t, "ExperimentService/GetExperiment", &kfpv1.GetExperimentRequest{Id: id}))
	require.Equal(t, []string{"tuning", "of the rate", "STORAGESTATE_ARCHIVED"}, []string{field(t, gone, "name"), field(t, gone, "description"), field(t, gone, "storage_state")})
	require.NotContains(t, s.get(t, "/apis/v1beta1/experiments", 200), id)
	s.post(t, "/apis/v1beta1/runs", body, 404)
	s.delete(t, "/apis/v1beta1/experiments/"+id, 404)
	s.post(t, "/apis/v1beta1/experiments", `{"name":"tuning"}`, 200)

	s.delete(t, "/apis/v1beta1/runs/"+made, 200)
	s.get(t, "/apis/v1beta1/experiments/"+id, 404)
}

// KFP's UI finds an artifact by the bucket beside its key.
func TestBucketsBesideKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	const workflow = `{"metadata":{"name":"w"},"spec":{"templates":[{"name":"a","outputs":{"artifacts":[{"name":"x","s3":{"key":"fixed"}}]}}],"arguments":{"parameters":[{"name":"p","value":"\"s3\":{\"key\":"}]}},` +
		`"status":{"nodes":{"n":{"id":"n","outputs":{"artifacts":[{"name":"mlpipeline-ui-metadata","s3":{"key":"a/b.tgz"}}]}}},` +
		`"artifactRepositoryRef":{"default":true,"artifactRepository":{"s3":{"endpoint":"minio:9000","bucket":"mlpipeline","insecure":true}}}}}`
	s.record(t, id, run.State{Status: run.Running, Workflow: []byte(workflow)})
	told := same(t, s.get(t, "/apis/v1beta1/runs/"+id, 200), grpcClient(s).call(t, "RunService/GetRun", &kfpv1.GetRunRequest{RunId: id}))
	require.Equal(t, strings.Replace(workflow, `"s3":{"key":"a/b.tgz"}`, `"s3":{"endpoint":"minio:9000","bucket":"mlpipeline","key":"a/b.tgz"}`, 1),
		field(t, told, "pipeline_runtime", "workflow_manifest"))
	kept, err := s.store.Workflow(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, workflow, string(kept), "what a retry goes on with names no bucket")
}
