// Package conformance tests that a store fulfils the interfaces of the domain packages; every driver runs it.
package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/cache"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/pipeline"
	"github.com/argosy-ml/argosy/server/retention"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/schedule"
	"github.com/argosy-ml/argosy/server/task"
)

// Store is all that a driver implements.
type Store interface {
	experiment.Store
	pipeline.Store
	run.Store
	schedule.Store
	cache.Store
	retention.Store
	task.Store
	logs.Store
}

// Run runs the suite; open gives an empty store that lives as long as the test.
func Run(t *testing.T, open func(t *testing.T) Store) {
	for name, check := range map[string]func(*testing.T, Store){
		"Experiments":           experiments,
		"ArchiveExperiment":     archiveExperiment,
		"DeletedExperiment":     deletedExperiment,
		"Manifests":             manifests,
		"Pipelines":             pipelines,
		"Versions":              versions,
		"SharedManifest":        sharedManifest,
		"AcceptedRun":           acceptedRun,
		"Outbox":                outbox,
		"Record":                record,
		"RecordKeepsFinal":      recordKeepsFinal,
		"RecordKeepsTerminate":  recordKeepsTerminating,
		"MetricsFirstWriteWins": metrics,
		"Warnings":              warnings,
		"DeleteRun":             deleteRun,
		"Retry":                 retry,
		"Cache":                 cached,
		"Prunable":              prunable,
		"Takers":                takers,
		"Schedules":             schedules,
		"ChangeMeetsRun":        changeMeetsRun,
		"Tasks":                 tasks,
		"Waits":                 waits,
		"Logs":                  keptLogs,
		"LogParts":              logParts,
		"Sort":                  sortRuns,
		"SortByMetric":          sortByMetric,
		"Filter":                filter,
		"Totals":                totals,
		"RefusedQueries":        refusedQueries,
		"PagingWhileRowsCome":   pagingWhileRowsCome,
		"Concurrent":            concurrent,
		"Texts":                 texts,
		"LongNames":             longNames,
		"Together":              together,
		"Changes":               changes,
		"ChangesOfNodes":        changesOfNodes,
		"Series":                series,
		"SeriesExtremes":        seriesExtremes,
		"CurvesOfRuns":          curvesOfRuns,
		"NodesOfARetry":         nodesOfARetry,
		"Scans":                 scans,
		"Visuals":               visuals,
		"Search":                searchRuns,
		"SearchChanges":         searchChanges,
		"ListNodes":             listNodes,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, open(t))
		})
	}
}

var start = time.Date(2026, 3, 4, 5, 6, 7, 123_000, time.UTC)

func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func ignoreOrder() cmp.Option { return cmpopts.EquateEmpty() }

func requireKind(t *testing.T, kind apierr.Kind, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, kind, apierr.KindOf(err), "%v", err)
}

func newRun(i int) run.Run {
	return run.Run{
		ID: fmt.Sprintf("run-%03d", i), Name: fmt.Sprintf("name %d", i), ExperimentID: "e", Namespace: "kubeflow",
		Workflow: fmt.Sprintf("wf-%d", i), CreatedAt: at(i), ScheduledAt: at(i),
	}
}

func accept(t *testing.T, s Store, r run.Run) {
	t.Helper()
	require.NoError(t, s.Accept(t.Context(), r, []byte("manifest"), []byte(`{"prepared":"`+r.ID+`"}`)))
}

// walk reads all pages of runs; every cursor goes through JSON, as it does between two requests.
func walk(t *testing.T, s Store, q listing.Query, sc run.Scope) []string {
	t.Helper()
	var ids []string
	total := int64(-1)
	for {
		p, err := s.Runs(t.Context(), q, sc)
		require.NoError(t, err)
		require.LessOrEqual(t, len(p.Items), q.Size)
		if total >= 0 {
			require.Equal(t, total, p.Total)
		}
		total = p.Total
		for _, r := range p.Items {
			ids = append(ids, r.ID)
		}
		if p.Next == nil {
			require.Len(t, ids, int(total))
			return ids
		}
		token, err := json.Marshal(p.Next)
		require.NoError(t, err)
		q.Start = &listing.Cursor{}
		require.NoError(t, json.Unmarshal(token, q.Start))
	}
}

