package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// RunCheck is the server's assessment of a run before it starts.
type RunCheck struct {
	// Run is the run as it would start. It has no ID.
	Run *Run `json:"run"`
	// Shortages are the steps that the cluster can never hold: they would fail.
	Shortages []Shortage `json:"shortages,omitempty"`
	// Checked reports that the steps were compared with the nodes and queues of the cluster. It is false if the cluster adds nodes on
	// demand, or if its nodes or queues cannot be read.
	Checked bool `json:"checked"`
	// Concerns are steps that will wait or fail unless a missing object is created or a quota raised before they run. They do not keep the
	// run from starting.
	Concerns []Concern `json:"concerns,omitempty"`
}

// Concern is a step that refers to a missing object, exceeds a quota, is in a queue that takes no gangs, or creates a job whose gang can never
// be complete. Objects that the server may not read are not checked.
type Concern struct {
	Step string `json:"step"`
	Why  string `json:"why"` // secret "key" not found: create it in namespace kubeflow, and the step goes on
}

func (c Concern) String() string { return "step " + c.Step + ": " + c.Why }

// Shortage is a step that the cluster can never hold.
type Shortage struct {
	Step       string   `json:"step"`
	Asks       string   `json:"asks"`                 // 2 workers x 2 CPUs = 4
	Has        string   `json:"has"`                  // this cluster has 2
	Change     string   `json:"change"`               // lower cpu_limit, or add nodes
	Parameters []string `json:"parameters,omitempty"` // of the pipeline, to lower; those that are known
}

func (s Shortage) String() string {
	return "step " + s.Step + " asks " + s.Asks + "; " + s.Has + ": " + s.Change
}

// Check refuses the requests that Create refuses, and compares the steps with the cluster. It starts and stores nothing.
func (s RunsService) Check(ctx context.Context, n NewRun) (*RunCheck, error) {
	in := map[string]any{
		"name": n.Name, "description": n.Description, "experiment_id": n.ExperimentID, "pipeline_id": n.PipelineID, "version_id": n.VersionID,
		"manifest": n.Manifest, "parameters": n.Parameters, "service_account": n.ServiceAccount, "dry_run": true,
	}
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	var check RunCheck
	r := request{method: http.MethodPost, path: ownAPI + "/runs", body: body, contentType: "application/json", twice: true}
	return &check, s.conn.decode(ctx, r, &check)
}
