package client

import (
	"context"
	"net/http"
)

// Sample is a pipeline that comes with the server.
type Sample struct {
	Name        string      `json:"name"` // also of its pipeline
	Description string      `json:"description,omitempty"`
	Distributed bool        `json:"distributed,omitempty"` // its steps are distributed jobs
	Parameters  []Parameter `json:"parameters,omitempty"`  // what a run gets on this cluster in place of the defaults
	Lacks       string      `json:"lacks,omitempty"`       // what it needs and the cluster lacks; empty: it can start
}

// List gives the samples, the one to begin with first.
func (s SamplesService) List(ctx context.Context) ([]Sample, error) {
	var wire struct {
		Samples []Sample `json:"samples"`
	}
	return wire.Samples, s.conn.get(ctx, ownAPI+"/samples", nil, &wire)
}

// Start stores the sample's pipeline, unless it is there, and starts a run of it with parameters that suit the cluster.
func (s SamplesService) Start(ctx context.Context, name string) (*Run, error) {
	var wire struct {
		RunID string `json:"run_id"`
	}
	if err := s.conn.send(ctx, http.MethodPost, ownAPI+"/samples/"+escape(name)+":start", struct{}{}, &wire); err != nil {
		return nil, err
	}
	return RunsService(s).Get(ctx, wire.RunID)
}
