package schedule_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/schedule"
	"github.com/argosy-ml/argosy/test/leaks"
)

func TestMain(m *testing.M) {
	leaks.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}

// warm uses what the process has once, such as the compressor of manifests, so that no bubble of made-up time owns it.
func warm(t *testing.T) {
	t.Helper()
	b := enginetest.New(t)
	_, err := b.Runs.Reader.Manifest(t.Context(), b.Start(t).ID)
	require.NoError(t, err)
}

// start starts runs that are due until what it returns ends it.
func start(t *testing.T, b *enginetest.Bundle) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Schedules.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(t, <-done)
	}
}

func request(trigger schedule.Trigger, concurrency int64) schedule.Request {
	return schedule.Request{
		Run: run.Request{Name: "Tick", Manifest: []byte(enginetest.Manifest), Parameters: []run.Parameter{
			{Name: "greeting", Value: "[[Index]] [[ScheduledTime.15:04:05]]"},
		}},
		Trigger: trigger, MaxConcurrency: concurrency, Enabled: true,
	}
}

// greetings gives what the Workflows of a schedule were started with, in order.
func greetings(t *testing.T, b *enginetest.Bundle, id string) []string {
	t.Helper()
	p, err := b.Runs.Reader.List(t.Context(), listing.Query{Size: 100}, run.Scope{ScheduleID: id})
	require.NoError(t, err)
	var all []string
	for _, r := range p.Items {
		wf := b.Workflow(t, r)
		require.NotNil(t, wf, r.Name)
		require.Equal(t, r.Name, wf.Name)
		require.Equal(t, wf.Spec.Arguments.Parameters[0].Value.String(), r.Parameters[0].Value, "a run lists what its tick made of the macros")
		all = append(all, wf.Spec.Arguments.Parameters[0].Value.String())
	}
	slices.Sort(all)
	return all
}

// TestEveryHour lets hours of made-up time pass. The store and the cluster are real but for the fake clientset.
func TestEveryHour(t *testing.T) {
	t.Parallel()
	warm(t)
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.New(t) // it is midnight of January 1st, 2000
		stop := start(t, b)
		made, err := b.Schedules.Create(t.Context(), request(schedule.Trigger{Interval: time.Hour, End: time.Now().Add(5*time.Hour + time.Minute)}, 10))
		require.NoError(t, err)
		time.Sleep(2*time.Hour + time.Second)
		synctest.Wait()
		require.Equal(t, []string{"1 01:00:00", "2 02:00:00"}, greetings(t, b, made.ID))

		require.NoError(t, b.Schedules.Enable(t.Context(), made.ID, false))
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		require.Len(t, greetings(t, b, made.ID), 2, "a disabled schedule starts nothing")
		stop()

		require.NoError(t, b.Schedules.Enable(t.Context(), made.ID, true))
		stop = start(t, b) // another server, that finds what is in the store
		synctest.Wait()
		require.Equal(t, []string{"1 01:00:00", "2 02:00:00", "3 03:00:00", "4 04:00:00"}, greetings(t, b, made.ID), "what was missed is made up for")
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		require.Len(t, greetings(t, b, made.ID), 5, "and the end is the end")
		stop()

		r, err := b.Runs.Reader.List(t.Context(), listing.Query{Size: 1}, run.Scope{ScheduleID: made.ID})
		require.NoError(t, err)
		kept, err := b.Schedules.Get(t.Context(), made.ID)
		require.NoError(t, err)
		require.Equal(t, "[[Index]] [[ScheduledTime.15:04:05]]", kept.Parameters[0].Value, "the schedule lists them as they were given")
		labels := b.Workflow(t, r.Items[0]).Labels
		require.Equal(t, []string{made.Resource, "946688400", "1", "true"}, []string{
			labels["scheduledworkflows.kubeflow.org/scheduledWorkflowName"], labels["scheduledworkflows.kubeflow.org/workflowEpoch"],
			labels["scheduledworkflows.kubeflow.org/workflowIndex"], labels["scheduledworkflows.kubeflow.org/isOwnedByScheduledWorkflow"],
		})
	})
}

