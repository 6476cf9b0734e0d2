package schedule

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/google/uuid"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
)

const (
	// lookEvery is the longest time between two looks at the clock, which may be set.
	lookEvery = time.Minute
	// troublePause comes after a look that failed.
	troublePause = 5 * time.Second
	// catchUp is how many missed runs of one schedule are started at one look.
	catchUp = 10
)

// Run starts runs when they are due, until ctx ends. Its state is in the store, so it can stop at any moment: the next Run starts missed
// runs, and none twice.
func (s *Service) Run(ctx context.Context) error {
	changes := s.c.Runs.Reader.Subscribe("")
	defer changes.Close()
	for {
		wait, waiting, err := s.look(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			s.c.Log.Error("schedules", "error", err)
			wait = troublePause
		}
		var ended <-chan struct{}
		if waiting { // for one of its runs to end
			ended = changes.C()
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		case <-s.wake:
		case <-ended:
			changes.Changed()
		}
		timer.Stop()
	}
}

// look starts what is due. It tells how long nothing else will be, and whether a schedule waits for its runs to end.
func (s *Service) look(ctx context.Context) (wait time.Duration, waiting bool, err error) {
	enabled, err := s.c.Store.EnabledSchedules(ctx)
	if err != nil {
		return 0, false, err
	}
	wait = lookEvery
	for _, one := range enabled {
		next, blocked, err := s.serve(ctx, one)
		if apierr.KindOf(err) == apierr.NotFound && err != nil {
			continue // deleted meanwhile
		}
		if err != nil {
			return 0, false, fmt.Errorf("schedule %s (%s): %w", one.ID, one.Name, err)
		}
		waiting = waiting || blocked
		if !next.IsZero() && !blocked {
			wait = min(wait, max(0, next.Sub(s.c.Now())))
		}
	}
	return wait, waiting, nil
}

// serve starts the runs of one schedule that are due, and gives the time of the next; blocked: too many of its runs go on.
func (s *Service) serve(ctx context.Context, one Schedule) (next time.Time, blocked bool, err error) {
	for range catchUp {
		due := one.Due(s.c.Now())
		if due.IsZero() {
			return one.Next(), false, nil
		}
		open, err := s.c.Store.OpenRuns(ctx, one.ID)
		if err != nil {
			return time.Time{}, false, err
		}
		if open >= one.MaxConcurrency {
			return time.Time{}, true, nil
		}
		before := one
		one.LastIndex++
		if one.Message, err = s.start(ctx, one, due); err != nil {
			return time.Time{}, false, err
		}
		if one.Message != "" {
			one.LastIndex-- // no run has it
		}
		one.LastAt = due
		advanced, err := s.c.Store.AdvanceSchedule(ctx, before, one)
		if err != nil {
			return time.Time{}, false, err
		}
		if !advanced { // it was changed meanwhile: the next look reads it
			break
		}
	}
	return s.c.Now(), false, nil
}

// start starts one run. Its id follows from the schedule and the index: after a crash between the run and the note of it,
// it is found and not started again. A run that can never be started gives a message instead.
func (s *Service) start(ctx context.Context, one Schedule, due time.Time) (message string, err error) {
	id := uuid.NewSHA1(uuid.MustParse(one.ID), fmt.Append(nil, one.LastIndex)).String()
	if _, err := s.c.Runs.Reader.Get(ctx, id); err == nil || apierr.KindOf(err) != apierr.NotFound {
		return "", err
	}
	manifest, err := s.c.Store.ScheduleManifest(ctx, one.ID)
	if err != nil {
		return "", err
	}
	workflow := workflowName(one.Resource, one.LastIndex)
	err = s.c.Runs.Creator.Launch(ctx, run.Run{
		ID: id, Name: workflow, Description: one.Description, ExperimentID: one.ExperimentID,
		PipelineID: one.PipelineID, PipelineName: one.PipelineName, VersionID: one.VersionID, VersionName: one.VersionName,
		ServiceAccount: one.ServiceAccount, ScheduleID: one.ID, ScheduleName: one.Name, ScheduledAt: due, Parameters: one.Parameters,
	}, manifest, run.Tick{Workflow: workflow, Schedule: one.Resource, Index: one.LastIndex, At: due})
	switch apierr.KindOf(err) {
	case apierr.Invalid, apierr.NotFound, apierr.Conflict:
		s.c.Log.Warn("a scheduled run could not be started", "schedule", one.ID, "name", one.Name, "due", due, "error", err)
		return fmt.Sprintf("the run of %s could not be started: %s", due.UTC().Format(time.RFC3339), err), nil
	}
	return "", err
}

// workflowName is the name of a schedule's Workflow (KFP v1).
func workflowName(resource string, index int64) string {
	name := fmt.Sprintf("%s-%d", resource, index)
	hash := fnv.New32a()
	hash.Write([]byte(name))
	return fmt.Sprintf("%s-%d", name, hash.Sum32())
}
