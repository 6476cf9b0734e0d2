package api

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/emptypb"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
)

// maxArtifact bounds what ReadArtifact holds in memory, in bytes.
const maxArtifact = 256 << 20

type runs struct {
	kfpv1.UnimplementedRunServiceServer
	service *run.Service
}

func (s *runs) CreateRun(ctx context.Context, r *kfpv1.CreateRunRequest) (*kfpv1.RunDetail, error) {
	request, err := runRequest(r.GetRun())
	if err != nil {
		return nil, err
	}
	created, err := s.service.Creator.Create(ctx, request)
	if err != nil {
		return nil, err
	}
	return s.detail(ctx, created)
}

func (s *runs) GetRun(ctx context.Context, r *kfpv1.GetRunRequest) (*kfpv1.RunDetail, error) {
	found, err := s.service.Reader.Get(ctx, r.GetRunId())
	if err != nil {
		return nil, err
	}
	return s.detail(ctx, found)
}

// ListRuns gives runs with the manifests that they were made from, read for the rows of the page.
func (s *runs) ListRuns(ctx context.Context, r *kfpv1.ListRunsRequest) (*kfpv1.ListRunsResponse, error) {
	items, total, token, err := listPage(r, func(q listing.Query) (listing.Page[run.Run], error) {
		scope, none, err := scope(r.GetResourceReferenceKey())
		if err != nil || none {
			return listing.Page[run.Run]{}, err
		}
		q.Filter = wireStatuses(q.Filter)
		return s.service.Reader.List(ctx, q, scope)
	}, wireRun)
	if err != nil {
		return nil, err
	}
	if err := addManifests(ctx, items, s.service.Reader.Manifests); err != nil {
		return nil, err
	}
	return &kfpv1.ListRunsResponse{Runs: items, TotalSize: total, NextPageToken: token}, nil
}

func (s *runs) ArchiveRun(ctx context.Context, r *kfpv1.ArchiveRunRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.Changer.Archive(ctx, r.GetId(), true)
}

func (s *runs) UnarchiveRun(ctx context.Context, r *kfpv1.UnarchiveRunRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.Changer.Archive(ctx, r.GetId(), false)
}

func (s *runs) DeleteRun(ctx context.Context, r *kfpv1.DeleteRunRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.Changer.Delete(ctx, r.GetId())
}

func (s *runs) TerminateRun(ctx context.Context, r *kfpv1.TerminateRunRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.Changer.Terminate(ctx, r.GetRunId())
}

func (s *runs) RetryRun(ctx context.Context, r *kfpv1.RetryRunRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.Changer.Retry(ctx, r.GetRunId())
}

func (s *runs) ReportRunMetrics(ctx context.Context, r *kfpv1.ReportRunMetricsRequest) (*kfpv1.ReportRunMetricsResponse, error) {
	var metrics []run.Metric
	for _, m := range r.GetMetrics() {
		format := ""
		if m.GetFormat() != kfpv1.RunMetric_UNSPECIFIED {
			format = m.GetFormat().String()
		}
		metrics = append(metrics, run.Metric{NodeID: m.GetNodeId(), Name: m.GetName(), Value: m.GetNumberValue(), Format: format})
	}
	reports, err := s.service.Changer.ReportMetrics(ctx, r.GetRunId(), metrics)
	if err != nil {
		return nil, err
	}
	answer := &kfpv1.ReportRunMetricsResponse{}
	for _, report := range reports {
		status := kfpv1.ReportRunMetricsResponse_ReportRunMetricResult_Status_value[report.Status]
		answer.Results = append(answer.Results, &kfpv1.ReportRunMetricsResponse_ReportRunMetricResult{
			MetricName: report.Metric.Name, MetricNodeId: report.Metric.NodeID, Message: report.Message,
			Status: kfpv1.ReportRunMetricsResponse_ReportRunMetricResult_Status(status),
		})
	}
	return answer, nil
}

