package api

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
)

// The clients of KFP's later releases know the same calls under names that end in V1.

func (s *pipelines) CreatePipelineV1(ctx context.Context, r *kfpv1.CreatePipelineRequest) (*kfpv1.Pipeline, error) {
	return s.CreatePipeline(ctx, r)
}

func (s *pipelines) GetPipelineV1(ctx context.Context, r *kfpv1.GetPipelineRequest) (*kfpv1.Pipeline, error) {
	return s.GetPipeline(ctx, r)
}

func (s *pipelines) GetPipelineByNameV1(ctx context.Context, r *kfpv1.GetPipelineByNameRequest) (*kfpv1.Pipeline, error) {
	return s.GetPipelineByName(ctx, r)
}

func (s *pipelines) ListPipelinesV1(ctx context.Context, r *kfpv1.ListPipelinesRequest) (*kfpv1.ListPipelinesResponse, error) {
	return s.ListPipelines(ctx, r)
}

func (s *pipelines) DeletePipelineV1(ctx context.Context, r *kfpv1.DeletePipelineRequest) (*emptypb.Empty, error) {
	return s.DeletePipeline(ctx, r)
}

func (s *pipelines) CreatePipelineVersionV1(ctx context.Context, r *kfpv1.CreatePipelineVersionRequest) (*kfpv1.PipelineVersion, error) {
	return s.CreatePipelineVersion(ctx, r)
}

func (s *pipelines) GetPipelineVersionV1(ctx context.Context, r *kfpv1.GetPipelineVersionRequest) (*kfpv1.PipelineVersion, error) {
	return s.GetPipelineVersion(ctx, r)
}

func (s *pipelines) ListPipelineVersionsV1(ctx context.Context, r *kfpv1.ListPipelineVersionsRequest) (*kfpv1.ListPipelineVersionsResponse, error) {
	return s.ListPipelineVersions(ctx, r)
}

func (s *pipelines) DeletePipelineVersionV1(ctx context.Context, r *kfpv1.DeletePipelineVersionRequest) (*emptypb.Empty, error) {
	return s.DeletePipelineVersion(ctx, r)
}

func (s *pipelines) UpdatePipelineDefaultVersionV1(ctx context.Context, r *kfpv1.UpdatePipelineDefaultVersionRequest) (*emptypb.Empty, error) {
	return s.UpdatePipelineDefaultVersion(ctx, r)
}

func (s *experiments) CreateExperimentV1(ctx context.Context, r *kfpv1.CreateExperimentRequest) (*kfpv1.Experiment, error) {
	return s.CreateExperiment(ctx, r)
}

func (s *experiments) GetExperimentV1(ctx context.Context, r *kfpv1.GetExperimentRequest) (*kfpv1.Experiment, error) {
	return s.GetExperiment(ctx, r)
}

func (s *experiments) ListExperimentsV1(ctx context.Context, r *kfpv1.ListExperimentsRequest) (*kfpv1.ListExperimentsResponse, error) {
	return s.ListExperiment(ctx, r)
}

func (s *experiments) DeleteExperimentV1(ctx context.Context, r *kfpv1.DeleteExperimentRequest) (*emptypb.Empty, error) {
	return s.DeleteExperiment(ctx, r)
}

func (s *experiments) ArchiveExperimentV1(ctx context.Context, r *kfpv1.ArchiveExperimentRequest) (*emptypb.Empty, error) {
	return s.ArchiveExperiment(ctx, r)
}

func (s *experiments) UnarchiveExperimentV1(ctx context.Context, r *kfpv1.UnarchiveExperimentRequest) (*emptypb.Empty, error) {
	return s.UnarchiveExperiment(ctx, r)
}

func (s *runs) CreateRunV1(ctx context.Context, r *kfpv1.CreateRunRequest) (*kfpv1.RunDetail, error) {
	return s.CreateRun(ctx, r)
}

func (s *runs) GetRunV1(ctx context.Context, r *kfpv1.GetRunRequest) (*kfpv1.RunDetail, error) {
	return s.GetRun(ctx, r)
}

func (s *runs) ListRunsV1(ctx context.Context, r *kfpv1.ListRunsRequest) (*kfpv1.ListRunsResponse, error) {
	return s.ListRuns(ctx, r)
}

func (s *runs) ArchiveRunV1(ctx context.Context, r *kfpv1.ArchiveRunRequest) (*emptypb.Empty, error) {
	return s.ArchiveRun(ctx, r)
}

func (s *runs) UnarchiveRunV1(ctx context.Context, r *kfpv1.UnarchiveRunRequest) (*emptypb.Empty, error) {
	return s.UnarchiveRun(ctx, r)
}

func (s *runs) DeleteRunV1(ctx context.Context, r *kfpv1.DeleteRunRequest) (*emptypb.Empty, error) {
	return s.DeleteRun(ctx, r)
}

func (s *runs) ReportRunMetricsV1(ctx context.Context, r *kfpv1.ReportRunMetricsRequest) (*kfpv1.ReportRunMetricsResponse, error) {
	return s.ReportRunMetrics(ctx, r)
}

func (s *runs) ReadArtifactV1(ctx context.Context, r *kfpv1.ReadArtifactRequest) (*kfpv1.ReadArtifactResponse, error) {
	return s.ReadArtifact(ctx, r)
}

func (s *runs) RetryRunV1(ctx context.Context, r *kfpv1.RetryRunRequest) (*emptypb.Empty, error) {
	return s.RetryRun(ctx, r)
}

func (s *runs) TerminateRunV1(ctx context.Context, r *kfpv1.TerminateRunRequest) (*emptypb.Empty, error) {
	return s.TerminateRun(ctx, r)
}

func (s auth) AuthorizeV1(ctx context.Context, r *kfpv1.AuthorizeRequest) (*emptypb.Empty, error) {
	return s.Authorize(ctx, r)
}

func (s visualizations) CreateVisualizationV1(ctx context.Context, r *kfpv1.CreateVisualizationRequest) (*kfpv1.Visualization, error) {
	return s.CreateVisualization(ctx, r)
}

func (s *reports) ReportWorkflowV1(ctx context.Context, r *kfpv1.ReportWorkflowRequest) (*emptypb.Empty, error) {
	return s.ReportWorkflow(ctx, r)
}

func (s *reports) ReportScheduledWorkflowV1(ctx context.Context, r *kfpv1.ReportScheduledWorkflowRequest) (*emptypb.Empty, error) {
	return s.ReportScheduledWorkflow(ctx, r)
}

func (s *tasks) CreateTaskV1(ctx context.Context, r *kfpv1.CreateTaskRequest) (*kfpv1.Task, error) {
	return s.CreateTask(ctx, r)
}

func (s *tasks) ListTasksV1(ctx context.Context, r *kfpv1.ListTasksRequest) (*kfpv1.ListTasksResponse, error) {
	return s.ListTasks(ctx, r)
}
