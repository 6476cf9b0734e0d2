package api

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/eventstream"
	"github.com/argosy-ml/argosy/server/run"
)

type views struct {
	argosyv1.UnimplementedRunServiceServer
	service *run.Service
	watcher *eventstream.Watcher
	streams context.Context //nolint:containedctx // the life of the server, not of a call
}

func (s *views) GetRun(ctx context.Context, r *argosyv1.GetRunRequest) (*argosyv1.RunView, error) {
	found, err := s.service.Reader.Get(ctx, r.GetRunId())
	if err != nil {
		return nil, err
	}
	switch r.GetNodes() {
	case "none":
		return RunView(found, nil), nil
	case "", "all":
	default:
		return nil, apierr.New(apierr.Invalid, "nodes is %q; it can be all or none", r.GetNodes())
	}
	nodes, err := s.service.Reader.Nodes(ctx, found.ID)
	if err != nil {
		return nil, err
	}
	return RunView(found, nodes), nil
}

func (s *views) ListRuns(ctx context.Context, r *argosyv1.ListRunsRequest) (*argosyv1.ListRunsResponse, error) {
	filter, err := searchFilter(r)
	if err != nil {
		return nil, err
	}
	q, next, err := query(searched{r, filter})
	if err != nil {
		return nil, err
	}
	p, err := s.service.Reader.List(ctx, q, run.Scope{ExperimentID: r.GetExperimentId(), ScheduleID: r.GetScheduleId()})
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.ListRunsResponse{TotalSize: int32(p.Total)}
	for _, item := range p.Items {
		answer.Runs = append(answer.Runs, RunView(item, nil))
	}
	answer.NextPageToken, err = next(p.Next)
	return answer, err
}

func (s *views) ListRunFields(ctx context.Context, _ *argosyv1.ListRunFieldsRequest) (*argosyv1.ListRunFieldsResponse, error) {
	found, err := s.service.Reader.Fields(ctx)
	if err != nil {
		return nil, err
	}
	return &argosyv1.ListRunFieldsResponse{Statuses: knownStatuses, Parameters: found.Parameters, Labels: found.Labels, Metrics: found.Metrics, Curves: found.Curves}, nil
}

// Sizes of pages of nodes.
const (
	defaultNodes = 100
	maxNodes     = 1000
)

func (s *views) ListNodes(ctx context.Context, r *argosyv1.ListNodesRequest) (*argosyv1.ListNodesResponse, error) {
	q := run.NodeQuery{Size: int(r.GetPageSize()), Phases: r.GetPhase(), Types: r.GetType(), Name: r.GetName()}
	switch {
	case q.Size < 0:
		return nil, apierr.New(apierr.Invalid, "page_size is %d; it cannot be negative", q.Size)
	case q.Size == 0:
		q.Size = defaultNodes
	}
	q.Size = min(q.Size, maxNodes)
	if r.GetPageToken() != "" {
		t, err := decodeToken(r.GetPageToken())
		if err != nil {
			return nil, err
		}
		q.Start = &t.Start
	}
	found, err := s.service.Reader.Get(ctx, r.GetRunId())
	if err != nil {
		return nil, err
	}
	p, err := s.service.Reader.ListNodes(ctx, found.ID, q)
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.ListNodesResponse{TotalSize: int32(p.Total)}
	for _, n := range p.Items {
		answer.Nodes = append(answer.Nodes, ownNode(found, n))
	}
	if p.Next != nil {
		answer.NextPageToken, err = encodeToken(token{SortBy: "began", Start: *p.Next})
	}
	return answer, err
}

func (s *views) SetRunLabels(ctx context.Context, r *argosyv1.SetRunLabelsRequest) (*argosyv1.RunView, error) {
	found, err := s.service.Changer.SetLabels(ctx, r.GetRunId(), r.GetLabels())
	if err != nil {
		return nil, err
	}
	return RunView(found, nil), nil
}

func (s *views) RetryRun(ctx context.Context, r *argosyv1.RetryRunRequest) (*argosyv1.RetryRunResponse, error) {
	from := run.From{Step: r.GetStep()}
	for _, p := range r.GetParameters() {
		from.Parameters = append(from.Parameters, run.Parameter{Name: p.GetName(), Value: p.GetValue()})
	}
	again, attempt, err := s.service.Changer.RetryFrom(ctx, r.GetRunId(), from, r.GetDryRun())
	if err != nil {
		return nil, err
	}
	return &argosyv1.RetryRunResponse{Again: again.Dropped, Attempt: attempt, Warnings: again.Warnings}, nil
}