func (s *runs) ReadArtifact(ctx context.Context, r *kfpv1.ReadArtifactRequest) (*kfpv1.ReadArtifactResponse, error) {
	artifact, err := s.service.Reader.ReadArtifact(ctx, r.GetRunId(), r.GetNodeId(), r.GetArtifactName())
	if err != nil {
		return nil, err
	}
	defer artifact.Close()
	data, err := io.ReadAll(io.LimitReader(artifact, maxArtifact+1))
	switch {
	case err != nil:
		return nil, apierr.New(apierr.Internal, "artifact %q cannot be read from the artifact store", r.GetArtifactName()).Because(err)
	case len(data) > maxArtifact:
		return nil, apierr.New(apierr.Invalid, "artifact %q is larger than %d MiB; download it instead: GET /apis/argosy/v1/runs/RUN/nodes/NODE/artifacts/NAME:download", r.GetArtifactName(), maxArtifact>>20)
	}
	return &kfpv1.ReadArtifactResponse{Data: data}, nil
}

// detail adds the manifest that the run was made from, and the Workflow that it became.
func (s *runs) detail(ctx context.Context, r run.Run) (*kfpv1.RunDetail, error) {
	manifest, errManifest := s.service.Reader.Manifest(ctx, r.ID)
	workflow, errWorkflow := s.service.Reader.Workflow(ctx, r.ID)
	if err := errors.Join(errManifest, errWorkflow); err != nil {
		return nil, err
	}
	answer := &kfpv1.RunDetail{Run: wireRun(r), PipelineRuntime: &kfpv1.PipelineRuntime{WorkflowManifest: string(withBuckets(workflow))}}
	var err error
	answer.Run.PipelineSpec.WorkflowManifest, err = manifestJSON(manifest)
	return answer, err
}

// runRequest reads a run that a client wants. Names and times in it are outputs, and so left out.
func runRequest(r *kfpv1.Run) (run.Request, error) {
	if r == nil {
		return run.Request{}, apierr.New(apierr.Invalid, "the run is missing")
	}
	spec := r.GetPipelineSpec()
	if spec.GetPipelineManifest() != "" || len(spec.GetRuntimeConfig().GetParameters()) > 0 {
		return run.Request{}, apierr.New(apierr.Invalid,
			"pipeline_manifest and runtime_config belong to v2 pipelines; send an Argo Workflow as workflow_manifest, and parameters")
	}
	request := run.Request{
		Name: r.GetName(), Description: r.GetDescription(), ServiceAccount: r.GetServiceAccount(),
		PipelineID: spec.GetPipelineId(), Manifest: []byte(spec.GetWorkflowManifest()),
	}
	for _, p := range spec.GetParameters() {
		request.Parameters = append(request.Parameters, run.Parameter{Name: p.GetName(), Value: p.GetValue()})
	}
	for _, reference := range r.GetResourceReferences() {
		switch id := reference.GetKey().GetId(); reference.GetKey().GetType() {
		case kfpv1.ResourceType_EXPERIMENT:
			request.ExperimentID = id
		case kfpv1.ResourceType_PIPELINE_VERSION:
			request.VersionID = id
		case kfpv1.ResourceType_PIPELINE:
			if request.PipelineID == "" {
				request.PipelineID = id
			}
		}
	}
	return request, nil
}

// scope reads what a list of runs is narrowed to; none: to what nothing belongs to, as the key has a type and no id. Old clients
// send UNKNOWN_RESOURCE_TYPE for "all".
func scope(key *kfpv1.ResourceKey) (s run.Scope, none bool, err error) {
	switch key.GetType() {
	case kfpv1.ResourceType_UNKNOWN_RESOURCE_TYPE:
		return run.Scope{}, false, nil
	case kfpv1.ResourceType_NAMESPACE:
		return run.Scope{}, false, noNamespace(key)
	case kfpv1.ResourceType_EXPERIMENT:
		return run.Scope{ExperimentID: key.GetId()}, key.GetId() == "", nil
	case kfpv1.ResourceType_JOB:
		return run.Scope{ScheduleID: key.GetId()}, key.GetId() == "", nil
	}
	return run.Scope{}, false, apierr.New(apierr.Invalid, "resource_reference_key.type %s: runs can be listed by EXPERIMENT and JOB", key.GetType())
}

