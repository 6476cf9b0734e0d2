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

	wire "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/run"
)

// TestBothMethodNames has a client of each era go through all that the wire offers, over gRPC and by the names that it knows: both are
// told the same, and between them they call every method that there is.
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
	c.call(t, "AuthService/Authorize", &wire.AuthorizeRequest{
		Namespace: "n", Resources: wire.AuthorizeRequest_VIEWERS, Verb: wire.AuthorizeRequest_GET,
	})
	c.call(t, "VisualizationService/CreateVisualization", &wire.CreateVisualizationRequest{
		Namespace: "n", Visualization: &wire.Visualization{Type: wire.Visualization_TABLE, Source: "s"},
	}, codes.Internal)
	return c.told.String()
}

func (c *client) pipelines(t *testing.T, packageURL string) {
	t.Helper()
	url := &wire.Url{PipelineUrl: packageURL}
	id := field(t, c.call(t, "PipelineService/CreatePipeline", &wire.CreatePipelineRequest{Pipeline: &wire.Pipeline{Name: "p", Url: url}}), "id")
	owner := &wire.ResourceKey{Type: wire.ResourceType_PIPELINE, Id: id}
	version := field(t, c.call(t, "PipelineService/CreatePipelineVersion", &wire.CreatePipelineVersionRequest{Version: &wire.PipelineVersion{
		Name: "v2", PackageUrl: url, ResourceReferences: []*wire.ResourceReference{{Key: owner, Relationship: wire.Relationship_OWNER}},
	}}), "id")
	c.call(t, "PipelineService/GetPipeline", &wire.GetPipelineRequest{Id: id})
	c.call(t, "PipelineService/GetPipelineByName", &wire.GetPipelineByNameRequest{Name: "p"})
	c.call(t, "PipelineService/ListPipelines", &wire.ListPipelinesRequest{})
	c.call(t, "PipelineService/GetTemplate", &wire.GetTemplateRequest{Id: id})
	c.call(t, "PipelineService/GetPipelineVersion", &wire.GetPipelineVersionRequest{VersionId: version})
	c.call(t, "PipelineService/ListPipelineVersions", &wire.ListPipelineVersionsRequest{ResourceKey: owner})
	c.call(t, "PipelineService/GetPipelineVersionTemplate", &wire.GetPipelineVersionTemplateRequest{VersionId: version})
	c.call(t, "PipelineService/UpdatePipelineDefaultVersion", &wire.UpdatePipelineDefaultVersionRequest{PipelineId: id, VersionId: id})
	c.call(t, "PipelineService/DeletePipelineVersion", &wire.DeletePipelineVersionRequest{VersionId: version})
	c.call(t, "PipelineService/DeletePipeline", &wire.DeletePipelineRequest{Id: id})
	c.call(t, "PipelineService/GetPipeline", &wire.GetPipelineRequest{Id: id}, codes.NotFound)
}

func (c *client) experiments(t *testing.T) {
	t.Helper()
	id := field(t, c.call(t, "ExperimentService/CreateExperiment", &wire.CreateExperimentRequest{Experiment: &wire.Experiment{Name: "e"}}), "id")
	c.call(t, "ExperimentService/ArchiveExperiment", &wire.ArchiveExperimentRequest{Id: id})
	require.Equal(t, "STORAGESTATE_ARCHIVED", field(t, c.call(t, "ExperimentService/GetExperiment", &wire.GetExperimentRequest{Id: id}), "storage_state"))
	c.call(t, "ExperimentService/UnarchiveExperiment", &wire.UnarchiveExperimentRequest{Id: id})
	require.Contains(t, c.call(t, "ExperimentService/ListExperiment", &wire.ListExperimentsRequest{}), "STORAGESTATE_AVAILABLE")
	c.call(t, "ExperimentService/DeleteExperiment", &wire.DeleteExperimentRequest{Id: id})
	c.call(t, "ExperimentService/GetExperiment", &wire.GetExperimentRequest{Id: id}, codes.NotFound)
}

