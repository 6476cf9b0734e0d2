// Package schedule holds recurring runs, which the wire of KFP v1 calls jobs: what to run, when, and how many at once.
package schedule

import (
	"context"
	"time"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
)

// Schedule starts runs of one manifest, which is fixed when the schedule is made or changed. Names of related resources are filled in on reading.
type Schedule struct {
	ID, Name, Description        string
	ExperimentID, ExperimentName string
	PipelineID, PipelineName     string // empty for an inline manifest
	VersionID, VersionName       string
	ByVersion                    bool // see run.Run
	ServiceAccount               string
	Resource                     string // what the names of its Workflows begin with
	Trigger                      Trigger
	MaxConcurrency               int64 // how many of its runs may go on at once
	Enabled                      bool
	NoCatchup                    bool // of the times that were missed, only the newest gets its run
	Parameters                   []run.Parameter
	Message                      string // why the last run could not be made; empty when it was
	CreatedAt, UpdatedAt         time.Time
	LastAt                       time.Time // the newest of its times that was dealt with; zero: none yet
	LastIndex                    int64     // of its newest run, from 1
}

// Store keeps schedules. Errors are *apierr.Error: NotFound for an unknown id.
type Store interface {
	CreateSchedule(ctx context.Context, s Schedule, manifest []byte) error
	Schedule(ctx context.Context, id string) (Schedule, error)
	Schedules(ctx context.Context, q listing.Query, experimentID string) (listing.Page[Schedule], error)
	// EnabledSchedules lists the schedules that may start runs.
	EnabledSchedules(ctx context.Context) ([]Schedule, error)
	// ScheduleManifest gives the manifest that a schedule runs.
	ScheduleManifest(ctx context.Context, id string) ([]byte, error)
	// ScheduleManifests gives the manifests of some schedules, each once, and the place of each schedule's in them.
	ScheduleManifests(ctx context.Context, ids []string) (manifests [][]byte, of map[string]int, err error)
	EnableSchedule(ctx context.Context, id string, enabled bool, now time.Time) error
	// UpdateSchedule changes all of a schedule but Enabled, Resource, CreatedAt and LastIndex; LastAt only where retimed.
	UpdateSchedule(ctx context.Context, s Schedule, manifest []byte, retimed bool) error
	// AdvanceSchedule notes what was dealt with of the schedule before: the LastAt, LastIndex and Message of after. Where the trigger or
	// LastAt is not that of before any more, it notes LastIndex alone, whose run exists, and gives false.
	AdvanceSchedule(ctx context.Context, before, after Schedule) (advanced bool, err error)
	// OpenRuns counts the runs of a schedule that have not ended.
	OpenRuns(ctx context.Context, id string) (int64, error)
	DeleteSchedule(ctx context.Context, id string) error
}
