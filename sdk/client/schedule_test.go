package client_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/run"
)

// A job of every second starts runs, with its time in their parameters, until it is disabled.
func TestJobsStartRuns(t *testing.T) {
	t.Parallel()
	b, c := realServer(t)
	ctx := t.Context()
	pipeline, err := c.Pipelines.Upload(ctx, "hello", strings.NewReader(enginetest.Manifest))
	require.NoError(t, err)
	experiment, err := c.Experiments.Ensure(ctx, "nightly")
	require.NoError(t, err)
	made, err := c.Schedules.Create(ctx, client.NewSchedule{
		NewRun: client.NewRun{
			Name: "each second", Description: "quick", PipelineID: pipeline.ID, ExperimentID: experiment.ID,
			Parameters: []client.Parameter{{Name: "greeting", Value: "run [[Index]]"}},
		},
		Trigger: client.Trigger{Every: time.Second}, MaxConcurrency: 2,
	})
	require.NoError(t, err)
	require.Equal(t, "each second quick Enabled every 1s nightly hello", strings.Join(
		[]string{made.Name, made.Description, made.Status, made.Trigger.String(), made.Experiment.Name, made.Pipeline.Name}, " "))
	require.True(t, made.Enabled)
	require.False(t, made.NoCatchup)
	require.Equal(t, 2, made.MaxConcurrency)

	// On a slow machine there may be two runs before the first is seen.
	var first client.Run
	require.Eventually(t, func() bool {
		runs, err := c.Schedules.Runs(ctx, made.ID, client.ListOptions{})
		if err != nil || runs.Total == 0 {
			return false
		}
		first = slices.MinFunc(runs.Items, func(a, b client.Run) int { return a.ScheduledAt.Compare(b.ScheduledAt) })
		return true
	}, 5*time.Minute, 20*time.Millisecond)
	require.NoError(t, c.Schedules.Disable(ctx, made.ID))
	require.WithinDuration(t, made.CreatedAt.Add(time.Second), first.ScheduledAt.Truncate(time.Second), 0)
	require.Zero(t, first.FinishedAt)
	require.Equal(t, "nightly", first.Experiment.Name)
	state := b.Until(t, first.ID, func(r run.Run) bool { return b.Workflow(t, r) != nil })
	require.Equal(t, "run 1", b.Workflow(t, state).Spec.Arguments.Parameters[0].Value.String())
	finish(t, b, state, wfv1.WorkflowSucceeded, 7)
	ended, err := c.Runs.Wait(ctx, first.ID)
	require.NoError(t, err)
	require.Equal(t, client.Succeeded, ended.Status)
	runs, err := c.Schedules.Runs(ctx, made.ID, client.ListOptions{SortBy: "created_at asc"})
	require.NoError(t, err)
	listed := slices.IndexFunc(runs.Items, func(r client.Run) bool { return r.ID == first.ID })
	require.GreaterOrEqual(t, listed, 0)
	require.Equal(t, "images/sec 7", runs.Items[listed].Metrics[0].Name+" "+runs.Items[listed].Metrics[0].String())
	require.NotZero(t, runs.Items[listed].FinishedAt)

	disabled, err := c.Schedules.Get(ctx, made.ID)
	require.NoError(t, err)
	require.Equal(t, client.ScheduleDisabled, disabled.Status)
	require.NoError(t, c.Schedules.Enable(ctx, made.ID))
	enabled, err := c.Schedules.Get(ctx, made.ID)
	require.NoError(t, err)
	require.True(t, enabled.Enabled)
	changed, err := c.Schedules.Update(ctx, made.ID, client.NewSchedule{
		NewRun:  client.NewRun{Name: "each day", PipelineID: pipeline.ID, ExperimentID: experiment.ID},
		Trigger: client.Trigger{Cron: "@daily"}, MaxConcurrency: 3, NoCatchup: true, Disabled: true,
	})
	require.NoError(t, err)
	require.Equal(t, []any{made.ID, "each day", "cron @daily", 3, true, true}, []any{
		changed.ID, changed.Name, changed.Trigger.String(), changed.MaxConcurrency, changed.NoCatchup, changed.Enabled,
	}, "it stays enabled")
	require.NoError(t, c.Schedules.Delete(ctx, made.ID))
	_, err = c.Schedules.Get(ctx, made.ID)
	require.True(t, client.IsNotFound(err), "%v", err)
	_, err = c.Runs.Get(ctx, first.ID)
	require.NoError(t, err, "its runs stay")
}

