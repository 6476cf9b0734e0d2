package client

import (
	"context"
	"iter"
	"time"
)

// Parameter is an input or an output by name.
type Parameter struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

// Pipeline is a named line of versions.
type Pipeline struct {
	ID          string           `json:"id"`
	Name        string           `json:"name"`
	Description string           `json:"description,omitempty"`
	CreatedAt   time.Time        `json:"created_at,omitzero"`
	Parameters  []Parameter      `json:"parameters,omitempty"` // of the default version, with their defaults
	Default     *PipelineVersion `json:"default_version,omitempty"`
}

// PipelineVersion is one uploaded package of a pipeline.
type PipelineVersion struct {
	ID          string      `json:"id"`
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	CreatedAt   time.Time   `json:"created_at,omitzero"`
	Parameters  []Parameter `json:"parameters,omitempty"`
}

// Graph is the shape of a pipeline: what would run, before anything ran.
type Graph struct {
	Nodes      []GraphNode `json:"nodes"`
	Edges      []GraphEdge `json:"edges"`
	Parameters []Parameter `json:"parameters,omitempty"`
}

// GraphNode is one step of a Graph.
type GraphNode struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Type     string `json:"type"` // Container, MPIJob, DAG, ...
	Template string `json:"template,omitempty"`
	Parent   string `json:"parent,omitempty"` // the DAG that holds it
	Loop     bool   `json:"loop,omitempty"`   // it runs once for each item of a list or a sequence
	When     string `json:"when,omitempty"`   // the condition under which it runs, as the Workflow writes it
}

// GraphEdge says that To waits for From.
type GraphEdge struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// List gives one page of the pipelines.
func (s PipelinesService) List(ctx context.Context, o ListOptions) (Page[Pipeline], error) {
	var wire struct {
		Pipelines []Pipeline `json:"pipelines"`
		Total     int        `json:"total_size"`
		Next      string     `json:"next_page_token"`
	}
	q, err := o.query()
	if err == nil {
		err = s.conn.get(ctx, kfpAPI+"/pipelines", q, &wire)
	}
	return Page[Pipeline]{wire.Pipelines, wire.Total, wire.Next}, err
}

// All walks all pages; it ends after an error.
func (s PipelinesService) All(ctx context.Context, o ListOptions) iter.Seq2[Pipeline, error] {
	return each(ctx, o, s.List)
}

// Get gives a pipeline by its id.
func (s PipelinesService) Get(ctx context.Context, id string) (*Pipeline, error) {
	var p Pipeline
	return &p, s.conn.get(ctx, kfpAPI+"/pipelines/"+escape(id), nil, &p)
}

// ByName returns the pipeline of that name. If it does not exist, IsNotFound(err) is true.
func (s PipelinesService) ByName(ctx context.Context, name string) (*Pipeline, error) {
	p, err := s.List(ctx, ListOptions{PageSize: 1, Filter: []Predicate{Equals("name", name)}})
	return first(p, err, "pipeline", name)
}

// Delete deletes a pipeline with all its versions; its runs stay.
func (s PipelinesService) Delete(ctx context.Context, id string) error {
	return s.conn.delete(ctx, kfpAPI+"/pipelines/"+escape(id))
}

// Template gives the Workflow manifest of a pipeline's default version, as it was uploaded.
func (s PipelinesService) Template(ctx context.Context, pipelineID string) (string, error) {
	return s.conn.template(ctx, "/pipelines/"+escape(pipelineID))
}

// Template gives the Workflow manifest of one version, as it was uploaded.
func (s VersionsService) Template(ctx context.Context, versionID string) (string, error) {
	return s.conn.template(ctx, "/pipeline_versions/"+escape(versionID))
}

func (c *connection) template(ctx context.Context, path string) (string, error) {
	var wire struct {
		Template string `json:"template"`
	}
	return wire.Template, c.get(ctx, kfpAPI+path+"/templates", nil, &wire)
}

// Graph gives the static graph of a pipeline's default version.
func (s PipelinesService) Graph(ctx context.Context, pipelineID string) (*Graph, error) {
	var g Graph
	return &g, s.conn.get(ctx, ownAPI+"/pipelines/"+escape(pipelineID)+"/graph", nil, &g)
}

// Graph gives the static graph of one version.
func (s VersionsService) Graph(ctx context.Context, versionID string) (*Graph, error) {
	var g Graph
	return &g, s.conn.get(ctx, ownAPI+"/pipeline_versions/"+escape(versionID)+"/graph", nil, &g)
}

// List gives one page of a pipeline's versions.
func (s VersionsService) List(ctx context.Context, pipelineID string, o ListOptions) (Page[PipelineVersion], error) {
	var wire struct {
		Versions []PipelineVersion `json:"versions"`
		Total    int               `json:"total_size"`
		Next     string            `json:"next_page_token"`
	}
	q, err := o.query()
	if err == nil {
		q.Set("resource_key.type", "PIPELINE")
		q.Set("resource_key.id", pipelineID)
		err = s.conn.get(ctx, kfpAPI+"/pipeline_versions", q, &wire)
	}
	return Page[PipelineVersion]{wire.Versions, wire.Total, wire.Next}, err
}

// All walks all versions of a pipeline; it ends after an error.
func (s VersionsService) All(ctx context.Context, pipelineID string, o ListOptions) iter.Seq2[PipelineVersion, error] {
	return each(ctx, o, func(ctx context.Context, o ListOptions) (Page[PipelineVersion], error) {
		return s.List(ctx, pipelineID, o)
	})
}

// ByName returns the version of that name of a pipeline. If it does not exist, IsNotFound(err) is true.
func (s VersionsService) ByName(ctx context.Context, pipelineID, name string) (*PipelineVersion, error) {
	p, err := s.List(ctx, pipelineID, ListOptions{PageSize: 1, Filter: []Predicate{Equals("name", name)}})
	return first(p, err, "version", name)
}

// Get gives a version by its id.
func (s VersionsService) Get(ctx context.Context, id string) (*PipelineVersion, error) {
	var v PipelineVersion
	return &v, s.conn.get(ctx, kfpAPI+"/pipeline_versions/"+escape(id), nil, &v)
}

// Delete deletes one version.
func (s VersionsService) Delete(ctx context.Context, id string) error {
	return s.conn.delete(ctx, kfpAPI+"/pipeline_versions/"+escape(id))
}

// SetDefault makes a version the one that runs when none is named.
func (s VersionsService) SetDefault(ctx context.Context, pipelineID, versionID string) error {
	return s.conn.put(ctx, kfpAPI+"/pipelines/"+escape(pipelineID)+"/default_version/"+escape(versionID))
}