func acceptedRun(t *testing.T, s Store) {
	ctx := context.Background()
	require.NoError(t, s.CreateExperiment(ctx, experiment.Experiment{ID: "e", Name: "the experiment", CreatedAt: at(0)}))
	want := newRun(1)
	want.Description, want.ServiceAccount = "d", "pipeline-runner"
	want.PipelineID, want.PipelineName, want.VersionID, want.VersionName, want.ByVersion = "p", "pn", "v", "vn", true
	want.Parameters = []run.Parameter{{Name: "workers", Value: "2"}, {Name: "data"}}
	want.Defaults = []run.Parameter{{Name: "gpus", Value: "1"}}
	accept(t, s, want)
	requireKind(t, apierr.Conflict, s.Accept(ctx, want, []byte("m"), []byte("w")))

	got, err := s.Run(ctx, want.ID)
	require.NoError(t, err)
	require.Positive(t, got.Revision)
	want.ExperimentName, want.Revision = "the experiment", got.Revision
	require.Empty(t, cmp.Diff(want, got, ignoreOrder()))
	list, err := s.Runs(ctx, listing.Query{Size: 10}, run.Scope{})
	require.NoError(t, err)
	require.Empty(t, cmp.Diff([]run.Run{want}, list.Items, ignoreOrder()), "a list gives the same as a single read")

	workflow, err := s.Workflow(ctx, want.ID)
	require.NoError(t, err)
	require.JSONEq(t, `{"prepared":"run-001"}`, string(workflow))
	nodes, err := s.Nodes(ctx, want.ID)
	require.NoError(t, err)
	require.Empty(t, nodes)

	for name, read := range map[string]func() error{
		"Run":         func() error { _, err := s.Run(ctx, "none"); return err },
		"Nodes":       func() error { _, err := s.Nodes(ctx, "none"); return err },
		"Workflow":    func() error { _, err := s.Workflow(ctx, "none"); return err },
		"RunManifest": func() error { _, err := s.RunManifest(ctx, "none"); return err },
		"Record":      func() error { _, err := s.Record(ctx, "none", run.State{}); return err },
		"SetStatus":   func() error { return s.SetStatus(ctx, "none", run.Failed, "") },
		"Submitted":   func() error { return s.Submitted(ctx, "none") },
		"Settle":      func() error { return s.Settle(ctx, "none") },
		"AddMetrics":  func() error { _, err := s.AddMetrics(ctx, "none", nil); return err },
	} {
		err := read()
		require.Equal(t, apierr.NotFound, apierr.KindOf(err), "%s: %v", name, err)
	}
}

func outbox(t *testing.T, s Store) {
	ctx := context.Background()
	accept(t, s, newRun(1))
	accept(t, s, newRun(2))
	require.NoError(t, s.Submitted(ctx, "run-001"))
	left, err := s.Unsubmitted(ctx)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, "run-002", left[0].RunID)
	require.JSONEq(t, `{"prepared":"run-002"}`, string(left[0].Workflow))
	open, err := s.Unsettled(ctx)
	require.NoError(t, err)
	require.Len(t, open, 1)
	require.Equal(t, []string{"run-001", "kubeflow", "wf-1"}, []string{open[0].ID, open[0].Namespace, open[0].Workflow})
	require.NoError(t, s.Settle(ctx, "run-001"))
	open, err = s.Unsettled(ctx)
	require.NoError(t, err)
	require.Empty(t, open)
	r, err := s.Run(ctx, "run-001")
	require.NoError(t, err)
	require.True(t, r.Settled)
}

func newState(status string) run.State {
	return run.State{
		Status: status, Message: "m", StartedAt: at(1), Workflow: []byte(`{"phase":"` + status + `"}`),
		Nodes: []run.Node{
			{ID: "root", Name: "wf", DisplayName: "wf", Type: "DAG", Template: "main", Phase: status, Children: []string{"step"}, StartedAt: at(1)},
			{
				ID: "step", Name: "wf.step", DisplayName: "step", Type: "Pod", Template: "step", Phase: status, Message: "why", ExitCode: "7",
				PodName: "wf-step-1", BoundaryID: "root", StartedAt: at(2), FinishedAt: at(3),
				Inputs: []run.Parameter{{Name: "a", Value: "1 < 2"}}, Outputs: []run.Parameter{{Name: "b", Value: "2"}},
				Artifacts: []run.Artifact{{Name: "mlpipeline-metrics", Key: "k"}},
			},
			{ID: "later", Type: "Pod", Phase: "Pending"},
		},
	}
}

