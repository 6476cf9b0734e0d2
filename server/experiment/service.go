package experiment

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
)

// Service is what the API offers on experiments. Errors are *apierr.Error.
type Service struct {
	store Store
	now   func() time.Time
}

// NewService makes the service; now is the clock (time.Now outside tests).
func NewService(store Store, now func() time.Time) *Service {
	return &Service{store: store, now: now}
}

// Create stores a new experiment; a name that is taken is a Conflict.
func (s *Service) Create(ctx context.Context, name, description string) (Experiment, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return Experiment{}, apierr.New(apierr.Invalid, "the experiment needs a name")
	}
	e := Experiment{ID: uuid.NewString(), Name: name, Description: description, CreatedAt: s.now()}
	return e, s.store.CreateExperiment(ctx, e)
}

// Default gives the experiment for runs that name none, and creates it when there is none of that name.
func (s *Service) Default(ctx context.Context) (Experiment, error) {
	e, err := s.store.ExperimentByName(ctx, DefaultName)
	if apierr.KindOf(err) != apierr.NotFound || err == nil {
		return e, err
	}
	e, err = s.Create(ctx, DefaultName, "All runs that were made without an experiment are grouped here.")
	if err != nil && apierr.KindOf(err) == apierr.Conflict { // made by another request just now
		return s.store.ExperimentByName(ctx, DefaultName)
	}
	return e, err
}

// Get gives an experiment by its id.
func (s *Service) Get(ctx context.Context, id string) (Experiment, error) {
	return s.store.Experiment(ctx, id)
}

// Recall returns an experiment by its id, even a deleted one whose runs remain.
func (s *Service) Recall(ctx context.Context, id string) (Experiment, error) {
	e, err := s.store.Experiment(ctx, id)
	if err != nil && apierr.KindOf(err) == apierr.NotFound {
		return s.store.DeletedExperiment(ctx, id)
	}
	return e, err
}

// ByName gives the experiment of that name.
func (s *Service) ByName(ctx context.Context, name string) (Experiment, error) {
	return s.store.ExperimentByName(ctx, name)
}

// List gives a page of experiments. Sort and filter fields: id, name, created_at, description, storage_state.
func (s *Service) List(ctx context.Context, q listing.Query) (listing.Page[Experiment], error) {
	return s.store.Experiments(ctx, q)
}

// Archive sets the flag; archiving archives the runs too and disables the jobs, unarchiving restores the experiment alone (KFP v1).
func (s *Service) Archive(ctx context.Context, id string, archived bool) error {
	return s.store.ArchiveExperiment(ctx, id, archived)
}

// Delete removes the experiment alone; its runs stay (KFP v1), and keep its name. Runs that name no experiment need the default one, so
// that one stays.
func (s *Service) Delete(ctx context.Context, id string) error {
	e, err := s.store.Experiment(ctx, id)
	if err != nil {
		return err
	}
	if e.Name == DefaultName {
		return apierr.New(apierr.Aborted, "the experiment %s cannot be deleted: runs without an experiment belong to it; archive or delete its runs instead", DefaultName)
	}
	return s.store.DeleteExperiment(ctx, id)
}

// mostDeleted bounds a list of deleted experiments.
const mostDeleted = 200

// Deleted gives the experiments that were deleted last, and how many there are in all.
func (s *Service) Deleted(ctx context.Context) ([]Deleted, int, error) {
	return s.store.DeletedExperiments(ctx, mostDeleted)
}

// Restore brings a deleted experiment back with the runs and jobs that belonged to it, by its id or its name.
func (s *Service) Restore(ctx context.Context, idOrName string) (Experiment, error) {
	return s.store.RestoreExperiment(ctx, idOrName)
}
