package run

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
)

// Reader reads runs, their steps and what these left.
type Reader struct{ c *Config }

// Get gives a run with its parameters, metrics and warnings.
func (s *Reader) Get(ctx context.Context, id string) (Run, error) {
	return s.c.Store.Run(ctx, id)
}

// List gives a page of runs. Sort and filter fields: id, name, created_at, scheduled_at, started_at, finished_at, description, storage_state,
// status, experiment_id, pipeline_id and metric:<name>; ShownStatus only filters; runs without that metric come last whatever the direction.
func (s *Reader) List(ctx context.Context, q listing.Query, sc Scope) (listing.Page[Run], error) {
	return s.c.Store.Runs(ctx, q, sc)
}

// Groups groups runs by a parameter; see Store.
func (s *Reader) Groups(ctx context.Context, filter []listing.Predicate, sc Scope, g Grouping) ([]Group, int, error) {
	return s.c.Store.Groups(ctx, filter, sc, g)
}

// Fields names the parameters, labels and metrics that runs have.
func (s *Reader) Fields(ctx context.Context) (Fields, error) { return s.c.Store.Fields(ctx) }

// Nodes gives the nodes of a run's Workflow in the order they started; empty until the controller has seen it.
func (s *Reader) Nodes(ctx context.Context, id string) ([]Node, error) {
	return s.c.Store.Nodes(ctx, id)
}

// ListNodes gives a page of the nodes of a run.
func (s *Reader) ListNodes(ctx context.Context, id string, q NodeQuery) (listing.Page[Node], error) {
	return s.c.Store.ListNodes(ctx, id, q)
}

// Workflow gives the newest known Workflow of a run, spec and status, as JSON.
func (s *Reader) Workflow(ctx context.Context, id string) ([]byte, error) {
	return s.c.Store.Workflow(ctx, id)
}

// Manifest gives the manifest that a run was made from, as it was uploaded or sent.
func (s *Reader) Manifest(ctx context.Context, id string) ([]byte, error) {
	return s.c.Store.RunManifest(ctx, id)
}

// Manifests gives the manifests of some runs, each once, and the place of each run's in them.
func (s *Reader) Manifests(ctx context.Context, ids []string) (manifests [][]byte, of map[string]int, err error) {
	return s.c.Store.RunManifests(ctx, ids)
}

// ReadArtifact gives an output artifact of a node as it lies in the artifact store (a tarball, unless the step says otherwise).
func (s *Reader) ReadArtifact(ctx context.Context, id, nodeID, name string) (io.ReadCloser, error) {
	n, err := s.node(ctx, id, nodeID)
	if err != nil {
		return nil, err
	}
	for _, a := range n.Artifacts {
		if a.Name == name {
			content, err := s.c.Artifacts.Get(ctx, a.Key)
			if err != nil && apierr.KindOf(err) == apierr.NotFound {
				err = s.notOneObject(ctx, a, err)
			}
			return content, err
		}
	}
	return nil, apierr.New(apierr.NotFound, "step %s has no artifact %q", n.DisplayName, name)
}

// notOneObject says why an artifact is not found as an object: it is a folder whose files are objects of their own, or it is gone.
func (s *Reader) notOneObject(ctx context.Context, a Artifact, missing error) error {
	size, err := s.c.Artifacts.Size(ctx, a.Key)
	if err != nil {
		return missing
	}
	place := fmt.Sprintf("s3://%s/%s/", s.c.Bucket, strings.TrimSuffix(a.Key, "/"))
	return apierr.New(apierr.Aborted, "artifact %q is a folder of %d bytes that is stored file by file, without an archive (archive: none), so it cannot be read as one; "+
		"copy the files from the artifact store, as in: aws s3 cp --recursive %s %s", a.Name, size, place, a.Name)
}

func (s *Reader) node(ctx context.Context, id, nodeID string) (Node, error) {
	n, err := s.c.Store.Node(ctx, id, nodeID)
	if err == nil || apierr.KindOf(err) != apierr.NotFound {
		return n, err
	}
	if _, missing := s.c.Store.Run(ctx, id); missing != nil {
		return Node{}, missing
	}
	return Node{}, apierr.New(apierr.NotFound, "run %s has no step %s", id, nodeID)
}

// Subscribe tells of changes to one run, or to all with an empty id, until it is closed.
func (s *Reader) Subscribe(id string) *Subscription {
	return s.c.Feed.Subscribe(id)
}
