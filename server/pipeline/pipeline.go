// Package pipeline holds uploaded pipelines and their versions.
package pipeline

import (
	"context"
	"time"

	"github.com/argosy-ml/argosy/server/listing"
)

// Parameter is one input of a pipeline with its default; HasDefault is false when the manifest gives none.
type Parameter struct {
	Name       string `json:"name"`
	Value      string `json:"value,omitempty"`
	HasDefault bool   `json:"has_default,omitempty"`
}

// Pipeline is a named line of versions.
type Pipeline struct {
	ID          string
	Name        string // unique
	Description string
	CreatedAt   time.Time
	Default     Version // the default version; the newest unless chosen otherwise
}

// Version is one manifest of a pipeline. The first version's id equals the pipeline's id (KFP v1).
type Version struct {
	ID            string
	PipelineID    string
	Name          string // unique within the pipeline
	Description   string
	CodeSourceURL string
	CreatedAt     time.Time
	Parameters    []Parameter
}

// Store keeps pipelines and manifests. Errors are *apierr.Error: Conflict for a name that is taken, NotFound for an unknown id.
type Store interface {
	// CreatePipeline stores a pipeline, its first version (p.Default) and that version's manifest in one transaction.
	CreatePipeline(ctx context.Context, p Pipeline, manifest []byte) error
	Pipeline(ctx context.Context, id string) (Pipeline, error)
	PipelineByName(ctx context.Context, name string) (Pipeline, error)
	Pipelines(ctx context.Context, q listing.Query) (listing.Page[Pipeline], error)
	DeletePipeline(ctx context.Context, id string) error

	// CreateVersion stores a version with its manifest and makes it the default.
	CreateVersion(ctx context.Context, v Version, manifest []byte) error
	Version(ctx context.Context, id string) (Version, error)
	Versions(ctx context.Context, pipelineID string, q listing.Query) (listing.Page[Version], error)
	SetDefaultVersion(ctx context.Context, pipelineID, versionID string) error
	DeleteVersion(ctx context.Context, id string) error
	// VersionManifest gives the Workflow manifest (YAML or JSON, as uploaded) of a version.
	VersionManifest(ctx context.Context, versionID string) ([]byte, error)
}
