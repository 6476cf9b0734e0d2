package api

import (
	"context"

	own "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/pipeline"
)

type graphs struct {
	own.UnimplementedPipelineServiceServer
	service *pipeline.Service
}

func (s *graphs) GetPipelineGraph(ctx context.Context, r *own.GetPipelineGraphRequest) (*own.Graph, error) {
	version, err := defaultVersion(ctx, s.service, r.GetPipelineId())
	if err != nil {
		return nil, err
	}
	return s.GetPipelineVersionGraph(ctx, &own.GetPipelineVersionGraphRequest{VersionId: version})
}

func (s *graphs) GetPipelineVersionGraph(ctx context.Context, r *own.GetPipelineVersionGraphRequest) (*own.Graph, error) {
	g, err := s.service.Graph(ctx, r.GetVersionId())
	if err != nil {
		return nil, err
	}
	answer := &own.Graph{}
	for _, n := range g.Nodes {
		answer.Nodes = append(answer.Nodes, &own.GraphNode{Id: n.ID, Name: n.Name, Type: n.Type, Template: n.Template, Parent: n.Parent})
	}
	for _, e := range g.Edges {
		answer.Edges = append(answer.Edges, &own.GraphEdge{From: e.From, To: e.To})
	}
	for _, p := range g.Parameters {
		answer.Parameters = append(answer.Parameters, &own.Parameter{Name: p.Name, Value: p.Value})
	}
	return answer, nil
}
