// Package experiment groups runs under a name.
package experiment

import (
	"context"
	"time"

	"github.com/argosy-ml/argosy/server/listing"
)

// DefaultName is the experiment that takes runs which name none.
const DefaultName = "Default"

// Experiment is a named group of runs.
type Experiment struct {
	ID          string
	Name        string // unique
	Description string
	CreatedAt   time.Time
	Archived    bool
}

// Deleted is an experiment that can be restored.
type Deleted struct {
	Experiment
	DeletedAt time.Time
	Runs      int // that belonged to it and are still there
}

// Store keeps experiments. Errors are *apierr.Error: Conflict for a name that is taken, NotFound for an unknown id.
type Store interface {
	CreateExperiment(ctx context.Context, e Experiment) error
	Experiment(ctx context.Context, id string) (Experiment, error)
	ExperimentByName(ctx context.Context, name string) (Experiment, error)
	Experiments(ctx context.Context, q listing.Query) (listing.Page[Experiment], error)
	// ArchiveExperiment sets the flag; archiving archives its runs too and disables its jobs, unarchiving restores the experiment alone (as KFP v1 does).
	ArchiveExperiment(ctx context.Context, id string, archived bool) error
	// DeleteExperiment frees the name and keeps what RestoreExperiment needs; its runs and jobs keep its id.
	DeleteExperiment(ctx context.Context, id string) error
	// DeletedExperiment gives an experiment that was deleted and that runs or jobs still belong to, as archived.
	DeletedExperiment(ctx context.Context, id string) (Experiment, error)
	// DeletedExperiments gives the experiments that were deleted last, at most so many, and how many there are in all.
	DeletedExperiments(ctx context.Context, most int) ([]Deleted, int, error)
	// RestoreExperiment brings a deleted experiment back, by its id or, the last deleted one first, by its name.
	RestoreExperiment(ctx context.Context, idOrName string) (Experiment, error)
}