func TestJobLists(t *testing.T) {
	t.Parallel()
	_, c := realServer(t)
	ctx := t.Context()
	pipeline, err := c.Pipelines.Upload(ctx, "hello", strings.NewReader(enginetest.Manifest))
	require.NoError(t, err)
	other, err := c.Experiments.Ensure(ctx, "other")
	require.NoError(t, err)
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, n := range map[string]client.NewSchedule{
		"daily": {Trigger: client.Trigger{Cron: "@daily", Start: start, End: start.AddDate(1, 0, 0)}},
		"noon":  {Trigger: client.Trigger{Cron: "0 0 12 * * *"}, Disabled: true, NoCatchup: true},
		"later": {Trigger: client.Trigger{Every: time.Hour}, NewRun: client.NewRun{ExperimentID: other.ID}},
	} {
		n.Name, n.PipelineID = name, pipeline.ID
		made, err := c.Schedules.Create(ctx, n)
		require.NoError(t, err)
		require.Equal(t, n.NoCatchup, made.NoCatchup)
	}
	var names []string
	for j, err := range c.Schedules.All(ctx, client.ScheduleListOptions{ListOptions: client.ListOptions{PageSize: 2, SortBy: "name"}}) {
		require.NoError(t, err)
		names = append(names, j.Name+" "+j.Status+" "+j.Trigger.String())
	}
	require.Equal(t, []string{"daily Enabled cron @daily", "later Enabled every 1h0m0s", "noon Disabled cron 0 0 12 * * *"}, names)
	page, err := c.Schedules.List(ctx, client.ScheduleListOptions{ExperimentID: other.ID})
	require.NoError(t, err)
	require.Equal(t, 1, page.Total)
	require.Equal(t, "later", page.Items[0].Name)
	daily, err := c.Schedules.List(ctx, client.ScheduleListOptions{ListOptions: client.ListOptions{Filter: []client.Predicate{client.Equals("name", "daily")}}})
	require.NoError(t, err)
	require.Equal(t, client.Trigger{Cron: "@daily", Start: start, End: start.AddDate(1, 0, 0)}, daily.Items[0].Trigger)

	_, err = c.Schedules.Create(ctx, client.NewSchedule{NewRun: client.NewRun{Name: "wrong", PipelineID: pipeline.ID}, Trigger: client.Trigger{Cron: "tomorrow"}})
	require.True(t, client.IsInvalid(err), "%v", err)
	require.ErrorContains(t, err, `cron "tomorrow" cannot be read`)
}

func TestTriggersOnTheWire(t *testing.T) {
	t.Parallel()
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for want, trigger := range map[string]client.Trigger{
		`{}`: {},
		`{"cron_schedule":{"start_time":"2030-01-01T00:00:00Z","cron":"@hourly"}}`:                                             {Cron: "@hourly", Start: start},
		`{"periodic_schedule":{"start_time":"2030-01-01T00:00:00Z","end_time":"2030-01-01T01:00:00Z","interval_second":"90"}}`: {Every: 90 * time.Second, Start: start, End: start.Add(time.Hour)},
	} {
		data, err := json.Marshal(trigger)
		require.NoError(t, err)
		require.Equal(t, want, string(data))
		var back client.Trigger
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, trigger, back)
	}
	require.Equal(t, "once", client.Trigger{}.String())
}
