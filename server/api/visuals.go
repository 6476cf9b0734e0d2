package api

import (
	"context"
	"strings"

	own "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/visual"
)

type visuals struct {
	own.UnimplementedVisualServiceServer
	runs *run.Reader
}

func (s *visuals) ListVisuals(ctx context.Context, r *own.ListVisualsRequest) (*own.ListVisualsResponse, error) {
	found, names, err := s.runs.Visuals(ctx, r.GetRunId(), r.GetNodeId())
	if err != nil {
		return nil, err
	}
	answer := &own.ListVisualsResponse{}
	for _, v := range found {
		wire := &own.Visual{NodeId: v.NodeID, StepName: names[v.NodeID], Number: int32(v.Number), Type: v.Type, Problem: v.Problem}
		if err := fillVisual(wire, v); err != nil {
			return nil, err
		}
		answer.Visuals = append(answer.Visuals, wire)
	}
	return answer, nil
}

// fillVisual adds the content, where there is any.
func fillVisual(wire *own.Visual, v run.Visual) error {
	if v.Problem != "" || len(v.Body) == 0 {
		wire.Raw = strings.ToValidUTF8(string(v.Body), "\uFFFD")
		return nil
	}
	o, err := visual.Kept(v.Body)
	if err != nil {
		return apierr.New(apierr.Internal, "an output of step %s cannot be read", v.NodeID).Because(err)
	}
	wire.Storage, wire.Source, wire.SourceSize, wire.Format = o.Storage, o.Source, o.SourceSize, o.Format
	wire.Header, wire.Labels = o.Header, o.Labels
	for _, c := range o.Schema {
		wire.Schema = append(wire.Schema, &own.Visual_Column{Name: c.Name, Type: c.Type})
	}
	return nil
}