// A changed schedule keeps its runs and their numbers; a new trigger makes up for nothing that lies before the change.
func TestUpdate(t *testing.T) {
	t.Parallel()
	warm(t)
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.New(t) // it is midnight
		stop := start(t, b)
		made, err := b.Schedules.Create(t.Context(), request(schedule.Trigger{Interval: 4 * time.Hour}, 10))
		require.NoError(t, err)
		time.Sleep(6*time.Hour + 30*time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"1 04:00:00"}, greetings(t, b, made.ID))

		asked := request(schedule.Trigger{Interval: time.Hour}, 3)
		asked.Run.Name, asked.Enabled = "Tock", false
		asked.Run.Parameters[0].Value = "[[Index]] tock [[ScheduledTime.15:04:05]]"
		changed, err := b.Schedules.Update(t.Context(), made.ID, asked)
		require.NoError(t, err)
		kept, err := b.Schedules.Get(t.Context(), made.ID)
		require.NoError(t, err)
		require.Equal(t, []any{"Tock", int64(3), time.Hour, made.Resource, true}, []any{kept.Name, kept.MaxConcurrency, kept.Trigger.Interval, kept.Resource, kept.Enabled})
		require.Equal(t, kept.Parameters, changed.Parameters)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"1 04:00:00", "2 tock 07:00:00"}, greetings(t, b, made.ID))

		asked.Trigger = schedule.Trigger{Cron: "0 0 12 * * *"}
		_, err = b.Schedules.Update(t.Context(), made.ID, asked)
		require.NoError(t, err)
		time.Sleep(5 * time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"1 04:00:00", "2 tock 07:00:00", "3 tock 12:00:00"}, greetings(t, b, made.ID))

		asked.MaxConcurrency = 11
		_, err = b.Schedules.Update(t.Context(), made.ID, asked)
		require.ErrorContains(t, err, "max_concurrency is 11")
		_, err = b.Schedules.Update(t.Context(), "none", asked)
		require.ErrorContains(t, err, "job none not found")
		stop()
	})
}

// A change that meets a run of the times before it stands: what was missed of those times is not made up for.
func TestUpdateMeetsRun(t *testing.T) {
	t.Parallel()
	warm(t)
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.New(t) // it is midnight
		made, err := b.Schedules.Create(t.Context(), request(schedule.Trigger{Interval: time.Hour}, 10))
		require.NoError(t, err)
		time.Sleep(3*time.Hour + 10*time.Minute) // on synctest's clock, while no server runs
		s := &interrupted{Store: b.Store, meanwhile: func() {
			_, err := b.Schedules.Update(t.Context(), made.ID, request(schedule.Trigger{Cron: "30 * * * *"}, 10))
			require.NoError(t, err)
		}}
		late := schedule.NewService(schedule.Config{Store: s, Runs: b.Runs, Now: time.Now, Log: b.Log})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- late.Run(ctx) }()
		synctest.Wait()
		require.Equal(t, []string{"1 01:00:00"}, greetings(t, b, made.ID), "its run was being started")
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"1 01:00:00", "2 03:30:00"}, greetings(t, b, made.ID))
		cancel()
		require.NoError(t, <-done)
	})
}

// interrupted is a store in which something happens while the first run is being started.
type interrupted struct {
	schedule.Store
	meanwhile func()
}

func (s *interrupted) ScheduleManifest(ctx context.Context, id string) ([]byte, error) {
	manifest, err := s.Store.ScheduleManifest(ctx, id)
	if s.meanwhile != nil {
		s.meanwhile()
		s.meanwhile = nil
	}
	return manifest, err
}

// A schedule whose version is deleted runs on, and is changed without choosing another.
func TestUpdateWithoutItsVersion(t *testing.T) {
	t.Parallel()
	b := enginetest.New(t)
	p, err := b.Pipelines.Create(t.Context(), pipeline.Upload{FileName: "hello.yaml", Name: "hello", Data: []byte(enginetest.Manifest)})
	require.NoError(t, err)
	q := request(schedule.Trigger{Interval: time.Hour}, 1)
	q.Run.Manifest, q.Run.VersionID = nil, p.Default.ID
	made, err := b.Schedules.Create(t.Context(), q)
	require.NoError(t, err)
	require.NoError(t, b.Pipelines.DeleteVersion(t.Context(), p.Default.ID))

	q.Run.Name, q.Run.Parameters[0].Value = "Tock", "bye"
	for _, pipelineID := range []string{"", p.ID} {
		q.Run.PipelineID = pipelineID
		_, err = b.Schedules.Update(t.Context(), made.ID, q)
		require.NoError(t, err)
	}
	kept, err := b.Schedules.Get(t.Context(), made.ID)
	require.NoError(t, err)
	require.Equal(t, []any{"Tock", "bye", p.ID, "hello", p.Default.ID, "hello", true},
		[]any{kept.Name, kept.Parameters[0].Value, kept.PipelineID, kept.PipelineName, kept.VersionID, kept.VersionName, kept.ByVersion})
	q.Run.Parameters[0].Name = "none"
	_, err = b.Schedules.Update(t.Context(), made.ID, q)
	require.ErrorContains(t, err, "none", "the manifest says which parameters there are")
	q.Run.VersionID = "other"
	_, err = b.Schedules.Update(t.Context(), made.ID, q)
	require.Error(t, err)
}

