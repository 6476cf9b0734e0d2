package sqlstore

import (
	"context"
	"time"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/schedule"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

var _ schedule.Store = (*Store)(nil)

func scheduleList(experimentID string) table {
	l := table{table: "schedules", fields: map[string]field{
		"id": {"id", text}, "name": {"name", text}, "description": {"description", text},
		"created_at": {"created_at", moment}, "updated_at": {"updated_at", moment},
		"pipeline_id": {"pipeline_id", text}, "package_id": {"pipeline_id", text}, "experiment_id": {"experiment_id", text},
	}}
	if experimentID != "" {
		l.scope = []condition{{"experiment_id = ?", []any{experimentID}}}
	}
	return l
}

// CreateSchedule implements schedule.Store.
func (s *schedules) CreateSchedule(ctx context.Context, c schedule.Schedule, manifest []byte) error {
	if err := checkName("a job", c.Name); err != nil {
		return err
	}
	return s.write(ctx, func(q *query.Queries) error {
		kept, err := keepManifest(ctx, q, manifest)
		if err != nil {
			return err
		}
		err = q.InsertSchedule(ctx, query.InsertScheduleParams{
			ID: c.ID, Name: c.Name, Description: c.Description, ExperimentID: c.ExperimentID,
			PipelineID: c.PipelineID, PipelineName: c.PipelineName, VersionID: c.VersionID, VersionName: c.VersionName,
			ServiceAccount: c.ServiceAccount, Resource: c.Resource,
			Cron: c.Trigger.Cron, IntervalSeconds: int64(c.Trigger.Interval / time.Second),
			StartsAt: micros(c.Trigger.Start), EndsAt: micros(c.Trigger.End),
			MaxConcurrency: c.MaxConcurrency, Enabled: c.Enabled, NoCatchup: c.NoCatchup, Parameters: toJSON(c.Parameters),
			CreatedAt: micros(c.CreatedAt), UpdatedAt: micros(c.UpdatedAt), Manifest: kept, ByVersion: c.ByVersion,
		})
		return s.taken(err, "schedules.id", "a job with id %s exists already", c.ID)
	})
}

// Schedule implements schedule.Store.
func (s *schedules) Schedule(ctx context.Context, id string) (schedule.Schedule, error) {
	row, err := s.read().Schedule(ctx, id)
	if err != nil {
		return schedule.Schedule{}, missing("job", id, err)
	}
	return scheduleOf(row.Schedule, row.ExperimentName)
}

// Schedules implements schedule.Store.
func (s *schedules) Schedules(ctx context.Context, q listing.Query, experimentID string) (listing.Page[schedule.Schedule], error) {
	chosen, err := s.page(ctx, scheduleList(experimentID), q)
	if err != nil {
		return listing.Page[schedule.Schedule]{}, err
	}
	found, err := s.read().SchedulesBySeq(ctx, chosen.seqs)
	if err != nil {
		return listing.Page[schedule.Schedule]{}, trouble("read schedules", err)
	}
	bySeq := map[int64]schedule.Schedule{}
	for _, row := range found {
		if bySeq[row.Schedule.Seq], err = scheduleOf(row.Schedule, row.ExperimentName); err != nil {
			return listing.Page[schedule.Schedule]{}, err
		}
	}
	return pageOf(chosen, bySeq), nil
}

// EnabledSchedules implements schedule.Store.
func (s *schedules) EnabledSchedules(ctx context.Context) ([]schedule.Schedule, error) {
	rows, err := s.read().EnabledSchedules(ctx)
	if err != nil {
		return nil, trouble("read schedules", err)
	}
	found := make([]schedule.Schedule, len(rows))
	for i, row := range rows {
		if found[i], err = scheduleOf(row.Schedule, row.ExperimentName); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// ScheduleManifest implements schedule.Store.
func (s *schedules) ScheduleManifest(ctx context.Context, id string) ([]byte, error) {
	data, err := s.read().ScheduleManifest(ctx, id)
	if err != nil {
		return nil, missing("job", id, err)
	}
	return unpack(data)
}

// ScheduleManifests implements schedule.Store.
func (s *schedules) ScheduleManifests(ctx context.Context, ids []string) (manifests [][]byte, of map[string]int, err error) {
	rows, err := s.read().ManifestsOfSchedules(ctx, ids)
	if err != nil {
		return nil, nil, trouble("read manifests", err)
	}
	var p pile
	for _, row := range rows {
		if err := p.add(row.ID, row.Seq, row.Data); err != nil {
			return nil, nil, err
		}
	}
	return p.manifests, p.of, nil
}

// EnableSchedule implements schedule.Store.
func (s *schedules) EnableSchedule(ctx context.Context, id string, enabled bool, now time.Time) error {
	return s.write(ctx, func(q *query.Queries) error {
		n, err := q.SetScheduleEnabled(ctx, query.SetScheduleEnabledParams{ID: id, Enabled: enabled, UpdatedAt: micros(now)})
		if err != nil || n == 0 {
			return orNotFound("job", id, err)
		}
		return nil
	})
}

// UpdateSchedule implements schedule.Store.
func (s *schedules) UpdateSchedule(ctx context.Context, c schedule.Schedule, manifest []byte, retimed bool) error {
	if err := checkName("a job", c.Name); err != nil {
		return err
	}
	return s.write(ctx, func(q *query.Queries) error {
		row, err := q.ScheduleRow(ctx, c.ID)
		if err != nil {
			return missing("job", c.ID, err)
		}
		kept, err := keepManifest(ctx, q, manifest)
		if err != nil {
			return err
		}
		err = q.UpdateSchedule(ctx, query.UpdateScheduleParams{
			ID: c.ID, Name: c.Name, Description: c.Description, ExperimentID: c.ExperimentID,
			PipelineID: c.PipelineID, PipelineName: c.PipelineName, VersionID: c.VersionID, VersionName: c.VersionName,
			ServiceAccount: c.ServiceAccount, Cron: c.Trigger.Cron, IntervalSeconds: int64(c.Trigger.Interval / time.Second),
			StartsAt: micros(c.Trigger.Start), EndsAt: micros(c.Trigger.End), MaxConcurrency: c.MaxConcurrency, NoCatchup: c.NoCatchup,
			Parameters: toJSON(c.Parameters), UpdatedAt: micros(c.UpdatedAt), Manifest: kept, ByVersion: c.ByVersion,
		})
		if err != nil {
			return trouble("change schedule", err)
		}
		if retimed {
			if err := q.SetScheduleLastAt(ctx, query.SetScheduleLastAtParams{ID: c.ID, LastAt: micros(c.LastAt)}); err != nil {
				return trouble("change schedule", err)
			}
		}
		return dropManifests(ctx, q, row.Manifest)
	})
}

// AdvanceSchedule implements schedule.Store.
func (s *schedules) AdvanceSchedule(ctx context.Context, before, after schedule.Schedule) (advanced bool, err error) {
	err = s.write(ctx, func(q *query.Queries) error {
		n, err := q.SetScheduleLastIndex(ctx, query.SetScheduleLastIndexParams{ID: before.ID, LastIndex: after.LastIndex})
		if err != nil || n == 0 {
			return orNotFound("job", before.ID, err)
		}
		t := before.Trigger
		n, err = q.AdvanceSchedule(ctx, query.AdvanceScheduleParams{
			LastAt: micros(after.LastAt), Message: after.Message, ID: before.ID, LastAt_2: micros(before.LastAt),
			Cron: t.Cron, IntervalSeconds: int64(t.Interval / time.Second), StartsAt: micros(t.Start), EndsAt: micros(t.End),
		})
		advanced = n > 0
		return trouble("advance schedule", err)
	})
	return advanced, err
}

// OpenRuns implements schedule.Store.
func (s *schedules) OpenRuns(ctx context.Context, id string) (int64, error) {
	n, err := s.read().OpenRunsOfSchedule(ctx, id)
	return n, trouble("count open runs", err)
}

// DeleteSchedule implements schedule.Store.
func (s *schedules) DeleteSchedule(ctx context.Context, id string) error {
	return s.write(ctx, func(q *query.Queries) error {
		row, err := q.ScheduleRow(ctx, id)
		if err != nil {
			return missing("job", id, err)
		}
		if err := q.DeleteSchedule(ctx, row.Seq); err != nil {
			return trouble("delete schedule", err)
		}
		return dropManifests(ctx, q, row.Manifest)
	})
}

func scheduleOf(row query.Schedule, experimentName string) (schedule.Schedule, error) {
	s := schedule.Schedule{
		ID: row.ID, Name: row.Name, Description: row.Description,
		ExperimentID: row.ExperimentID, ExperimentName: experimentName,
		PipelineID: row.PipelineID, PipelineName: row.PipelineName, VersionID: row.VersionID, VersionName: row.VersionName,
		ServiceAccount: row.ServiceAccount, Resource: row.Resource, ByVersion: row.ByVersion,
		Trigger: schedule.Trigger{
			Cron: row.Cron, Interval: time.Duration(row.IntervalSeconds) * time.Second, Start: timeOf(row.StartsAt), End: timeOf(row.EndsAt),
		},
		MaxConcurrency: row.MaxConcurrency, Enabled: row.Enabled, NoCatchup: row.NoCatchup, Message: row.Message,
		CreatedAt: timeOf(row.CreatedAt), UpdatedAt: timeOf(row.UpdatedAt), LastAt: timeOf(row.LastAt), LastIndex: row.LastIndex,
	}
	return s, fromJSON(row.Parameters, &s.Parameters)
}
