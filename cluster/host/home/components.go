package home

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Component is what the supervisor knows of one of its children.
type Component struct {
	Name     string         `json:"name"`
	State    ComponentState `json:"state"`
	PID      int            `json:"pid,omitempty"`   // 0 when it does not run
	Since    time.Time      `json:"since,omitzero"`  // of the state
	Restarts int            `json:"restarts"`        // since the start of the cluster
	Ended    string         `json:"ended,omitempty"` // how its last life ended; empty when it never did
}

// ComponentState is what a component does.
type ComponentState string

// The states of a component.
const (
	Starting ComponentState = "starting" // it runs, but does not serve yet
	Ready    ComponentState = "ready"
	Down     ComponentState = "down"    // it ended, and is started again after a moment
	Waiting  ComponentState = "waiting" // it was never started: nothing needs it yet
)

// WriteComponents records the children of a running cluster.
func (h Home) WriteComponents(all []Component) error {
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return WriteFile(h.components(), append(b, '\n'))
}

// ReadComponents reads the record; like Info it means something only while ClusterLock is held. Without a record there are none.
func (h Home) ReadComponents() ([]Component, error) {
	b, err := os.ReadFile(h.components())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var all []Component
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", h.components(), err)
	}
	return all, nil
}

// RemoveComponents removes the record, if there is one.
func (h Home) RemoveComponents() error { return remove(h.components()) }
