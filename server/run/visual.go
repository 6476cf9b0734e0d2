package run

import (
	"context"

	"github.com/argosy-ml/argosy/server/apierr"
)

// Visual is one thing that a step left for people to look at (KFP v1's mlpipeline-ui-metadata), or what is wrong with it.
type Visual struct {
	NodeID  string
	Number  int    // place in the step's file, from 1; 0: the file itself, which is wrong
	Type    string // empty where it has none, or an unknown one
	Problem string // why it cannot be drawn; empty: it can
	Body    []byte // of server/visual
}

// Visuals is the part of the store that keeps what steps left to draw.
type Visuals interface {
	// PutVisuals keeps what a step left, in place of what was kept of it.
	PutVisuals(ctx context.Context, id, nodeID string, visuals []Visual) error
	// Visuals lists what there is of a run, without bodies; VisualsOf gives that of one node whole.
	Visuals(ctx context.Context, id string) ([]Visual, error)
	VisualsOf(ctx context.Context, id, nodeID string) ([]Visual, error)
}

// Visuals returns what the steps of a run left to draw, with their display names: for one node in full, for all nodes without bodies.
func (s *Reader) Visuals(ctx context.Context, id, nodeID string) ([]Visual, map[string]string, error) {
	if _, err := s.c.Store.Run(ctx, id); err != nil {
		return nil, nil, err
	}
	var visuals []Visual
	var err error
	if nodeID == "" {
		visuals, err = s.c.Store.Visuals(ctx, id)
	} else if _, err = s.node(ctx, id, nodeID); err == nil {
		visuals, err = s.c.Store.VisualsOf(ctx, id, nodeID)
	}
	if err != nil {
		return nil, nil, err
	}
	var nodes []string
	for i, v := range visuals {
		if i == 0 || visuals[i-1].NodeID != v.NodeID {
			nodes = append(nodes, v.NodeID)
		}
	}
	names, err := s.c.Store.StepNames(ctx, id, nodes)
	return visuals, names, err
}

// VisualsOfRun are the ROC curves and tables of a run, with the display names of their steps.
type VisualsOfRun struct {
	RunID     string
	Visuals   []Visual
	StepNames map[string]string
}

// MostCompared is how many runs can be compared at once.
const MostCompared = 50

// CompareVisuals returns the ROC curves and tables of several runs in full.
func (s *Reader) CompareVisuals(ctx context.Context, ids []string) ([]VisualsOfRun, error) {
	if len(ids) < 2 || len(ids) > MostCompared {
		return nil, apierr.New(apierr.Invalid, "run_ids has %d runs; from 2 to %d can be compared", len(ids), MostCompared)
	}
	all := make([]VisualsOfRun, len(ids))
	for i, id := range ids {
		listed, names, err := s.Visuals(ctx, id, "")
		if err != nil {
			return nil, err
		}
		all[i] = VisualsOfRun{RunID: id, StepNames: names}
		for j, v := range listed {
			if j > 0 && listed[j-1].NodeID == v.NodeID {
				continue
			}
			whole, err := s.c.Store.VisualsOf(ctx, id, v.NodeID)
			if err != nil {
				return nil, err
			}
			for _, one := range whole {
				if one.Problem == "" && (one.Type == "roc" || one.Type == "table") {
					all[i].Visuals = append(all[i].Visuals, one)
				}
			}
		}
	}
	return all, nil
}