func TestNoCatchUp(t *testing.T) {
	t.Parallel()
	warm(t)
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.New(t)
		q := request(schedule.Trigger{Cron: "0 */10 * * * *"}, 10)
		q.NoCatchup = true
		made, err := b.Schedules.Create(t.Context(), q)
		require.NoError(t, err)
		time.Sleep(time.Hour + time.Minute) // the server is down
		stop := start(t, b)
		synctest.Wait()
		require.Equal(t, []string{"1 01:00:00"}, greetings(t, b, made.ID), "of the six that were missed, the newest")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"1 01:00:00", "2 01:10:00"}, greetings(t, b, made.ID))
		stop()
	})
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	warm(t)
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.New(t)
		stop := start(t, b)
		made, err := b.Schedules.Create(t.Context(), request(schedule.Trigger{Interval: time.Minute}, 2))
		require.NoError(t, err)
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		require.Len(t, greetings(t, b, made.ID), 2)
		p, err := b.Runs.Reader.List(t.Context(), listing.Query{Size: 1}, run.Scope{ScheduleID: made.ID})
		require.NoError(t, err)
		require.NoError(t, b.Store.SetStatus(t.Context(), p.Items[0].ID, run.Succeeded, ""))
		b.Feed.Publish(p.Items[0].ID)
		synctest.Wait()
		require.Equal(t, []string{"1 00:01:00", "2 00:02:00", "3 00:03:00"}, greetings(t, b, made.ID), "the next in turn, as soon as there is room")
		stop()
	})
}

// TestNothingTwice breaks off between the run and the note of it.
func TestNothingTwice(t *testing.T) {
	t.Parallel()
	warm(t)
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.New(t)
		broken := schedule.NewService(schedule.Config{Store: forgetful{b.Store}, Runs: b.Runs, Now: time.Now, Log: b.Log})
		made, err := broken.Create(t.Context(), request(schedule.Trigger{}, 1))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- broken.Run(ctx) }()
		synctest.Wait()
		cancel()
		require.NoError(t, <-done)
		require.Len(t, greetings(t, b, made.ID), 1)
		before, err := b.Schedules.Get(t.Context(), made.ID)
		require.NoError(t, err)
		require.Zero(t, before.LastIndex, "the note was lost")

		p, err := b.Runs.Reader.List(t.Context(), listing.Query{Size: 1}, run.Scope{})
		require.NoError(t, err)
		require.NoError(t, b.Store.SetStatus(t.Context(), p.Items[0].ID, run.Succeeded, ""))
		stop := start(t, b)
		synctest.Wait()
		require.Len(t, greetings(t, b, made.ID), 1)
		after, err := b.Schedules.Get(t.Context(), made.ID)
		require.NoError(t, err)
		require.EqualValues(t, 1, after.LastIndex)
		require.True(t, after.Next().IsZero())
		stop()
	})
}

// forgetful is a store that loses the notes of what was started.
type forgetful struct{ schedule.Store }

func (forgetful) AdvanceSchedule(context.Context, schedule.Schedule, schedule.Schedule) (bool, error) {
	return false, errors.New("the disk is full")
}

// TestClusterRefuses: a schedule reports a run that can never be made, and goes on.
func TestClusterRefuses(t *testing.T) {
	t.Parallel()
	warm(t)
	synctest.Test(t, func(t *testing.T) {
		b := enginetest.New(t)
		refusals := 1
		b.Argo.PrependReactor("create", "workflows", func(clienttesting.Action) (bool, runtime.Object, error) {
			refusals--
			return refusals >= 0, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "workflows"}, "x", errors.New("over quota"))
		})
		stop := start(t, b)
		made, err := b.Schedules.Create(t.Context(), request(schedule.Trigger{Interval: time.Hour}, 1))
		require.NoError(t, err)
		time.Sleep(time.Hour + time.Second)
		synctest.Wait()
		now, err := b.Schedules.Get(t.Context(), made.ID)
		require.NoError(t, err)
		require.Contains(t, now.Message, "the run of 2000-01-01T01:00:00Z could not be started")
		require.Contains(t, now.Message, "over quota")
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"1 02:00:00"}, greetings(t, b, made.ID))
		now, err = b.Schedules.Get(t.Context(), made.ID)
		require.NoError(t, err)
		require.Empty(t, now.Message)
		stop()
		var list *wfv1.WorkflowList
		list, err = b.Argo.ArgoprojV1alpha1().Workflows(enginetest.Namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, list.Items, 1)
	})
}
