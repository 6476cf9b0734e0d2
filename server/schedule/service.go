package schedule

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
)

// Bounds of a schedule's concurrency (KFP v1).
const (
	minConcurrency = 1
	maxConcurrency = 10
)

// Request asks for a schedule. What to run is asked for as for a run; its name is the schedule's.
type Request struct {
	Run            run.Request
	Trigger        Trigger
	MaxConcurrency int64
	Enabled        bool
	NoCatchup      bool
}

// Config holds what the service needs; all of it is required.
type Config struct {
	Store Store
	Runs  *run.Service
	Now   func() time.Time
	Log   *slog.Logger
}

// Service is what the API offers on schedules. Errors are *apierr.Error.
type Service struct {
	c    Config
	wake chan struct{} // a schedule changed
}

// NewService makes the service. Runs are started while Run runs.
func NewService(c Config) *Service {
	return &Service{c: c, wake: make(chan struct{}, 1)}
}

// Create stores a schedule whose manifest and parameters would make a run now.
func (s *Service) Create(ctx context.Context, q Request) (Schedule, error) {
	made, manifest, err := s.plan(ctx, q)
	if err != nil {
		return Schedule{}, err
	}
	made.ID = uuid.NewString()
	made.Resource, made.Enabled, made.CreatedAt = resourceName(made.Name, made.ID), q.Enabled, made.UpdatedAt
	if err := s.c.Store.CreateSchedule(ctx, made, manifest); err != nil {
		return Schedule{}, err
	}
	s.Nudge()
	return made, nil
}

// Update makes a schedule what is asked for. It stays enabled or disabled, and its runs stay its own. Times before now that a changed
// trigger has are not made up for.
func (s *Service) Update(ctx context.Context, id string, q Request) (Schedule, error) {
	old, err := s.c.Store.Schedule(ctx, id)
	if err != nil {
		return Schedule{}, err
	}
	keeps := q.keepsVersion(old)
	if keeps { // its manifest, too: the version may have been deleted
		manifest, err := s.c.Store.ScheduleManifest(ctx, id)
		if err != nil {
			return Schedule{}, err
		}
		q.Run.Manifest, q.Run.PipelineID, q.Run.VersionID = manifest, "", ""
	}
	changed, manifest, err := s.plan(ctx, q)
	if err != nil {
		return Schedule{}, err
	}
	if keeps {
		changed.PipelineID, changed.PipelineName, changed.VersionID, changed.VersionName = old.PipelineID, old.PipelineName, old.VersionID, old.VersionName
		changed.ByVersion = old.ByVersion
	}
	changed.ID, changed.Resource, changed.Enabled, changed.CreatedAt = old.ID, old.Resource, old.Enabled, old.CreatedAt
	changed.LastAt, changed.LastIndex = old.LastAt, old.LastIndex
	retimed := !changed.Trigger.equal(old.Trigger)
	if retimed {
		changed.skipTo(changed.UpdatedAt)
	}
	if err := s.c.Store.UpdateSchedule(ctx, changed, manifest, retimed); err != nil {
		return Schedule{}, err
	}
	s.Nudge()
	return changed, nil
}

// keepsVersion tells whether the version that is asked for is the one that the schedule runs.
func (q Request) keepsVersion(old Schedule) bool {
	same := q.Run.VersionID != "" && q.Run.VersionID == old.VersionID && (q.Run.PipelineID == "" || q.Run.PipelineID == old.PipelineID)
	return same && len(q.Run.Manifest) == 0
}

// plan checks what is asked for and returns it as a schedule without an id, a resource and a history.
func (s *Service) plan(ctx context.Context, q Request) (planned Schedule, manifest []byte, err error) {
	if strings.TrimSpace(q.Run.Name) == "" {
		return Schedule{}, nil, apierr.New(apierr.Invalid, "the job needs a name")
	}
	if q.MaxConcurrency < minConcurrency || q.MaxConcurrency > maxConcurrency {
		return Schedule{}, nil, apierr.New(apierr.Invalid, "max_concurrency is %d; it must be from %d to %d", q.MaxConcurrency, minConcurrency, maxConcurrency)
	}
	if err := q.Trigger.check(); err != nil {
		return Schedule{}, nil, err
	}
	r, manifest, err := s.c.Runs.Creator.Plan(ctx, q.Run)
	if err != nil {
		return Schedule{}, nil, err
	}
	return Schedule{
		Name: r.Name, Description: r.Description, ExperimentID: r.ExperimentID, ExperimentName: r.ExperimentName,
		PipelineID: r.PipelineID, PipelineName: r.PipelineName, VersionID: r.VersionID, VersionName: r.VersionName, ByVersion: r.ByVersion,
		ServiceAccount: r.ServiceAccount, Trigger: q.Trigger, MaxConcurrency: q.MaxConcurrency, NoCatchup: q.NoCatchup,
		Parameters: r.Parameters, UpdatedAt: s.c.Now(),
	}, manifest, nil
}

// Get gives a schedule by its id.
func (s *Service) Get(ctx context.Context, id string) (Schedule, error) {
	return s.c.Store.Schedule(ctx, id)
}

// List gives a page of schedules, of one experiment if its id is not empty. Sort and filter fields: id, name, created_at,
// updated_at, description, package_id, pipeline_id, experiment_id.
func (s *Service) List(ctx context.Context, q listing.Query, experimentID string) (listing.Page[Schedule], error) {
	return s.c.Store.Schedules(ctx, q, experimentID)
}

// Manifest gives the manifest that a schedule runs.
func (s *Service) Manifest(ctx context.Context, id string) ([]byte, error) {
	return s.c.Store.ScheduleManifest(ctx, id)
}

// Manifests gives the manifests of some schedules, each once, and the place of each schedule's in them.
func (s *Service) Manifests(ctx context.Context, ids []string) (manifests [][]byte, of map[string]int, err error) {
	return s.c.Store.ScheduleManifests(ctx, ids)
}

// Enable lets a schedule start runs, or keeps it from doing so; runs that go on are left alone.
func (s *Service) Enable(ctx context.Context, id string, enabled bool) error {
	if err := s.c.Store.EnableSchedule(ctx, id, enabled, s.c.Now()); err != nil {
		return err
	}
	s.Nudge()
	return nil
}

// Delete removes a schedule; its runs stay.
func (s *Service) Delete(ctx context.Context, id string) error {
	return s.c.Store.DeleteSchedule(ctx, id)
}

// Nudge says that schedules changed.
func (s *Service) Nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
