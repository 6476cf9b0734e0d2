// Package sample starts pipelines that come with the server, with parameters that suit its cluster.
package sample

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/argosy-ml/argosy/samples"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/cluster"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/run"
)

// Sample is a pipeline that comes with the server.
type Sample struct {
	Name        string // also of its pipeline
	Description string
	Distributed bool            // its steps are distributed jobs
	Parameters  []run.Parameter // what a run gets here in place of the defaults
	Lacks       string          // what it needs and this cluster lacks; empty: it can start

	workflow []byte
	source   samples.Sample
}

// Cluster tells what runs can have; server/engine implements it.
type Cluster interface {
	Overview(ctx context.Context) (cluster.Overview, error)
	// Serves tells whether the cluster knows a kind of distributed job, such as MPIJob.
	Serves(ctx context.Context, kind string) (bool, error)
}

// Machine is the machine that an embedded cluster runs on, whose files the samples use in place of images.
type Machine struct {
	Shared string // folder that pods see at the same path; empty: the cluster is not embedded
	// Lacks says which programs distributed jobs on the machine's files lack. Empty: none.
	Lacks func(context.Context) (string, error)
}

// Config holds what the service needs; all but Machine is required.
type Config struct {
	Pipelines *pipeline.Service
	Inspector pipeline.Inspector
	Runs      *run.Service
	Cluster   Cluster
	Machine   Machine
}

// Service is what the API offers on samples. Errors are *apierr.Error.
type Service struct {
	c  Config
	mu sync.Mutex // two starts at once make one pipeline
}

// NewService makes the service.
func NewService(c Config) *Service { return &Service{c: c} }

// List gives the samples, the one to begin with first: one that can start, distributed if there is one.
func (s *Service) List(ctx context.Context) ([]Sample, error) {
	o, err := s.offered(ctx)
	if err != nil {
		return nil, err
	}
	var ready, lacking []Sample
	for _, source := range samples.All() {
		one, err := s.fit(ctx, source, o)
		switch {
		case err != nil:
			return nil, err
		case one.Lacks == "":
			ready = append(ready, one)
		default:
			lacking = append(lacking, one)
		}
	}
	return append(ready, lacking...), nil
}

// Start stores the sample's pipeline, unless it is there, and starts a run of it. A run that is refused leaves nothing behind.
func (s *Service) Start(ctx context.Context, name string) (run.Run, error) {
	all, err := s.List(ctx)
	if err != nil {
		return run.Run{}, err
	}
	var names []string
	for _, one := range all {
		if one.Name == name {
			return s.start(ctx, one)
		}
		names = append(names, one.Name)
	}
	return run.Run{}, apierr.New(apierr.NotFound, "sample %q not found; there are %s", name, strings.Join(names, ", "))
}

func (s *Service) start(ctx context.Context, one Sample) (run.Run, error) {
	if one.Lacks != "" {
		return run.Run{}, apierr.New(apierr.Aborted, "the sample %s cannot run here: %s", one.Name, one.Lacks)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.repository(one); err != nil {
		return run.Run{}, err
	}
	request := run.Request{Manifest: one.workflow, Parameters: one.Parameters}
	if _, _, err := s.c.Runs.Creator.Plan(ctx, request); err != nil {
		return run.Run{}, err
	}
	version, err := s.version(ctx, one)
	if err != nil {
		return run.Run{}, err
	}
	request.Manifest, request.PipelineID, request.VersionID = nil, version.PipelineID, version.ID
	return s.c.Runs.Creator.Create(ctx, request)
}

// version finds the version with the sample's Workflow, or makes it: a pipeline, or a version of one that has its name and keeps its
// default.
func (s *Service) version(ctx context.Context, one Sample) (pipeline.Version, error) {
	upload := pipeline.Upload{FileName: one.Name + ".yaml", Data: one.workflow, Name: one.Name}
	p, err := s.c.Pipelines.ByName(ctx, one.Name)
	if err != nil {
		if apierr.KindOf(err) == apierr.NotFound {
			p, err = s.c.Pipelines.Create(ctx, upload)
		}
		return p.Default, err
	}
	before := p.Default
	if before.ID != "" {
		manifest, err := s.c.Pipelines.Manifest(ctx, before.ID)
		if err != nil || bytes.Equal(manifest, one.workflow) {
			return before, err
		}
	}
	// Versions are named by their content, as those of argosy up --demo are.
	upload.PipelineID, upload.Name = p.ID, fmt.Sprintf("%s-%.6x", one.Name, sha256.Sum256(one.workflow))
	found, err := s.c.Pipelines.Versions(ctx, p.ID, listing.Query{Size: 1, Filter: []listing.Predicate{{Key: "name", Op: listing.Equals, Values: []any{upload.Name}}}})
	if err != nil || len(found.Items) > 0 {
		return append(found.Items, pipeline.Version{})[0], err
	}
	made, err := s.c.Pipelines.CreateVersion(ctx, upload)
	if err != nil || before.ID == "" {
		return made, err
	}
	return made, s.c.Pipelines.SetDefaultVersion(ctx, p.ID, before.ID)
}

// repository is where the files lie that a sample trains from; only an embedded cluster has it.
func (s *Service) repository(one Sample) error {
	if one.source.Repository == "" || s.c.Machine.Shared == "" {
		return nil
	}
	_, _, err := samples.Repository(one.source.Source, s.place(one.source), samples.Branch)
	return err
}

func (s *Service) place(source samples.Sample) string {
	return filepath.Join(s.c.Machine.Shared, "samples", source.Repository)
}