func record(t *testing.T, s Store) {
	ctx := context.Background()
	accept(t, s, newRun(1))
	state := newState(run.Running)
	changed, err := s.Record(ctx, "run-001", state)
	require.NoError(t, err)
	require.True(t, changed)
	first, err := s.Run(ctx, "run-001")
	require.NoError(t, err)
	require.Equal(t, []any{run.Running, "m", at(1), time.Time{}}, []any{first.Status, first.Message, first.StartedAt, first.FinishedAt})
	nodes, err := s.Nodes(ctx, "run-001")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(state.Nodes, nodes, ignoreOrder()), "in the order they started, those that did not yet last")
	workflow, err := s.Workflow(ctx, "run-001")
	require.NoError(t, err)
	require.JSONEq(t, `{"phase":"Running"}`, string(workflow))

	changed, err = s.Record(ctx, "run-001", state)
	require.NoError(t, err)
	require.False(t, changed, "the same again changes nothing")
	again, err := s.Run(ctx, "run-001")
	require.NoError(t, err)
	require.Equal(t, first.Revision, again.Revision)

	require.NoError(t, s.SetHarvested(ctx, "run-001", "step", "runs/run-001/step/main.log", map[string]int64{"k": 7, "of another": 9}))
	requireKind(t, apierr.NotFound, s.SetHarvested(ctx, "run-001", "none", "k", nil))
	state = newState(run.Succeeded)
	state.FinishedAt = at(9)
	state.Nodes = state.Nodes[:2]
	changed, err = s.Record(ctx, "run-001", state)
	require.NoError(t, err)
	require.True(t, changed)
	last, err := s.Run(ctx, "run-001")
	require.NoError(t, err)
	require.Greater(t, last.Revision, first.Revision)
	require.Equal(t, at(9), last.FinishedAt)
	nodes, err = s.Nodes(ctx, "run-001")
	require.NoError(t, err)
	require.Len(t, nodes, 2, "nodes that the Workflow dropped are dropped")
	require.Equal(t, "runs/run-001/step/main.log", nodes[1].LogKey, "the log's key outlives a change of its node")
	require.Equal(t, run.Succeeded, nodes[1].Phase)
	require.True(t, nodes[1].Harvested)
	size := int64(7)
	require.Equal(t, []run.Artifact{{Name: "mlpipeline-metrics", Key: "k", Size: &size}}, nodes[1].Artifacts, "its size too")
	changed, err = s.Record(ctx, "run-001", state)
	require.NoError(t, err)
	require.False(t, changed, "sizes are no change of what the Workflow tells")
	state.Nodes[1].Artifacts = []run.Artifact{{Name: "mlpipeline-metrics", Key: "k"}, {Name: "late", Key: "l"}}
	_, err = s.Record(ctx, "run-001", state)
	require.NoError(t, err)
	nodes, err = s.Nodes(ctx, "run-001")
	require.NoError(t, err)
	require.Equal(t, []run.Artifact{{Name: "mlpipeline-metrics", Key: "k", Size: &size}, {Name: "late", Key: "l"}}, nodes[1].Artifacts)
	require.Nil(t, state.Nodes[1].Artifacts[0].Size, "what was given stays as it was")
	state.Nodes[1].FinishedAt = at(8)
	_, err = s.Record(ctx, "run-001", state)
	require.NoError(t, err)
	nodes, err = s.Nodes(ctx, "run-001")
	require.NoError(t, err)
	require.False(t, nodes[1].Harvested, "a node that ended again is harvested again")
}

func recordKeepsFinal(t *testing.T, s Store) {
	ctx := context.Background()
	accept(t, s, newRun(1))
	_, err := s.Record(ctx, "run-001", newState(run.Failed))
	require.NoError(t, err)
	changed, err := s.Record(ctx, "run-001", newState(run.Running))
	require.NoError(t, err)
	require.False(t, changed, "a late view of the Workflow")
	r, err := s.Run(ctx, "run-001")
	require.NoError(t, err)
	require.Equal(t, run.Failed, r.Status)
}

