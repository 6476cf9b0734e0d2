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
}

// GraphEdge says that To waits for From.
type GraphEdge struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Pipelines gives one page of the pipelines.
func (c *Client) Pipelines(ctx context.Context, o ListOptions) (Page[Pipeline], error) {
	var wire struct {
		Pipelines []Pipeline `json:"pipelines"`
		Total     int        `json:"total_size"`
		Next      string     `json:"next_page_token"`
	}
	q, err := o.query()
	if err == nil {
		err = c.get(ctx, kfpAPI+"/pipelines", q, &wire)
	}
	return Page[Pipeline]{wire.Pipelines, wire.Total, wire.Next}, err
}

// AllPipelines walks all pages; it ends after an error.
func (c *Client) AllPipelines(ctx context.Context, o ListOptions) iter.Seq2[Pipeline, error] {
	return each(ctx, o, c.Pipelines)
}

// Pipeline gives a pipeline by its id.
func (c *Client) Pipeline(ctx context.Context, id string) (*Pipeline, error) {
	var p Pipeline
	return &p, c.get(ctx, kfpAPI+"/pipelines/"+escape(id), nil, &p)
}

// PipelineByName gives the pipeline of that name; IsNotFound tells that there is none.
func (c *Client) PipelineByName(ctx context.Context, name string) (*Pipeline, error) {
	p, err := c.Pipelines(ctx, ListOptions{PageSize: 1, Filter: []Predicate{Equals("name", name)}})
	return first(p, err, "pipeline", name)
}

// DeletePipeline deletes a pipeline with all its versions; its runs stay.
func (c *Client) DeletePipeline(ctx context.Context, id string) error {
	return c.delete(ctx, kfpAPI+"/pipelines/"+escape(id))
}

// Template gives the Workflow manifest of a pipeline's default version, as it was uploaded.
func (c *Client) Template(ctx context.Context, pipelineID string) (string, error) {
	return c.template(ctx, "/pipelines/"+escape(pipelineID))
}

// VersionTemplate gives the Workflow manifest of one version, as it was uploaded.
func (c *Client) VersionTemplate(ctx context.Context, versionID string) (string, error) {
	return c.template(ctx, "/pipeline_versions/"+escape(versionID))
}

func (c *Client) template(ctx context.Context, path string) (string, error) {
	var wire struct {
		Template string `json:"template"`
	}
	return wire.Template, c.get(ctx, kfpAPI+path+"/templates", nil, &wire)
}

// Graph gives the static graph of a pipeline's default version.
func (c *Client) Graph(ctx context.Context, pipelineID string) (*Graph, error) {
	var g Graph
	return &g, c.get(ctx, ownAPI+"/pipelines/"+escape(pipelineID)+"/graph", nil, &g)
}

// VersionGraph gives the static graph of one version.
func (c *Client) VersionGraph(ctx context.Context, versionID string) (*Graph, error) {
	var g Graph
	return &g, c.get(ctx, ownAPI+"/pipeline_versions/"+escape(versionID)+"/graph", nil, &g)
}

// Versions gives one page of a pipeline's versions.
func (c *Client) Versions(ctx context.Context, pipelineID string, o ListOptions) (Page[PipelineVersion], error) {
	var wire struct {
		Versions []PipelineVersion `json:"versions"`
		Total    int               `json:"total_size"`
		Next     string            `json:"next_page_token"`
	}
	q, err := o.query()
	if err == nil {
		q.Set("resource_key.type", "PIPELINE")
		q.Set("resource_key.id", pipelineID)
		err = c.get(ctx, kfpAPI+"/pipeline_versions", q, &wire)
	}
	return Page[PipelineVersion]{wire.Versions, wire.Total, wire.Next}, err
}

// AllVersions walks all versions of a pipeline; it ends after an error.
func (c *Client) AllVersions(ctx context.Context, pipelineID string, o ListOptions) iter.Seq2[PipelineVersion, error] {
	return each(ctx, o, func(ctx context.Context, o ListOptions) (Page[PipelineVersion], error) {
		return c.Versions(ctx, pipelineID, o)
	})
}

// VersionByName gives the version of that name of a pipeline; IsNotFound tells that there is none.
func (c *Client) VersionByName(ctx context.Context, pipelineID, name string) (*PipelineVersion, error) {
	p, err := c.Versions(ctx, pipelineID, ListOptions{PageSize: 1, Filter: []Predicate{Equals("name", name)}})
	return first(p, err, "version", name)
}

// Version gives a version by its id.
func (c *Client) Version(ctx context.Context, id string) (*PipelineVersion, error) {
	var v PipelineVersion
	return &v, c.get(ctx, kfpAPI+"/pipeline_versions/"+escape(id), nil, &v)
}

// DeleteVersion deletes one version.
func (c *Client) DeleteVersion(ctx context.Context, id string) error {
	return c.delete(ctx, kfpAPI+"/pipeline_versions/"+escape(id))
}

// SetDefaultVersion makes a version the one that runs when none is named.
func (c *Client) SetDefaultVersion(ctx context.Context, pipelineID, versionID string) error {
	return c.put(ctx, kfpAPI+"/pipelines/"+escape(pipelineID)+"/default_version/"+escape(versionID))
}
