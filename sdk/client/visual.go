package client

import (
	"context"
	"net/url"
)

// The kinds of what a step leaves to look at.
const (
	ConfusionMatrix = "confusion_matrix"
	ROC             = "roc"
	Table           = "table"
	Markdown        = "markdown"
	WebApp          = "web-app"
	TensorBoard     = "tensorboard"
)

// Inline says that the source of a Visual is its content.
const Inline = "inline"

// Visual is one output of a step's mlpipeline-ui-metadata.
type Visual struct {
	NodeID   string `json:"node_id"`
	StepName string `json:"step_name,omitempty"`
	Number   int    `json:"number,omitempty"`  // its place in the step's file, from 1; 0: the whole file is meant
	Type     string `json:"type,omitempty"`    // empty: there is none, or an unknown one
	Problem  string `json:"problem,omitempty"` // why it cannot be drawn; empty: it can
	// What follows is there when the visuals of one node are asked for.
	Storage    string         `json:"storage,omitempty"` // Inline, or empty: Source says where the content lies
	Source     string         `json:"source,omitempty"`
	SourceSize int64          `json:"source_size,omitzero,string"` // bytes of a source of more than 1 MiB, which is left out
	Format     string         `json:"format,omitempty"`            // csv, of a confusion matrix, a ROC curve and a table
	Header     []string       `json:"header,omitempty"`            // of a table
	Schema     []VisualColumn `json:"schema,omitempty"`
	Labels     []string       `json:"labels,omitempty"` // of a confusion matrix
	Raw        string         `json:"raw,omitempty"`    // what cannot be drawn, as the step wrote it: at most 64 KiB
}

// VisualColumn is one column of a source.
type VisualColumn struct {
	Name string `json:"name"`
	Type string `json:"type,omitempty"`
}

// Visuals lists what the steps of a run left to look at; of one node, if it is named, with the content.
func (s ArtifactsService) Visuals(ctx context.Context, runID, nodeID string) ([]Visual, error) {
	q := url.Values{}
	if nodeID != "" {
		q.Set("node_id", nodeID)
	}
	var wire struct{ Visuals []Visual }
	return wire.Visuals, s.conn.get(ctx, ownAPI+"/runs/"+escape(runID)+"/visuals", q, &wire)
}

// RunVisuals are the ROC curves and tables of one run.
type RunVisuals struct {
	RunID   string   `json:"run_id"`
	Visuals []Visual `json:"visuals,omitempty"`
}

// Compare gives the ROC curves and tables of 2 to 50 runs with their content, to be drawn over and beside each other.
func (s ArtifactsService) Compare(ctx context.Context, runIDs ...string) ([]RunVisuals, error) {
	var wire struct{ Runs []RunVisuals }
	return wire.Runs, s.conn.get(ctx, ownAPI+"/runs:visuals", url.Values{"run_ids": runIDs}, &wire)
}
