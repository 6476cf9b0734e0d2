package gateway_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
)

func TestGRPCErrors(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, err := kfpv1.NewRunServiceClient(s.conn).GetRun(t.Context(), &kfpv1.GetRunRequest{RunId: "nonsense"})
	refusal := status.Convert(err)
	require.Equal(t, codes.NotFound, refusal.Code())
	require.Len(t, refusal.Details(), 1)
	detail, ok := refusal.Details()[0].(*kfpv1.Error)
	require.True(t, ok)
	require.Equal(t, refusal.Message(), detail.GetErrorMessage())
	require.Equal(t, refusal.Message(), detail.GetErrorDetails())
}

func TestInternalCausesStayInside(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	require.NoError(t, s.store.Close()) // from here on every call fails inside
	_, err := kfpv1.NewRunServiceClient(s.conn).GetRun(t.Context(), &kfpv1.GetRunRequest{RunId: id})
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
	for _, service := range []string{"", "api.RunService", "argosy.v1.RunService"} {
		health, err := grpc_health_v1.NewHealthClient(s.conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: service})
		require.NoError(t, err)
		require.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, health.GetStatus())
	}

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
		"api.AuthService", "api.HealthzService", "api.TaskService", "argosy.v1.RunService",
	})
	require.NoError(t, stream.CloseSend())
}

func TestOwnServicesOverGRPC(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := s.run(t)
	view, err := argosyv1.NewRunServiceClient(s.conn).GetRun(t.Context(), &argosyv1.GetRunRequest{RunId: id}, grpc.WaitForReady(true))
	require.NoError(t, err)
	require.Equal(t, "first", view.GetName())
	graph, err := argosyv1.NewPipelineServiceClient(s.conn).GetPipelineGraph(t.Context(), &argosyv1.GetPipelineGraphRequest{PipelineId: s.pipeline(t, "hello")})
	require.NoError(t, err)
	require.Len(t, graph.GetNodes(), 1)
}