// RunView is a run and its nodes as argosy.v1 shows them.
func RunView(r run.Run, nodes []run.Node) *argosyv1.RunView {
	view := &argosyv1.RunView{
		Id: r.ID, Name: r.Name, Description: r.Description, Status: r.Status, Error: r.Message,
		CreatedAt: ownTime(r.CreatedAt), StartedAt: ownTime(r.StartedAt), FinishedAt: ownTime(r.FinishedAt), ScheduledAt: ownTime(r.ScheduledAt),
		Archived: r.Archived, ServiceAccount: r.ServiceAccount,
		Experiment: &argosyv1.RunView_Experiment{Id: r.ExperimentID, Name: r.ExperimentName},
		Workflow:   &argosyv1.RunView_Workflow{Namespace: r.Namespace, Name: r.Workflow},
		Parameters: ownParameters(slices.Concat(r.Parameters, r.Defaults)), Warnings: r.Warnings, Labels: r.Labels,
	}
	if r.PipelineID != "" {
		view.Pipeline = &argosyv1.RunView_Pipeline{
			Id: r.PipelineID, Name: r.PipelineName, VersionId: r.VersionID, VersionName: r.VersionName,
		}
	}
	if w := r.Waits; w != nil {
		view.Waiting = &argosyv1.RunView_Waiting{NodeId: w.NodeID, Step: w.Step, Why: w.Why, Steps: int32(w.Steps)}
	}
	if r.ScheduleID != "" {
		view.Schedule = &argosyv1.RunView_Schedule{Id: r.ScheduleID, Name: r.ScheduleName}
	}
	for _, m := range r.Metrics {
		view.Metrics = append(view.Metrics, &argosyv1.Metric{Name: m.Name, NodeId: m.NodeID, Value: &m.Value, Format: m.Format})
	}
	for _, c := range r.Curves {
		view.Curves = append(view.Curves, &argosyv1.RunCurve{Name: c.Name, Format: c.Format, Last: finite(c.Last), Min: finite(c.Least), Max: finite(c.Greatest)})
	}
	for _, n := range nodes {
		view.Nodes = append(view.Nodes, ownNode(r, n))
	}
	return view
}

func ownNode(r run.Run, n run.Node) *argosyv1.Node {
	node := &argosyv1.Node{
		Id: n.ID, Name: n.Name, DisplayName: n.DisplayName, Type: n.Type, Template: n.Template,
		Phase: n.Shown(), Waiting: n.Waiting, Message: n.Message, ExitCode: n.ExitCode,
		StartedAt: ownTime(n.StartedAt), FinishedAt: ownTime(n.FinishedAt),
		PodName: n.PodName, Children: n.Children, BoundaryId: n.BoundaryID,
		Inputs: ownParameters(n.Inputs), Outputs: ownParameters(n.Outputs), HasLog: hasLog(r, n),
	}
	if from := n.CachedFrom; from != nil {
		node.CachedFrom, node.PodName = &argosyv1.Origin{RunId: from.RunID, NodeId: from.NodeID}, ""
		node.Message = cmp.Or(n.Message, fmt.Sprintf("taken from the cache: step %s of run %s", from.NodeID, from.RunID))
	}
	for _, a := range n.Artifacts {
		node.Artifacts = append(node.Artifacts, &argosyv1.Artifact{Name: a.Name, Key: a.Key, Size: a.Size})
	}
	return node
}

// hasLog tells whether a node's log can be read: from the archive, or from its pod while the run is not settled.
func hasLog(r run.Run, n run.Node) bool {
	if n.LogKey != "" {
		return true
	}
	return n.PodName != "" && !r.Settled && (n.Phase == run.Running || run.Final(n.Phase))
}

func ownParameters(ps []run.Parameter) []*argosyv1.Parameter {
	var answer []*argosyv1.Parameter
	for _, p := range ps {
		answer = append(answer, &argosyv1.Parameter{Name: p.Name, Value: p.Value})
	}
	return answer
}

// finite returns nil for NaN and infinities, which JSON cannot hold.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
