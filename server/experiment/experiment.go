// Package experiment groups runs under a name.
package experiment

import (
	"context"
	"time"

	"github.com/argosy-ml/argosy/server/page"
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

// Store keeps experiments. Errors are *fault.Error: Conflict for a name that is taken, NotFound for an unknown id.
type Store interface {
	CreateExperiment(ctx context.Context, e Experiment) error
	Experiment(ctx context.Context, id string) (Experiment, error)
	ExperimentByName(ctx context.Context, name string) (Experiment, error)
	Experiments(ctx context.Context, q page.Query) (page.Page[Experiment], error)
	// ArchiveExperiment sets the flag; archiving archives its runs too and disables its jobs, unarchiving restores the experiment alone (as KFP v1 does).
	ArchiveExperiment(ctx context.Context, id string, archived bool) error
	DeleteExperiment(ctx context.Context, id string) error
}
