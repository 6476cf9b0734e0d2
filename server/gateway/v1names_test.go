package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/run"
)

// TestBothMethodNames has a client of each era call the methods over gRPC by the names that it knows. Both get the same answers, and
// together they call every method.
func TestBothMethodNames(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(hello)) //nolint:errcheck // the test sees what arrives
	}))
	t.Cleanup(site.Close)
	older := &client{server: start(t), called: map[string]bool{}}
	newer := &client{server: start(t), called: map[string]bool{}, newer: true}
	was, is := older.tour(t, site.URL+"/p.yaml"), newer.tour(t, site.URL+"/p.yaml")
	require.Equal(t, numbered(was), numbered(is))

	methods := 0
	protoregistry.GlobalFiles.RangeFilesByPackage("api", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				name := string(service.Name()) + "/" + string(service.Methods().Get(j).Name())
				require.True(t, older.called[name] || newer.called[name], "nobody called %s", name)
				methods++
			}
		}
		return true
	})
	require.Greater(t, methods, 70)
}

// client knows the methods by the names of one era, and writes down what it is answered.
type client struct {
	*server
	newer  bool
	called map[string]bool
	told   strings.Builder
}

// call gives the answer of a method, which is to be a success unless another code is named, as JSON.
func (c *client) call(t *testing.T, method string, request proto.Message, want ...codes.Code) string {
	t.Helper()
	service, name, _ := strings.Cut(method, "/")
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName("api." + service))
	require.NoError(t, err)
	methods := found.(protoreflect.ServiceDescriptor).Methods()
	chosen := methods.ByName(protoreflect.Name(name))
	require.NotNil(t, chosen, method)
	if c.newer {
		later := name + "V1"
		if name == "ListExperiment" { // where the name changed by more than its ending
			later = "ListExperimentsV1"
		}
		if m := methods.ByName(protoreflect.Name(later)); m != nil {
			chosen = m
		}
	}
	c.called[service+"/"+string(chosen.Name())] = true
	answer := dynamicpb.NewMessage(chosen.Output())
	err = c.conn.Invoke(t.Context(), "/api."+service+"/"+string(chosen.Name()), request, answer)
	require.Equal(t, append(want, codes.OK)[0], status.Code(err), "%s: %v", chosen.FullName(), err)
	body := protojson.MarshalOptions{UseProtoNames: true}.Format(answer)
	fmt.Fprintf(&c.told, "%s: %s %s\n", method, strings.ReplaceAll(body, " ", ""), status.Convert(err).Message())
	return body
}

// tour uses everything once.
func (c *client) tour(t *testing.T, packageURL string) string {
	t.Helper()
	c.pipelines(t, packageURL)
	c.experiments(t)
	c.runs(t)
	c.jobs(t)
	c.call(t, "HealthzService/GetHealthz", &emptypb.Empty{})
	c.call(t, "AuthService/Authorize", &kfpv1.AuthorizeRequest{
		Namespace: "n", Resources: kfpv1.AuthorizeRequest_VIEWERS, Verb: kfpv1.AuthorizeRequest_GET,
	})
	c.call(t, "VisualizationService/CreateVisualization", &kfpv1.CreateVisualizationRequest{
		Namespace: "n", Visualization: &kfpv1.Visualization{Type: kfpv1.Visualization_TABLE, Source: "s"},
	}, codes.Internal)
	return c.told.String()
}

func (c *client) pipelines(t *testing.T, packageURL string) {
	t.Helper()
	url := &kfpv1.Url{PipelineUrl: packageURL}
	id := field(t, c.call(t, "PipelineService/CreatePipeline", &kfpv1.CreatePipelineRequest{Pipeline: &kfpv1.Pipeline{Name: "p", Url: url}}), "id")
	owner := &kfpv1.ResourceKey{Type: kfpv1.ResourceType_PIPELINE, Id: id}
	version := field(t, c.call(t, "PipelineService/CreatePipelineVersion", &kfpv1.CreatePipelineVersionRequest{Version: &kfpv1.PipelineVersion{
		Name: "v2", PackageUrl: url, ResourceReferences: []*kfpv1.ResourceReference{{Key: owner, Relationship: kfpv1.Relationship_OWNER}},
	}}), "id")
	c.call(t, "PipelineService/GetPipeline", &kfpv1.GetPipelineRequest{Id: id})
	c.call(t, "PipelineService/GetPipelineByName", &kfpv1.GetPipelineByNameRequest{Name: "p"})
	c.call(t, "PipelineService/ListPipelines", &kfpv1.ListPipelinesRequest{})
	c.call(t, "PipelineService/GetTemplate", &kfpv1.GetTemplateRequest{Id: id})
	c.call(t, "PipelineService/GetPipelineVersion", &kfpv1.GetPipelineVersionRequest{VersionId: version})
	c.call(t, "PipelineService/ListPipelineVersions", &kfpv1.ListPipelineVersionsRequest{ResourceKey: owner})
	c.call(t, "PipelineService/GetPipelineVersionTemplate", &kfpv1.GetPipelineVersionTemplateRequest{VersionId: version})
	c.call(t, "PipelineService/UpdatePipelineDefaultVersion", &kfpv1.UpdatePipelineDefaultVersionRequest{PipelineId: id, VersionId: id})
	c.call(t, "PipelineService/DeletePipelineVersion", &kfpv1.DeletePipelineVersionRequest{VersionId: version})
	c.call(t, "PipelineService/DeletePipeline", &kfpv1.DeletePipelineRequest{Id: id})
	c.call(t, "PipelineService/GetPipeline", &kfpv1.GetPipelineRequest{Id: id}, codes.NotFound)
}

