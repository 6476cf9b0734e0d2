// Package task stores the task records of drivers of KFP's v2-compatible mode. Argosy has no such drivers; others may use the API.
package task

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
)

// Task is one task of a run as its driver noted it.
type Task struct {
	ID, Namespace string
	Pipeline      string // "pipeline/NAME" or "namespace/NAMESPACE/pipeline/NAME"
	RunID         string // that the task goes with
	Execution     string // in the metadata store, that the task left its outputs with
	Fingerprint   string // of what it was given
	CreatedAt     time.Time
	FinishedAt    time.Time // zero: not said
}

// Scope narrows a list; empty fields narrow nothing.
type Scope struct{ Pipeline, Namespace string }

// Store keeps tasks. Errors are *apierr.Error: NotFound for an unknown run.
type Store interface {
	CreateTask(ctx context.Context, t Task) error
	Tasks(ctx context.Context, q listing.Query, sc Scope) (listing.Page[Task], error)
}

// Service is what the API offers on tasks. Errors are *apierr.Error.
type Service struct{ store Store }

// NewService makes the service.
func NewService(store Store) *Service { return &Service{store: store} }

// Create stores a task under a new id, and gives it as it is stored.
func (s *Service) Create(ctx context.Context, t Task) (Task, error) {
	if t.ID != "" {
		return Task{}, apierr.New(apierr.Invalid, "id is %q; leave it out, the server chooses it", t.ID)
	}
	for _, required := range []struct{ field, value string }{
		{"pipelineName", t.Pipeline}, {"runId", t.RunID}, {"mlmdExecutionID", t.Execution}, {"fingerprint", t.Fingerprint},
	} {
		if required.value == "" {
			return Task{}, apierr.New(apierr.Invalid, "the task needs a value in %s", required.field)
		}
	}
	if t.CreatedAt.IsZero() {
		return Task{}, apierr.New(apierr.Invalid, "the task needs a value in created_at")
	}
	if rest, namespaced := strings.CutPrefix(t.Pipeline, "namespace/"); namespaced {
		parts := strings.SplitN(rest, "/", 3)
		switch {
		case len(parts) != 3 || parts[1] != "pipeline":
			return Task{}, apierr.New(apierr.Invalid, "pipelineName is %q; write it as namespace/NAMESPACE/pipeline/NAME", t.Pipeline)
		case t.Namespace != "" && t.Namespace != parts[0]:
			return Task{}, apierr.New(apierr.Invalid, "namespace is %q, but pipelineName %q names another", t.Namespace, t.Pipeline)
		}
	}
	t.ID = uuid.NewString()
	return t, s.store.CreateTask(ctx, t)
}

// List gives a page of tasks. Sort and filter fields: id, namespace, pipelineName, runId, mlmdExecutionID, created_at,
// finished_at, fingerprint.
func (s *Service) List(ctx context.Context, q listing.Query, sc Scope) (listing.Page[Task], error) {
	return s.store.Tasks(ctx, q, sc)
}
