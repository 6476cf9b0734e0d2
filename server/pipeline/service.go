package pipeline

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/pipeline/pkgfile"
)

// MaxName is the longest name of a pipeline or a version, in characters (KFP v1).
const MaxName = 100

// Upload is a package that a user hands in: a Workflow as .yaml, .yml or .json, or a .zip or .tar.gz that holds one.
type Upload struct {
	FileName    string // decides how Data is read, and names what Name leaves empty
	Data        []byte
	Name        string // at most MaxName characters; empty: the file's name
	Description string // empty: the manifest's own

	PipelineID    string // CreateVersion only: the pipeline that gets the version
	CodeSourceURL string // CreateVersion only
}

// Service is what the API offers on pipelines. Errors are *apierr.Error.
type Service struct {
	store     Store
	inspector Inspector
	lint      Linter
	now       func() time.Time
}

// NewService makes the service; lint says where a refused manifest is wrong, or is nil; now is the clock (time.Now outside tests).
func NewService(store Store, inspector Inspector, lint Linter, now func() time.Time) *Service {
	return &Service{store: store, inspector: inspector, lint: lint, now: now}
}

// Create reads, validates and stores an uploaded pipeline with its first version. A refused upload leaves nothing behind.
func (s *Service) Create(ctx context.Context, u Upload) (Pipeline, error) {
	v, manifest, err := s.read(ctx, u)
	if err != nil {
		return Pipeline{}, err
	}
	v.PipelineID = v.ID // KFP v1: the first version has the pipeline's id and name
	p := Pipeline{ID: v.ID, Name: v.Name, Description: v.Description, CreatedAt: v.CreatedAt, Default: v}
	return p, s.store.CreatePipeline(ctx, p, manifest)
}

// CreateVersion reads, validates and stores an uploaded package as the new default version of u.PipelineID.
func (s *Service) CreateVersion(ctx context.Context, u Upload) (Version, error) {
	if u.PipelineID == "" {
		return Version{}, apierr.New(apierr.Invalid, "a version needs the id of its pipeline")
	}
	if _, err := s.store.Pipeline(ctx, u.PipelineID); err != nil {
		return Version{}, err
	}
	v, manifest, err := s.read(ctx, u)
	if err != nil {
		return Version{}, err
	}
	v.PipelineID = u.PipelineID
	return v, s.store.CreateVersion(ctx, v, manifest)
}

func (s *Service) read(ctx context.Context, u Upload) (Version, []byte, error) {
	name := strings.TrimSpace(u.Name)
	if name == "" {
		name = u.FileName
	}
	switch {
	case name == "":
		return Version{}, nil, apierr.New(apierr.Invalid, "the pipeline needs a name")
	case utf8.RuneCountInString(name) > MaxName:
		return Version{}, nil, apierr.New(apierr.Invalid, "the name has %d characters; at most %d are allowed",
			utf8.RuneCountInString(name), MaxName)
	}
	manifest, err := pkgfile.Read(u.FileName, u.Data)
	if err != nil {
		return Version{}, nil, err
	}
	spec, err := s.inspector.Inspect(ctx, manifest)
	if apierr.KindOf(err) == apierr.Invalid {
		err = s.refused(manifest, err)
	}
	if err != nil {
		return Version{}, nil, err
	}
	v := Version{
		ID: uuid.NewString(), Name: name, Description: u.Description, CodeSourceURL: u.CodeSourceURL,
		CreatedAt: s.now(), Parameters: spec.Parameters,
	}
	if v.Description == "" {
		v.Description = spec.Description
	}
	return v, manifest, nil
}

// Get gives a pipeline with its default version.
func (s *Service) Get(ctx context.Context, id string) (Pipeline, error) {
	return s.store.Pipeline(ctx, id)
}

// ByName gives the pipeline of that name.
func (s *Service) ByName(ctx context.Context, name string) (Pipeline, error) {
	return s.store.PipelineByName(ctx, name)
}

// List gives a page of pipelines. Sort and filter fields: id, name, created_at, description.
func (s *Service) List(ctx context.Context, q listing.Query) (listing.Page[Pipeline], error) {
	return s.store.Pipelines(ctx, q)
}

// Delete removes a pipeline with its versions; runs made from it stay.
func (s *Service) Delete(ctx context.Context, id string) error {
	return s.store.DeletePipeline(ctx, id)
}

// Version gives a version by its id.
func (s *Service) Version(ctx context.Context, id string) (Version, error) {
	return s.store.Version(ctx, id)
}

// Versions gives a page of a pipeline's versions. Sort and filter fields: id, name, created_at.
func (s *Service) Versions(ctx context.Context, pipelineID string, q listing.Query) (listing.Page[Version], error) {
	return s.store.Versions(ctx, pipelineID, q)
}

// SetDefaultVersion makes a version the one that runs of the pipeline use.
func (s *Service) SetDefaultVersion(ctx context.Context, pipelineID, versionID string) error {
	return s.store.SetDefaultVersion(ctx, pipelineID, versionID)
}

// DeleteVersion removes a version; the newest that is left becomes the default.
func (s *Service) DeleteVersion(ctx context.Context, id string) error {
	return s.store.DeleteVersion(ctx, id)
}

// Manifest gives a version's Workflow as uploaded (YAML or JSON), unpacked.
func (s *Service) Manifest(ctx context.Context, versionID string) ([]byte, error) {
	return s.store.VersionManifest(ctx, versionID)
}

// Graph gives the static graph of a version.
func (s *Service) Graph(ctx context.Context, versionID string) (Graph, error) {
	manifest, err := s.store.VersionManifest(ctx, versionID)
	if err != nil {
		return Graph{}, err
	}
	spec, err := s.inspector.Inspect(ctx, manifest)
	return spec.Graph, err
}
