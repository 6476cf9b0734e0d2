package sqlstore

import (
	"context"

	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

// PutVisuals implements run.Visuals.
func (s *visuals) PutVisuals(ctx context.Context, id, nodeID string, visuals []run.Visual) error {
	return s.change(ctx, id, func(q *query.Queries, row query.Run) error {
		if err := q.DeleteVisualsOfNode(ctx, query.DeleteVisualsOfNodeParams{Run: row.Seq, NodeID: nodeID}); err != nil {
			return trouble("replace visuals", err)
		}
		for _, v := range visuals {
			err := q.PutVisual(ctx, query.PutVisualParams{
				Run: row.Seq, NodeID: nodeID, Number: int64(v.Number), Type: v.Type, Body: pack(v.Body), Problem: v.Problem,
			})
			if err != nil {
				return trouble("put visual", err)
			}
		}
		return nil
	})
}

// Visuals implements run.Visuals.
func (s *visuals) Visuals(ctx context.Context, id string) ([]run.Visual, error) {
	rows, err := s.read().Visuals(ctx, id)
	visuals := make([]run.Visual, len(rows))
	for i, row := range rows {
		visuals[i] = run.Visual{NodeID: row.NodeID, Number: int(row.Number), Type: row.Type, Problem: row.Problem}
	}
	return visuals, trouble("read visuals", err)
}

// VisualsOf implements run.Visuals.
func (s *visuals) VisualsOf(ctx context.Context, id, nodeID string) ([]run.Visual, error) {
	rows, err := s.read().VisualsOfNode(ctx, query.VisualsOfNodeParams{ID: id, NodeID: nodeID})
	if err != nil {
		return nil, trouble("read visuals", err)
	}
	visuals := make([]run.Visual, len(rows))
	for i, row := range rows {
		body, err := unpack(row.Body)
		if err != nil {
			return nil, err
		}
		visuals[i] = run.Visual{NodeID: row.NodeID, Number: int(row.Number), Type: row.Type, Problem: row.Problem, Body: body}
	}
	return visuals, nil
}
