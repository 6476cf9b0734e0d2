package gateway_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	wire "github.com/argosy-ml/argosy/proto/api"
	own "github.com/argosy-ml/argosy/proto/argosy/v1"
)

// TestEras calls every method under both of its names and compares: same answer, or same refusal.
func TestEras(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	pipelineID := s.pipeline(t, "hello")
	old := map[string]string{"ListExperimentsV1": "ListExperiment"} // where the name changed by more than the ending
	compared := 0
	for _, file := range []protoreflect.FileDescriptor{
		wire.File_api_run_proto, wire.File_api_pipeline_proto, wire.File_api_experiment_proto, wire.File_api_report_proto, wire.File_api_auth_proto,
	} {
		methods := file.Services().Get(0).Methods()
		for i := range methods.Len() {
			newer := methods.Get(i)
			name, ok := strings.CutSuffix(string(newer.Name()), "V1")
			if !ok || strings.HasPrefix(name, "Delete") || strings.HasPrefix(name, "Create") { // the second call would differ
				continue
			}
			if o := old[string(newer.Name())]; o != "" {
				name = o
			}
			older := methods.ByName(protoreflect.Name(name))
			require.NotNil(t, older, "%s has no name of the first era", newer.FullName())
			request := dynamicpb.NewMessage(newer.Input())
			fields := newer.Input().Fields()
			for field, value := range map[string]string{"id": id, "run_id": id, "pipeline_id": pipelineID, "version_id": pipelineID, "name": "hello"} {
				if f := fields.ByName(protoreflect.Name(field)); f != nil {
					request.Set(f, protoreflect.ValueOfString(value))
				}
			}
			call := func(m protoreflect.MethodDescriptor) (string, codes.Code) {
				answer := dynamicpb.NewMessage(m.Output())
				err := s.conn.Invoke(t.Context(), "/"+string(m.Parent().FullName())+"/"+string(m.Name()), request, answer)
				return answer.String() + status.Convert(err).Message(), status.Code(err)
			}
			was, wasCode := call(older)
			is, isCode := call(newer)
			require.Equal(t, wasCode, isCode, newer.FullName())
			require.Equal(t, was, is, newer.FullName())
			require.NotEqual(t, codes.Unimplemented, isCode, newer.FullName())
			compared++
		}
	}
	require.Greater(t, compared, 15)
}

func TestErasThatChange(t *testing.T) {
	t.Parallel()
	s := start(t)
	experiments, runs := wire.NewExperimentServiceClient(s.conn), wire.NewRunServiceClient(s.conn)
	ctx := t.Context()
	_, err := experiments.CreateExperiment(ctx, &wire.CreateExperimentRequest{Experiment: &wire.Experiment{Name: "old"}})
	require.NoError(t, err)
	e, err := experiments.CreateExperimentV1(ctx, &wire.CreateExperimentRequest{Experiment: &wire.Experiment{Name: "new"}})
	require.NoError(t, err)
	list, err := experiments.ListExperiment(ctx, &wire.ListExperimentsRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetExperiments(), 2)
	_, err = experiments.DeleteExperimentV1(ctx, &wire.DeleteExperimentRequest{Id: e.GetId()})
	require.NoError(t, err)
	list, err = experiments.ListExperimentsV1(ctx, &wire.ListExperimentsRequest{})
	require.NoError(t, err)
	require.EqualValues(t, 1, list.GetTotalSize())

	request := &wire.CreateRunRequest{Run: &wire.Run{Name: "r", PipelineSpec: &wire.PipelineSpec{WorkflowManifest: hello}}}
	first, err := runs.CreateRun(ctx, request)
	require.NoError(t, err)
	require.Zero(t, first.GetRun().GetFinishedAt().GetSeconds())
	require.NotNil(t, first.GetRun().GetFinishedAt())
	second, err := runs.CreateRunV1(ctx, request)
	require.NoError(t, err)
	_, err = runs.DeleteRun(ctx, &wire.DeleteRunRequest{Id: first.GetRun().GetId()})
	require.NoError(t, err)
	_, err = runs.DeleteRunV1(ctx, &wire.DeleteRunRequest{Id: second.GetRun().GetId()})
	require.NoError(t, err)
}

func TestGRPCErrors(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, err := wire.NewRunServiceClient(s.conn).GetRun(t.Context(), &wire.GetRunRequest{RunId: "nonsense"})
	refusal := status.Convert(err)
	require.Equal(t, codes.NotFound, refusal.Code())
	require.Len(t, refusal.Details(), 1)
	detail, ok := refusal.Details()[0].(*wire.Error)
	require.True(t, ok)
	require.Equal(t, refusal.Message(), detail.GetErrorMessage())
	require.Equal(t, refusal.Message(), detail.GetErrorDetails())
}

func TestInternalCausesStayInside(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	require.NoError(t, s.store.Close()) // from here on every call fails inside
	_, err := wire.NewRunServiceClient(s.conn).GetRun(t.Context(), &wire.GetRunRequest{RunId: id})
	require.Equal(t, codes.Internal, status.Code(err))
	answer := s.get(t, "/apis/v1beta1/runs/"+id, 500)
	for _, text := range []string{err.Error(), answer} {
		require.NotContains(t, text, "sql")
		require.NotContains(t, text, "closed")
	}
	require.Contains(t, s.log.String(), "closed", "the log tells the cause")
}

func TestReflectionAndHealth(t *testing.T) {
	t.Parallel()
	s := start(t)
	health, err := grpc_health_v1.NewHealthClient(s.conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err)
	require.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, health.GetStatus())

	stream, err := grpc_reflection_v1.NewServerReflectionClient(s.conn).ServerReflectionInfo(t.Context())
	require.NoError(t, err)
	require.NoError(t, stream.Send(&grpc_reflection_v1.ServerReflectionRequest{
		MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{},
	}))
	answer, err := stream.Recv()
	require.NoError(t, err)
	var services []string
	for _, service := range answer.GetListServicesResponse().GetService() {
		services = append(services, service.GetName())
	}
	require.Subset(t, services, []string{
		"api.PipelineService", "api.ExperimentService", "api.RunService", "api.JobService", "api.ReportService", "api.VisualizationService",
		"api.AuthService", "api.HealthzService", "argosy.v1.RunService",
	})
	require.NoError(t, stream.CloseSend())
}

func TestOwnServicesOverGRPC(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	view, err := own.NewRunServiceClient(s.conn).GetRun(t.Context(), &own.GetRunRequest{RunId: id}, grpc.WaitForReady(true))
	require.NoError(t, err)
	require.Equal(t, "first", view.GetName())
	graph, err := own.NewPipelineServiceClient(s.conn).GetPipelineGraph(t.Context(), &own.GetPipelineGraphRequest{PipelineId: s.pipeline(t, "hello")})
	require.NoError(t, err)
	require.Len(t, graph.GetNodes(), 1)
}
