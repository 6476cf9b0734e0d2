package conformance

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/schedule"
)

func schedules(t *testing.T, s Store) {
	ctx := t.Context()
	require.NoError(t, s.CreateExperiment(ctx, experiment.Experiment{ID: "e", Name: "the experiment", CreatedAt: at(0)}))
	want := schedule.Schedule{
		ID: "s1", Name: "nightly", Description: "d", ExperimentID: "e", ExperimentName: "the experiment", PipelineID: "p", PipelineName: "pn",
		VersionID: "v", VersionName: "vn", ServiceAccount: "sa", Resource: "nightly-s1",
		Trigger:        schedule.Trigger{Interval: time.Hour, Start: at(10), End: at(1e6)},
		MaxConcurrency: 2, Enabled: true, NoCatchup: true, Parameters: []run.Parameter{{Name: "a", Value: "<b>"}}, CreatedAt: at(0), UpdatedAt: at(0),
	}
	require.NoError(t, s.CreateSchedule(ctx, want, []byte("manifest")))
	requireKind(t, apierr.Conflict, s.CreateSchedule(ctx, want, []byte("manifest")))
	cron := schedule.Schedule{ID: "s2", Name: "cron", ExperimentID: "other", Trigger: schedule.Trigger{Cron: "* * * * * *"}, MaxConcurrency: 1, CreatedAt: at(1), UpdatedAt: at(1)}
	require.NoError(t, s.CreateSchedule(ctx, cron, []byte("other")))
	got, err := s.Schedule(ctx, "s1")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(want, got))
	manifest, err := s.ScheduleManifest(ctx, "s1")
	require.NoError(t, err)
	require.Equal(t, "manifest", string(manifest))

	all, err := s.Schedules(ctx, listing.Query{Size: 10, SortBy: "name"}, "")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff([]schedule.Schedule{cron, want}, all.Items, ignoreOrder()))
	some, err := s.Schedules(ctx, listing.Query{Size: 10}, "e")
	require.NoError(t, err)
	require.EqualValues(t, 1, some.Total)
	enabled, err := s.EnabledSchedules(ctx)
	require.NoError(t, err)
	require.Equal(t, []schedule.Schedule{want}, enabled)

	advance(t, s, want, at(20), 3, "oh", true)
	require.NoError(t, s.ArchiveExperiment(ctx, "e", true))
	got, err = s.Schedule(ctx, "s1")
	require.NoError(t, err)
	require.False(t, got.Enabled, "archiving the experiment disables its schedules")
	require.Equal(t, []any{at(20), int64(3), "oh"}, []any{got.LastAt, got.LastIndex, got.Message})
	require.NoError(t, s.EnableSchedule(ctx, "s1", true, at(30)))

	for i, status := range []string{"", run.Running, run.Terminating, run.Succeeded, run.Error, run.Terminated} {
		r := newRun(i)
		r.ScheduleID, r.ScheduleName, r.Status = "s1", "nightly", status
		accept(t, s, r)
	}
	accept(t, s, newRun(9))
	open, err := s.OpenRuns(ctx, "s1")
	require.NoError(t, err)
	require.EqualValues(t, 3, open)
	require.Len(t, walk(t, s, listing.Query{Size: 2}, run.Scope{ScheduleID: "s1"}), 6)
	r, err := s.Run(ctx, "run-000")
	require.NoError(t, err)
	require.Equal(t, []string{"s1", "nightly"}, []string{r.ScheduleID, r.ScheduleName})

	scheduleChanges(t, s)
	require.NoError(t, s.DeleteSchedule(ctx, "s1"))
	for _, err := range []error{
		s.DeleteSchedule(ctx, "s1"), s.EnableSchedule(ctx, "s1", true, at(0)),
		s.UpdateSchedule(ctx, schedule.Schedule{ID: "s1", Name: "n"}, []byte("newer"), false),
	} {
		requireKind(t, apierr.NotFound, err)
	}
	_, err = s.AdvanceSchedule(ctx, want, want)
	requireKind(t, apierr.NotFound, err)
	_, err = s.Schedule(ctx, "s1")
	requireKind(t, apierr.NotFound, err)
	_, err = s.ScheduleManifest(ctx, "s1")
	requireKind(t, apierr.NotFound, err)
	_, err = s.RunManifest(ctx, "run-000")
	require.NoError(t, err, "the runs stay, and their manifest with them")
}