func (c *client) runs(t *testing.T) {
	t.Helper()
	id := field(t, c.call(t, "RunService/CreateRun", &wire.CreateRunRequest{Run: &wire.Run{
		Name: "r", PipelineSpec: &wire.PipelineSpec{WorkflowManifest: hello},
	}}), "run", "id")
	c.call(t, "RunService/TerminateRun", &wire.TerminateRunRequest{RunId: id})
	c.call(t, "RunService/ReportRunMetrics", &wire.ReportRunMetricsRequest{RunId: id, Metrics: []*wire.RunMetric{
		{Name: "loss", NodeId: "n1", Value: &wire.RunMetric_NumberValue{NumberValue: 0.5}},
	}})
	begun := time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC)
	c.objects.data["model.tgz"] = []byte("model")
	c.record(t, id, run.State{
		Status: run.Failed, Workflow: []byte(`{}`), StartedAt: begun, FinishedAt: begun.Add(time.Minute),
		Nodes: []run.Node{{ID: "n1", Name: "n1", DisplayName: "n1", Type: "Pod", Phase: run.Failed, Artifacts: []run.Artifact{{Name: "model", Key: "model.tgz"}}}},
	})
	require.NoError(t, c.store.Settle(t.Context(), id))
	require.Equal(t, "bW9kZWw=", field(t, c.call(t, "RunService/ReadArtifact", &wire.ReadArtifactRequest{RunId: id, NodeId: "n1", ArtifactName: "model"}), "data"))
	c.call(t, "RunService/RetryRun", &wire.RetryRunRequest{RunId: id})
	require.Contains(t, c.call(t, "RunService/GetRun", &wire.GetRunRequest{RunId: id}), `"Running"`)
	workflow := fmt.Sprintf(`{"kind":"Workflow","metadata":{"name":"w","namespace":"kubeflow","uid":"u","labels":{"pipeline/runid":%q}}}`, id)
	c.call(t, "ReportService/ReportWorkflow", &wire.ReportWorkflowRequest{Workflow: workflow, MetricErrors: []string{"no metrics"}})
	c.call(t, "TaskService/CreateTask", &wire.CreateTaskRequest{Task: &wire.Task{
		PipelineName: "pipeline/p", RunId: id, MlmdExecutionID: "1", Fingerprint: "f", CreatedAt: timestamppb.New(begun),
	}})
	require.Contains(t, c.call(t, "TaskService/ListTasks", &wire.ListTasksRequest{}), `"pipeline/p"`)
	c.call(t, "RunService/ArchiveRun", &wire.ArchiveRunRequest{Id: id})
	require.Contains(t, c.call(t, "RunService/ListRuns", &wire.ListRunsRequest{}), "STORAGESTATE_ARCHIVED")
	c.call(t, "RunService/UnarchiveRun", &wire.UnarchiveRunRequest{Id: id})
	c.call(t, "RunService/DeleteRun", &wire.DeleteRunRequest{Id: id})
	c.call(t, "RunService/GetRun", &wire.GetRunRequest{RunId: id}, codes.NotFound)
}

func (c *client) jobs(t *testing.T) {
	t.Helper()
	id := field(t, c.call(t, "JobService/CreateJob", &wire.CreateJobRequest{Job: &wire.Job{
		Name: "j", MaxConcurrency: 1, Enabled: true, PipelineSpec: &wire.PipelineSpec{WorkflowManifest: hello},
	}}), "id")
	c.call(t, "JobService/DisableJob", &wire.DisableJobRequest{Id: id})
	c.call(t, "JobService/ListJobs", &wire.ListJobsRequest{})
	c.call(t, "JobService/EnableJob", &wire.EnableJobRequest{Id: id})
	c.call(t, "JobService/GetJob", &wire.GetJobRequest{Id: id})
	scheduled := fmt.Sprintf(`{"kind":"ScheduledWorkflow","metadata":{"name":"w","namespace":"kubeflow","uid":%q}}`, id)
	c.call(t, "ReportService/ReportScheduledWorkflow", &wire.ReportScheduledWorkflowRequest{ScheduledWorkflow: scheduled})
	c.call(t, "JobService/DeleteJob", &wire.DeleteJobRequest{Id: id})
	c.call(t, "JobService/GetJob", &wire.GetJobRequest{Id: id}, codes.NotFound)
}