// noNamespace refuses lists of one namespace, as KFP does where there is one user. The list would hold more than was asked for.
func noNamespace(key *kfpv1.ResourceKey) error {
	if key.GetType() == kfpv1.ResourceType_NAMESPACE && key.GetId() != "" {
		return apierr.New(apierr.Invalid, "resource_reference_key: lists cannot be narrowed to namespace %q, as there is one namespace and one user; leave it out", key.GetId())
	}
	return nil
}

func wireRun(r run.Run) *kfpv1.Run {
	answer := &kfpv1.Run{
		Id: r.ID, Name: r.Name, Description: r.Description, ServiceAccount: r.ServiceAccount, Status: wireStatus(r.Status),
		CreatedAt: wireTime(r.CreatedAt), ScheduledAt: wireTime(r.ScheduledAt), FinishedAt: wireTime(r.FinishedAt),
		PipelineSpec: &kfpv1.PipelineSpec{PipelineId: r.PipelineID, PipelineName: r.PipelineName},
		MetricErrors: strings.Join(r.Warnings, "\n"),
	}
	if r.ByVersion || r.ScheduleID != "" { // KFP v1 names the pipeline only where the request did
		answer.PipelineSpec.PipelineId, answer.PipelineSpec.PipelineName = "", ""
	}
	if r.Archived {
		answer.StorageState = kfpv1.Run_STORAGESTATE_ARCHIVED
	}
	answer.PipelineSpec.Parameters = wireParameters(r.Parameters)
	answer.ResourceReferences = references(r)
	for _, m := range r.Metrics {
		answer.Metrics = append(answer.Metrics, &kfpv1.RunMetric{
			Name: m.Name, NodeId: m.NodeID, Value: &kfpv1.RunMetric_NumberValue{NumberValue: m.Value},
			Format: kfpv1.RunMetric_Format(kfpv1.RunMetric_Format_value[m.Format]),
		})
	}
	return answer
}

// wireStatus is a status as KFP knows them: its clients wait for a word that they take for an end.
func wireStatus(status string) string {
	if status == run.Terminated {
		return run.Failed
	}
	return status
}

// wireStatuses has filters on Failed find terminated runs too, as they are shown so.
func wireStatuses(filter []listing.Predicate) []listing.Predicate {
	var all []listing.Predicate
	for _, p := range filter {
		if p.Key != "status" || !slices.Contains(p.Values, any(run.Failed)) {
			all = append(all, p)
			continue
		}
		switch p.Op {
		case listing.Equals, listing.In:
			p.Op, p.Values = listing.In, append(slices.Clone(p.Values), run.Terminated)
		case listing.NotEquals:
			all = append(all, listing.Predicate{Key: p.Key, Op: listing.NotEquals, Values: []any{run.Terminated}})
		}
		all = append(all, p)
	}
	return all
}

func wireParameters(ps []run.Parameter) []*kfpv1.Parameter {
	var answer []*kfpv1.Parameter
	for _, p := range ps {
		answer = append(answer, &kfpv1.Parameter{Name: p.Name, Value: p.Value})
	}
	return answer
}

// references tells what a run belongs to and what it was made from: a schedule, or else a version (KFP v1).
func references(r run.Run) []*kfpv1.ResourceReference {
	to := func(kind kfpv1.ResourceType, id, name string, as kfpv1.Relationship) *kfpv1.ResourceReference {
		return &kfpv1.ResourceReference{Key: &kfpv1.ResourceKey{Type: kind, Id: id}, Name: name, Relationship: as}
	}
	answer := []*kfpv1.ResourceReference{to(kfpv1.ResourceType_EXPERIMENT, r.ExperimentID, r.ExperimentName, kfpv1.Relationship_OWNER)}
	switch {
	case r.ScheduleID != "":
		answer = append(answer, to(kfpv1.ResourceType_JOB, r.ScheduleID, r.ScheduleName, kfpv1.Relationship_CREATOR))
	case r.VersionID != "":
		answer = append(answer, to(kfpv1.ResourceType_PIPELINE_VERSION, r.VersionID, r.VersionName, kfpv1.Relationship_CREATOR))
	}
	return answer
}