func recordKeepsTerminating(t *testing.T, s Store) {
	ctx := context.Background()
	accept(t, s, newRun(1))
	require.NoError(t, s.SetStatus(ctx, "run-001", run.Terminating, ""))
	changed, err := s.Record(ctx, "run-001", newState(run.Running))
	require.NoError(t, err)
	require.True(t, changed, "its nodes are news")
	r, err := s.Run(ctx, "run-001")
	require.NoError(t, err)
	require.Equal(t, run.Terminating, r.Status)
	for range 2 {
		_, err = s.Record(ctx, "run-001", newState(run.Failed))
		require.NoError(t, err)
		r, err = s.Run(ctx, "run-001")
		require.NoError(t, err)
		require.Equal(t, []string{run.Terminated, "terminated"}, []string{r.Status, r.Message})
	}

	accept(t, s, newRun(3))
	require.NoError(t, s.SetStatus(ctx, "run-003", run.Terminating, ""))
	_, err = s.Record(ctx, "run-003", newState(run.Succeeded))
	require.NoError(t, err)
	r, err = s.Run(ctx, "run-003")
	require.NoError(t, err)
	require.Equal(t, run.Succeeded, r.Status, "it had succeeded before it could be stopped")

	accept(t, s, newRun(2))
	require.NoError(t, s.SetStatus(ctx, "run-002", run.Error, "vanished"))
	r, err = s.Run(ctx, "run-002")
	require.NoError(t, err)
	require.Equal(t, "vanished", r.Message)
	require.False(t, r.FinishedAt.IsZero(), "a run that is given up has ended")
}

func metrics(t *testing.T, s Store) {
	ctx := context.Background()
	accept(t, s, newRun(1))
	first := []run.Metric{
		{NodeID: "n1", Name: "images/sec", Value: 134.66, Format: run.Raw},
		{NodeID: "n1", Name: "accuracy", Value: 0, Format: run.Percentage},
		{NodeID: "n2", Name: "images/sec", Value: -1, Format: run.Raw},
	}
	duplicates, err := s.AddMetrics(ctx, "run-001", first)
	require.NoError(t, err)
	require.Empty(t, duplicates)
	again := run.Metric{NodeID: "n1", Name: "images/sec", Value: 1, Format: run.Raw}
	fresh := run.Metric{NodeID: "n1", Name: "loss", Value: 0.5, Format: run.Raw}
	duplicates, err = s.AddMetrics(ctx, "run-001", []run.Metric{again, fresh})
	require.NoError(t, err)
	require.Equal(t, []run.Metric{again}, duplicates)
	r, err := s.Run(ctx, "run-001")
	require.NoError(t, err)
	require.Equal(t, append(first, fresh), r.Metrics, "in the order they came")
	before := r.Revision
	_, err = s.AddMetrics(ctx, "run-001", []run.Metric{again})
	require.NoError(t, err)
	r, err = s.Run(ctx, "run-001")
	require.NoError(t, err)
	require.Equal(t, before, r.Revision)
}

func warnings(t *testing.T, s Store) {
	ctx := context.Background()
	accept(t, s, newRun(1))
	for _, w := range []string{"one", "two", "one"} {
		require.NoError(t, s.AddWarning(ctx, "run-001", w))
	}
	r, err := s.Run(ctx, "run-001")
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two"}, r.Warnings)
}

func deleteRun(t *testing.T, s Store) {
	ctx := context.Background()
	accept(t, s, newRun(1))
	_, err := s.Record(ctx, "run-001", newState(run.Succeeded))
	require.NoError(t, err)
	_, err = s.AddMetrics(ctx, "run-001", []run.Metric{{NodeID: "n", Name: "m", Format: run.Raw}})
	require.NoError(t, err)
	require.NoError(t, s.DeleteRun(ctx, "run-001"))
	requireKind(t, apierr.NotFound, s.DeleteRun(ctx, "run-001"))
	_, err = s.Nodes(ctx, "run-001")
	requireKind(t, apierr.NotFound, err)
	left, err := s.Unsubmitted(ctx)
	require.NoError(t, err)
	require.Empty(t, left)

	accept(t, s, newRun(1)) // nothing of the old one shows through
	r, err := s.Run(ctx, "run-001")
	require.NoError(t, err)
	require.Empty(t, r.Metrics)
}
