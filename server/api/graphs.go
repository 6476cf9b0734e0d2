package api

import (
	"context"
	"encoding/json"
	"errors"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/engine/manifest"
	"github.com/argosy-ml/argosy/server/pipeline"
)

type graphs struct {
	argosyv1.UnimplementedPipelineServiceServer
	service *pipeline.Service
}

func (s *graphs) GetPipelineGraph(ctx context.Context, r *argosyv1.GetPipelineGraphRequest) (*argosyv1.Graph, error) {
	version, err := defaultVersion(ctx, s.service, r.GetPipelineId())
	if err != nil {
		return nil, err
	}
	return s.GetPipelineVersionGraph(ctx, &argosyv1.GetPipelineVersionGraphRequest{VersionId: version})
}

func (s *graphs) GetPipelineVersionGraph(ctx context.Context, r *argosyv1.GetPipelineVersionGraphRequest) (*argosyv1.Graph, error) {
	g, err := s.service.Graph(ctx, r.GetVersionId())
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.Graph{}
	for _, n := range g.Nodes {
		answer.Nodes = append(answer.Nodes, &argosyv1.GraphNode{
			Id: n.ID, Name: n.Name, Type: n.Type, Template: n.Template, Parent: n.Parent, Loop: n.Loop, When: n.When,
		})
	}
	for _, e := range g.Edges {
		answer.Edges = append(answer.Edges, &argosyv1.GraphEdge{From: e.From, To: e.To})
	}
	for _, p := range g.Parameters {
		answer.Parameters = append(answer.Parameters, &argosyv1.Parameter{Name: p.Name, Value: p.Value})
	}
	return answer, nil
}

func (s *graphs) DiffPipelineVersions(ctx context.Context, r *argosyv1.DiffPipelineVersionsRequest) (*argosyv1.PipelineDiff, error) {
	if r.GetFrom() == "" || r.GetTo() == "" {
		return nil, apierr.New(apierr.Invalid, "from and to name the two versions to compare")
	}
	from, err := s.service.Manifest(ctx, r.GetFrom())
	if err != nil {
		return nil, err
	}
	to, err := s.service.Manifest(ctx, r.GetTo())
	if err != nil {
		return nil, err
	}
	changes, err := manifest.Diff(from, to)
	if err != nil {
		return nil, apierr.New(apierr.Invalid, "the versions cannot be compared: %v", err)
	}
	answer := &argosyv1.PipelineDiff{}
	for _, c := range changes {
		change := &argosyv1.PipelineChange{Step: c.Step, Path: c.Path}
		var errFrom, errTo error
		change.From, errFrom = asJSON(c.From)
		change.To, errTo = asJSON(c.To)
		if err := errors.Join(errFrom, errTo); err != nil {
			return nil, err
		}
		answer.Changes = append(answer.Changes, change)
	}
	return answer, nil
}

// asJSON writes a value; nothing for none.
func asJSON(v any) (*string, error) {
	if v == nil {
		return nil, nil
	}
	raw, err := json.Marshal(v)
	text := string(raw)
	return &text, err
}
