package pipeline

import "context"

// Spec is what a manifest says about itself.
type Spec struct {
	Name        string // from the SDK's annotation, else the manifest's own name; may be empty
	Description string
	Parameters  []Parameter
	Graph       Graph
}

// Graph is the static graph of a manifest: the steps its entry point would run, sub-graphs flattened under their parent.
type Graph struct {
	Nodes      []GraphNode `json:"nodes"`
	Edges      []GraphEdge `json:"edges"`
	Parameters []Parameter `json:"parameters"`
}

// GraphNode is one step. Type is Container, Script, Resource, HTTP, Suspend, DAG, Steps, ContainerSet, Data, Plugin, or MPIJob for a launcher step.
type GraphNode struct {
	ID       string `json:"id"` // path of names from the entry point, joined with "/"
	Name     string `json:"name"`
	Type     string `json:"type"`
	Template string `json:"template"`
	Parent   string `json:"parent,omitempty"` // id of the DAG or Steps node that holds it
	Loop     bool   `json:"loop,omitempty"`   // it runs once for each item of a list or a sequence
	When     string `json:"when,omitempty"`   // the condition under which it runs, as the manifest has it
}

// GraphEdge says that To starts after From.
type GraphEdge struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Inspector reads manifests; server/engine implements it with Argo's own types and validation.
// An invalid Workflow gives a *apierr.Error of kind Invalid that says what to change.
type Inspector interface {
	Inspect(ctx context.Context, manifest []byte) (Spec, error)
}
