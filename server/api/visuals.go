package api

import (
	"context"
	"strings"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/uimetadata"
)

type visuals struct {
	argosyv1.UnimplementedVisualServiceServer
	runs *run.Reader
}

func (s *visuals) ListVisuals(ctx context.Context, r *argosyv1.ListVisualsRequest) (*argosyv1.ListVisualsResponse, error) {
	found, names, err := s.runs.Visuals(ctx, r.GetRunId(), r.GetNodeId())
	if err != nil {
		return nil, err
	}
	wire, err := wireVisuals(found, names)
	return &argosyv1.ListVisualsResponse{Visuals: wire}, err
}

func (s *visuals) CompareVisuals(ctx context.Context, r *argosyv1.CompareVisualsRequest) (*argosyv1.CompareVisualsResponse, error) {
	compared, err := s.runs.CompareVisuals(ctx, r.GetRunIds())
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.CompareVisualsResponse{}
	for _, one := range compared {
		wire, err := wireVisuals(one.Visuals, one.StepNames)
		if err != nil {
			return nil, err
		}
		answer.Runs = append(answer.Runs, &argosyv1.RunVisuals{RunId: one.RunID, Visuals: wire})
	}
	return answer, nil
}

func wireVisuals(found []run.Visual, names map[string]string) ([]*argosyv1.Visual, error) {
	var all []*argosyv1.Visual
	for _, v := range found {
		wire := &argosyv1.Visual{NodeId: v.NodeID, StepName: names[v.NodeID], Number: int32(v.Number), Type: v.Type, Problem: v.Problem}
		if err := fillVisual(wire, v); err != nil {
			return nil, err
		}
		all = append(all, wire)
	}
	return all, nil
}

// fillVisual adds the content, where there is any.
func fillVisual(wire *argosyv1.Visual, v run.Visual) error {
	if v.Problem != "" || len(v.Body) == 0 {
		wire.Raw = strings.ToValidUTF8(string(v.Body), "\uFFFD")
		return nil
	}
	o, err := uimetadata.Kept(v.Body)
	if err != nil {
		return apierr.New(apierr.Internal, "an output of step %s cannot be read", v.NodeID).Because(err)
	}
	wire.Storage, wire.Source, wire.SourceSize, wire.Format = o.Storage, o.Source, o.SourceSize, o.Format
	wire.Header, wire.Labels = o.Header, o.Labels
	for _, c := range o.Schema {
		wire.Schema = append(wire.Schema, &argosyv1.Visual_Column{Name: c.Name, Type: c.Type})
	}
	return nil
}