func (c *client) experiments(t *testing.T) {
	t.Helper()
	id := field(t, c.call(t, "ExperimentService/CreateExperiment", &kfpv1.CreateExperimentRequest{Experiment: &kfpv1.Experiment{Name: "e"}}), "id")
	c.call(t, "ExperimentService/ArchiveExperiment", &kfpv1.ArchiveExperimentRequest{Id: id})
	require.Equal(t, "STORAGESTATE_ARCHIVED", field(t, c.call(t, "ExperimentService/GetExperiment", &kfpv1.GetExperimentRequest{Id: id}), "storage_state"))
	c.call(t, "ExperimentService/UnarchiveExperiment", &kfpv1.UnarchiveExperimentRequest{Id: id})
	require.Contains(t, c.call(t, "ExperimentService/ListExperiment", &kfpv1.ListExperimentsRequest{}), "STORAGESTATE_AVAILABLE")
	c.call(t, "ExperimentService/DeleteExperiment", &kfpv1.DeleteExperimentRequest{Id: id})
	c.call(t, "ExperimentService/GetExperiment", &kfpv1.GetExperimentRequest{Id: id}, codes.NotFound)
}

func (c *client) runs(t *testing.T) {
	t.Helper()
	id := field(t, c.call(t, "RunService/CreateRun", &kfpv1.CreateRunRequest{Run: &kfpv1.Run{
		Name: "r", PipelineSpec: &kfpv1.PipelineSpec{WorkflowManifest: hello},
	}}), "run", "id")
	c.call(t, "RunService/TerminateRun", &kfpv1.TerminateRunRequest{RunId: id})
	c.call(t, "RunService/ReportRunMetrics", &kfpv1.ReportRunMetricsRequest{RunId: id, Metrics: []*kfpv1.RunMetric{
		{Name: "loss", NodeId: "n1", Value: &kfpv1.RunMetric_NumberValue{NumberValue: 0.5}},
	}})
	begun := time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC)
	c.objects.data["model.tgz"] = []byte("model")
	c.record(t, id, run.State{
		Status: run.Failed, Workflow: []byte(`{}`), StartedAt: begun, FinishedAt: begun.Add(time.Minute),
		Nodes: []run.Node{{ID: "n1", Name: "n1", DisplayName: "n1", Type: "Pod", Phase: run.Failed, Artifacts: []run.Artifact{{Name: "model", Key: "model.tgz"}}}},
	})
	require.NoError(t, c.store.Settle(t.Context(), id))
	require.Equal(t, "bW9kZWw=", field(t, c.call(t, "RunService/ReadArtifact", &kfpv1.ReadArtifactRequest{RunId: id, NodeId: "n1", ArtifactName: "model"}), "data"))
	c.call(t, "RunService/RetryRun", &kfpv1.RetryRunRequest{RunId: id})
	require.Contains(t, c.call(t, "RunService/GetRun", &kfpv1.GetRunRequest{RunId: id}), `"Running"`)
	workflow := fmt.Sprintf(`{"kind":"Workflow","metadata":{"name":"w","namespace":"kubeflow","uid":"u","labels":{"pipeline/runid":%q}}}`, id)
	c.call(t, "ReportService/ReportWorkflow", &kfpv1.ReportWorkflowRequest{Workflow: workflow, MetricErrors: []string{"no metrics"}})
	c.call(t, "TaskService/CreateTask", &kfpv1.CreateTaskRequest{Task: &kfpv1.Task{
		PipelineName: "pipeline/p", RunId: id, MlmdExecutionID: "1", Fingerprint: "f", CreatedAt: timestamppb.New(begun),
	}})
	require.Contains(t, c.call(t, "TaskService/ListTasks", &kfpv1.ListTasksRequest{}), `"pipeline/p"`)
	c.call(t, "RunService/ArchiveRun", &kfpv1.ArchiveRunRequest{Id: id})
	require.Contains(t, c.call(t, "RunService/ListRuns", &kfpv1.ListRunsRequest{}), "STORAGESTATE_ARCHIVED")
	c.call(t, "RunService/UnarchiveRun", &kfpv1.UnarchiveRunRequest{Id: id})
	c.call(t, "RunService/DeleteRun", &kfpv1.DeleteRunRequest{Id: id})
	c.call(t, "RunService/GetRun", &kfpv1.GetRunRequest{RunId: id}, codes.NotFound)
}

func (c *client) jobs(t *testing.T) {
	t.Helper()
	id := field(t, c.call(t, "JobService/CreateJob", &kfpv1.CreateJobRequest{Job: &kfpv1.Job{
		Name: "j", MaxConcurrency: 1, Enabled: true, PipelineSpec: &kfpv1.PipelineSpec{WorkflowManifest: hello},
	}}), "id")
	c.call(t, "JobService/DisableJob", &kfpv1.DisableJobRequest{Id: id})
	c.call(t, "JobService/ListJobs", &kfpv1.ListJobsRequest{})
	c.call(t, "JobService/EnableJob", &kfpv1.EnableJobRequest{Id: id})
	c.call(t, "JobService/GetJob", &kfpv1.GetJobRequest{Id: id})
	scheduled := fmt.Sprintf(`{"kind":"ScheduledWorkflow","metadata":{"name":"w","namespace":"kubeflow","uid":%q}}`, id)
	c.call(t, "ReportService/ReportScheduledWorkflow", &kfpv1.ReportScheduledWorkflowRequest{ScheduledWorkflow: scheduled})
	c.call(t, "JobService/DeleteJob", &kfpv1.DeleteJobRequest{Id: id})
	c.call(t, "JobService/GetJob", &kfpv1.GetJobRequest{Id: id}, codes.NotFound)
}
