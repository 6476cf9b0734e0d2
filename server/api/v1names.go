package api

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	wire "github.com/argosy-ml/argosy/proto/api"
)

// The clients of KFP's later releases know the same calls under names that end in V1.

func (s *pipelines) CreatePipelineV1(ctx context.Context, r *wire.CreatePipelineRequest) (*wire.Pipeline, error) {
	return s.CreatePipeline(ctx, r)
}

func (s *pipelines) GetPipelineV1(ctx context.Context, r *wire.GetPipelineRequest) (*wire.Pipeline, error) {
	return s.GetPipeline(ctx, r)
}

func (s *pipelines) GetPipelineByNameV1(ctx context.Context, r *wire.GetPipelineByNameRequest) (*wire.Pipeline, error) {
	return s.GetPipelineByName(ctx, r)
}

func (s *pipelines) ListPipelinesV1(ctx context.Context, r *wire.ListPipelinesRequest) (*wire.ListPipelinesResponse, error) {
	return s.ListPipelines(ctx, r)
}

func (s *pipelines) DeletePipelineV1(ctx context.Context, r *wire.DeletePipelineRequest) (*emptypb.Empty, error) {
	return s.DeletePipeline(ctx, r)
}

func (s *pipelines) CreatePipelineVersionV1(ctx context.Context, r *wire.CreatePipelineVersionRequest) (*wire.PipelineVersion, error) {
	return s.CreatePipelineVersion(ctx, r)
}

func (s *pipelines) GetPipelineVersionV1(ctx context.Context, r *wire.GetPipelineVersionRequest) (*wire.PipelineVersion, error) {
	return s.GetPipelineVersion(ctx, r)
}

func (s *pipelines) ListPipelineVersionsV1(ctx context.Context, r *wire.ListPipelineVersionsRequest) (*wire.ListPipelineVersionsResponse, error) {
	return s.ListPipelineVersions(ctx, r)
}

func (s *pipelines) DeletePipelineVersionV1(ctx context.Context, r *wire.DeletePipelineVersionRequest) (*emptypb.Empty, error) {
	return s.DeletePipelineVersion(ctx, r)
}

func (s *pipelines) UpdatePipelineDefaultVersionV1(ctx context.Context, r *wire.UpdatePipelineDefaultVersionRequest) (*emptypb.Empty, error) {
	return s.UpdatePipelineDefaultVersion(ctx, r)
}

func (s *experiments) CreateExperimentV1(ctx context.Context, r *wire.CreateExperimentRequest) (*wire.Experiment, error) {
	return s.CreateExperiment(ctx, r)
}

func (s *experiments) GetExperimentV1(ctx context.Context, r *wire.GetExperimentRequest) (*wire.Experiment, error) {
	return s.GetExperiment(ctx, r)
}

func (s *experiments) ListExperimentsV1(ctx context.Context, r *wire.ListExperimentsRequest) (*wire.ListExperimentsResponse, error) {
	return s.ListExperiment(ctx, r)
}

func (s *experiments) DeleteExperimentV1(ctx context.Context, r *wire.DeleteExperimentRequest) (*emptypb.Empty, error) {
	return s.DeleteExperiment(ctx, r)
}

func (s *experiments) ArchiveExperimentV1(ctx context.Context, r *wire.ArchiveExperimentRequest) (*emptypb.Empty, error) {
	return s.ArchiveExperiment(ctx, r)
}

func (s *experiments) UnarchiveExperimentV1(ctx context.Context, r *wire.UnarchiveExperimentRequest) (*emptypb.Empty, error) {
	return s.UnarchiveExperiment(ctx, r)
}

func (s *runs) CreateRunV1(ctx context.Context, r *wire.CreateRunRequest) (*wire.RunDetail, error) {
	return s.CreateRun(ctx, r)
}

func (s *runs) GetRunV1(ctx context.Context, r *wire.GetRunRequest) (*wire.RunDetail, error) {
	return s.GetRun(ctx, r)
}

func (s *runs) ListRunsV1(ctx context.Context, r *wire.ListRunsRequest) (*wire.ListRunsResponse, error) {
	return s.ListRuns(ctx, r)
}

func (s *runs) ArchiveRunV1(ctx context.Context, r *wire.ArchiveRunRequest) (*emptypb.Empty, error) {
	return s.ArchiveRun(ctx, r)
}

func (s *runs) UnarchiveRunV1(ctx context.Context, r *wire.UnarchiveRunRequest) (*emptypb.Empty, error) {
	return s.UnarchiveRun(ctx, r)
}

func (s *runs) DeleteRunV1(ctx context.Context, r *wire.DeleteRunRequest) (*emptypb.Empty, error) {
	return s.DeleteRun(ctx, r)
}

func (s *runs) ReportRunMetricsV1(ctx context.Context, r *wire.ReportRunMetricsRequest) (*wire.ReportRunMetricsResponse, error) {
	return s.ReportRunMetrics(ctx, r)
}

func (s *runs) ReadArtifactV1(ctx context.Context, r *wire.ReadArtifactRequest) (*wire.ReadArtifactResponse, error) {
	return s.ReadArtifact(ctx, r)
}

func (s *runs) RetryRunV1(ctx context.Context, r *wire.RetryRunRequest) (*emptypb.Empty, error) {
	return s.RetryRun(ctx, r)
}

func (s *runs) TerminateRunV1(ctx context.Context, r *wire.TerminateRunRequest) (*emptypb.Empty, error) {
	return s.TerminateRun(ctx, r)
}

func (s auth) AuthorizeV1(ctx context.Context, r *wire.AuthorizeRequest) (*emptypb.Empty, error) {
	return s.Authorize(ctx, r)
}

func (s visualizations) CreateVisualizationV1(ctx context.Context, r *wire.CreateVisualizationRequest) (*wire.Visualization, error) {
	return s.CreateVisualization(ctx, r)
}

func (s *reports) ReportWorkflowV1(ctx context.Context, r *wire.ReportWorkflowRequest) (*emptypb.Empty, error) {
	return s.ReportWorkflow(ctx, r)
}

func (s *reports) ReportScheduledWorkflowV1(ctx context.Context, r *wire.ReportScheduledWorkflowRequest) (*emptypb.Empty, error) {
	return s.ReportScheduledWorkflow(ctx, r)
}

func (s *tasks) CreateTaskV1(ctx context.Context, r *wire.CreateTaskRequest) (*wire.Task, error) {
	return s.CreateTask(ctx, r)
}

func (s *tasks) ListTasksV1(ctx context.Context, r *wire.ListTasksRequest) (*wire.ListTasksResponse, error) {
	return s.ListTasks(ctx, r)
}