func retry(t *testing.T, s Store) {
	ctx := t.Context()
	accept(t, s, newRun(1))
	require.NoError(t, s.Submitted(ctx, "run-001"))
	_, err := s.Record(ctx, "run-001", run.State{Status: run.Failed, Message: "no", FinishedAt: at(9), Nodes: []run.Node{{ID: "good"}, {ID: "bad"}}})
	require.NoError(t, err)
	_, err = s.AddMetrics(ctx, "run-001", []run.Metric{{NodeID: "bad", Name: "loss", Value: 9}, {NodeID: "good", Name: "loss", Value: 5}})
	require.NoError(t, err)
	require.NoError(t, s.Settle(ctx, "run-001"))

	require.NoError(t, s.Retry(ctx, "run-001", 1, run.Again{Workflow: []byte("again"), Dropped: []string{"bad"}}))
	r, err := s.Run(ctx, "run-001")
	require.NoError(t, err)
	require.Equal(t, []any{run.Running, "", int64(1), false, true}, []any{r.Status, r.Message, r.Attempt, r.Settled, r.FinishedAt.IsZero()})
	require.Equal(t, []run.Metric{{NodeID: "good", Name: "loss", Value: 5}}, r.Metrics)
	sorted := walk(t, s, listing.Query{Size: 1, SortBy: "metric:loss"}, run.Scope{})
	require.Equal(t, []string{"run-001"}, sorted)
	left, err := s.Unsubmitted(ctx)
	require.NoError(t, err)
	require.Equal(t, []run.Accepted{{RunID: "run-001", Workflow: []byte("again")}}, left, "the new attempt is in the outbox")
	changed, err := s.Record(ctx, "run-001", run.State{Status: run.Failed, FinishedAt: at(9)})
	require.NoError(t, err)
	require.False(t, changed, "what is still heard of the attempt before is no news")
	changed, err = s.Record(ctx, "run-001", run.State{Status: run.Succeeded, FinishedAt: at(19), Attempt: 1})
	require.NoError(t, err)
	require.True(t, changed, "the run may end anew")
	requireKind(t, apierr.NotFound, s.Retry(ctx, "none", 1, run.Again{}))
}

// scheduleChanges changes the schedule s1.
func scheduleChanges(t *testing.T, s Store) {
	ctx := t.Context()
	got, err := s.Schedule(ctx, "s1")
	require.NoError(t, err)
	changed := got
	changed.Name, changed.Trigger, changed.MaxConcurrency, changed.NoCatchup = "weekly", schedule.Trigger{Cron: "@weekly"}, 5, false
	changed.Parameters, changed.VersionID, changed.UpdatedAt, changed.LastAt = []run.Parameter{{Name: "a", Value: "c"}}, "v2", at(40), at(35)
	require.NoError(t, s.UpdateSchedule(ctx, changed, []byte("newer"), false))
	changed.Message, changed.LastAt = "", got.LastAt
	got, err = s.Schedule(ctx, "s1")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(changed, got))
	changed.LastAt = at(35)
	require.NoError(t, s.UpdateSchedule(ctx, changed, []byte("newer"), true))
	got, err = s.Schedule(ctx, "s1")
	require.NoError(t, err)
	require.Equal(t, at(35), got.LastAt)
	manifest, err := s.ScheduleManifest(ctx, "s1")
	require.NoError(t, err)
	require.Equal(t, "newer", string(manifest))
}

// advance notes that a time of the schedule before was dealt with.
func advance(t *testing.T, s Store, before schedule.Schedule, last time.Time, index int64, message string, want bool) {
	t.Helper()
	after := before
	after.LastAt, after.LastIndex, after.Message = last, index, message
	advanced, err := s.AdvanceSchedule(t.Context(), before, after)
	require.NoError(t, err)
	require.Equal(t, want, advanced)
}

// A change of a schedule's times stands, also when a run of the times before is noted after it.
func changeMeetsRun(t *testing.T, s Store) {
	ctx := t.Context()
	read := schedule.Schedule{ID: "s1", Name: "n", Trigger: schedule.Trigger{Interval: time.Hour}, MaxConcurrency: 1, Enabled: true, CreatedAt: at(0), UpdatedAt: at(0)}
	require.NoError(t, s.CreateSchedule(ctx, read, []byte("manifest")))
	for i, change := range []struct {
		what    string
		trigger schedule.Trigger
		last    time.Time
		retimed bool
		stands  bool
	}{
		{"its name", read.Trigger, time.Time{}, false, true},
		{"the interval", schedule.Trigger{Interval: time.Minute}, time.Time{}, true, false},
		{"to cron", schedule.Trigger{Cron: "@daily"}, time.Time{}, true, false},
		{"the start", schedule.Trigger{Interval: time.Hour, Start: at(5)}, time.Time{}, true, false},
		{"the end", schedule.Trigger{Interval: time.Hour, End: at(1e6)}, time.Time{}, true, false},
		{"back again, later", read.Trigger, at(60), true, false},
	} {
		require.NoError(t, s.UpdateSchedule(ctx, read, []byte("manifest"), true), change.what)
		changed := read
		changed.Trigger, changed.LastAt, changed.Name = change.trigger, change.last, change.what
		require.NoError(t, s.UpdateSchedule(ctx, changed, []byte("manifest"), change.retimed))
		advance(t, s, read, at(30), int64(i+1), "old", change.stands)
		got, err := s.Schedule(ctx, "s1")
		require.NoError(t, err)
		require.EqualValues(t, i+1, got.LastIndex, "the run has the number")
		if change.stands {
			require.Equal(t, []any{at(30), "old"}, []any{got.LastAt, got.Message}, change.what)
			continue
		}
		require.True(t, got.LastAt.Equal(change.last), "%s: %s", change.what, got.LastAt)
		require.Empty(t, got.Message, change.what)
	}
}
