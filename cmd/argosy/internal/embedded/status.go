package embedded

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/home"
)

// State is what a cluster as a whole does.
type State string

// The states of a cluster.
const (
	Stopped  State = "stopped"
	Starting State = "starting" // or stopping
	Ready    State = "ready"
	Degraded State = "degraded" // it was ready, and a part of it is not at the moment
)

// Status is what argosy-cluster says about the cluster of a folder.
type Status struct {
	Home       string      `json:"home"`
	State      State       `json:"state"`
	PID        int         `json:"pid,omitempty"` // of the supervisor
	Since      *time.Time  `json:"since,omitempty"`
	APIServer  string      `json:"apiserver,omitempty"`
	Kubeconfig string      `json:"kubeconfig,omitempty"`
	Objects    string      `json:"object_store,omitempty"` // URL of the bucket
	Options    Options     `json:"options"`
	Components []Component `json:"components"`
	Nodes      []Node      `json:"nodes"`
	Trouble    string      `json:"trouble,omitempty"` // why something of this is not known
}

// Component is one process of the control plane, or the node.
type Component struct {
	Name     string    `json:"name"`
	State    string    `json:"state"` // starting, ready, down, or waiting for the first object that needs it
	PID      int       `json:"pid,omitempty"`
	Since    time.Time `json:"since,omitzero"` // of the state
	Restarts int       `json:"restarts"`
	Ended    string    `json:"ended,omitempty"` // how its last life ended
	Memory   int64     `json:"memory"`          // bytes
}

// Node is a node as the API has it.
type Node struct {
	Name   string `json:"name"`
	Ready  bool   `json:"ready"`
	CPU    string `json:"cpu"`
	Memory int64  `json:"memory"` // bytes
	GPUs   string `json:"gpus,omitempty"`
	Pods   int    `json:"pods"`   // that have not ended
	Limits string `json:"limits"` // how those of containers are enforced
}

// ReadStatus asks argosy-cluster about the cluster of a folder.
func ReadStatus(ctx context.Context, h home.Home) (Status, error) {
	s := Status{Home: string(h), State: Stopped, Components: []Component{}, Nodes: []Node{}}
	if _, runs := h.Supervisor(); !runs {
		return s, nil
	}
	err := ask(ctx, &s, "status", "--home", string(h), "-o", "json")
	return s, err
}

// ask runs a command of argosy-cluster that answers in JSON, whatever its exit code.
func ask(ctx context.Context, answer any, args ...string) error {
	program, err := Program("")
	if err != nil {
		return err
	}
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		return fmt.Errorf("%s: %w", program, err)
	}
	if len(out) == 0 {
		return fmt.Errorf("%s %s: %s", program, args[0], strings.TrimSpace(errs.String()))
	}
	if err := json.Unmarshal(out, answer); err != nil {
		return fmt.Errorf("%s %s: %w; argosy and argosy-cluster are not of the same build", program, args[0], err)
	}
	return nil
}
