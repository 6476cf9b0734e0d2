package conformance

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
)

// changedAfter walks over all changes after a mark, two at a time.
func changedAfter(t *testing.T, s Store, after run.Mark) (ids []string, seen run.Mark) {
	t.Helper()
	for {
		const most = 2
		found, next, err := s.Changed(t.Context(), after, most)
		require.NoError(t, err)
		for _, c := range found {
			if c.Removed {
				ids = append(ids, "-"+c.RunID)
			} else {
				ids = append(ids, c.RunID)
			}
		}
		if after = next; next.Seq == 0 {
			return ids, next
		}
	}
}

func changes(t *testing.T, s Store) {
	ctx := t.Context()
	require.NoError(t, s.CreateExperiment(ctx, experiment.Experiment{ID: "e", Name: "e", CreatedAt: at(0)}))
	for i := range 5 {
		accept(t, s, newRun(i))
	}
	ids, seen := changedAfter(t, s, run.Mark{})
	require.Equal(t, []string{"run-000", "run-001", "run-002", "run-003", "run-004"}, ids)
	clock, err := s.Now(ctx)
	require.NoError(t, err)
	require.Equal(t, clock.Revision, seen.Revision)
	ids, again := changedAfter(t, s, seen)
	require.Empty(t, ids)
	require.Equal(t, seen, again)

	for _, c := range []struct {
		name   string
		change func() error
	}{
		{"SetStatus", func() error { return s.SetStatus(ctx, "run-001", run.Running, "") }},
		{"Archive", func() error { return s.ArchiveRun(ctx, "run-001", true) }},
		{"AddWarning", func() error { return s.AddWarning(ctx, "run-001", "w") }},
		{"AddMetrics", func() error {
			_, err := s.AddMetrics(ctx, "run-001", []run.Metric{{NodeID: "n", Name: "m"}})
			return err
		}},
		{"Record", func() error { _, err := s.Record(ctx, "run-001", newState(run.Running)); return err }},
		{"SetHarvested", func() error { return s.SetHarvested(ctx, "run-001", "step", "k", nil) }},
		{"Settle", func() error { return s.Settle(ctx, "run-001") }},
		{"Retry", func() error { return s.Retry(ctx, "run-001", 1, run.Again{Workflow: []byte("{}")}) }},
	} {
		_, before := changedAfter(t, s, run.Mark{})
		require.NoError(t, c.change(), c.name)
		ids, after := changedAfter(t, s, before)
		require.Equal(t, []string{"run-001"}, ids, c.name)
		require.Greater(t, after.Revision, before.Revision, c.name)
	}
	_, seen = changedAfter(t, s, run.Mark{})
	require.NoError(t, s.DeleteRun(ctx, "run-003"))
	require.NoError(t, s.ArchiveExperiment(ctx, "e", true)) // four runs at once
	ids, _ = changedAfter(t, s, seen)
	require.Equal(t, "-run-003", ids[0])
	require.ElementsMatch(t, []string{"run-000", "run-002", "run-004"}, ids[1:], "run-001 was archived before")

	failed := []listing.Predicate{{Key: "status", Op: listing.Equals, Values: []any{run.Running}}}
	found, err := s.Matching(ctx, []string{"run-000", "run-001", "run-003"}, failed, run.Scope{ExperimentID: "e"})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "run-001", found[0].ID)
	found, err = s.Matching(ctx, []string{"run-000", "run-001", "run-003"}, nil, run.Scope{ExperimentID: "none"})
	require.NoError(t, err)
	require.Empty(t, found)
	_, err = s.Matching(ctx, []string{"run-000"}, []listing.Predicate{{Key: "nonsense", Op: listing.Equals, Values: []any{"x"}}}, run.Scope{})
	requireKind(t, apierr.Invalid, err)
}

func changesOfNodes(t *testing.T, s Store) {
	ctx := t.Context()
	accept(t, s, newRun(1))
	state := newState(run.Running)
	_, err := s.Record(ctx, "run-001", state)
	require.NoError(t, err)
	first, err := s.Delta(ctx, "run-001", 0, 0)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(state.Nodes, first.Nodes, ignoreOrder()))
	require.Empty(t, first.Removed)

	state.Nodes[1].Message = "another"
	state.Nodes = state.Nodes[:2]
	_, err = s.Record(ctx, "run-001", state)
	require.NoError(t, err)
	second, err := s.Delta(ctx, "run-001", first.Run.Revision, 0)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(state.Nodes[1:], second.Nodes, ignoreOrder()))
	require.Equal(t, []string{"later"}, second.Removed)

	require.NoError(t, s.SetHarvested(ctx, "run-001", "step", "k", nil))
	third, err := s.Delta(ctx, "run-001", second.Run.Revision, 0)
	require.NoError(t, err)
	require.Len(t, third.Nodes, 1)
	require.Equal(t, third.Run.Revision, third.Nodes[0].LogRevision)
	both, err := s.Delta(ctx, "run-001", first.Run.Revision, second.Run.Revision)
	require.NoError(t, err)
	require.Empty(t, both.Nodes, "what changed up to then has changed again since")
	_, err = s.Delta(ctx, "none", 0, 0)
	requireKind(t, apierr.NotFound, err)
}

// nodesOfARetry: what stays keeps the name of its pod, whatever the next attempt would call it; what runs again is gone at once.
func nodesOfARetry(t *testing.T, s Store) {
	ctx := t.Context()
	accept(t, s, newRun(1))
	state := newState(run.Failed)
	_, err := s.Record(ctx, "run-001", state)
	require.NoError(t, err)
	require.NoError(t, s.SetHarvested(ctx, "run-001", "step", "k", nil))
	before, err := s.Run(ctx, "run-001")
	require.NoError(t, err)
	require.NoError(t, s.Retry(ctx, "run-001", 1, run.Again{Workflow: []byte("{}"), Dropped: []string{"later", "none"}}))
	d, err := s.Delta(ctx, "run-001", before.Revision, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"later"}, d.Removed)

	state.Status, state.Attempt, state.Nodes[1].PodName = run.Running, 1, "wf-another"
	for range 2 {
		_, err = s.Record(ctx, "run-001", state)
		require.NoError(t, err)
		n, err := s.Node(ctx, "run-001", "step")
		require.NoError(t, err)
		require.Equal(t, []any{"wf-step-1", true}, []any{n.PodName, n.Harvested})
	}
	state.Nodes[1].FinishedAt = at(5)
	_, err = s.Record(ctx, "run-001", state)
	require.NoError(t, err)
	n, err := s.Node(ctx, "run-001", "step")
	require.NoError(t, err)
	require.Equal(t, []any{"wf-another", false}, []any{n.PodName, n.Harvested}, "it ran again after all")
	_, err = s.Node(ctx, "run-001", "none")
	requireKind(t, apierr.NotFound, err)
}

func series(t *testing.T, s Store) {
	ctx := t.Context()
	accept(t, s, newRun(1))
	accept(t, s, newRun(2))
	_, err := s.Record(ctx, "run-001", newState(run.Running))
	require.NoError(t, err)
	point := func(name string, rank int, index int64, value float64) run.Point {
		return run.Point{Name: name, Rank: rank, Format: run.Raw, Index: index, Step: 10 * index, PrintedAt: at(int(index)), Value: value}
	}
	add := func(points ...run.Point) int {
		added, err := s.AddPoints(ctx, "run-001", "step", "wf-step-1", points)
		require.NoError(t, err)
		return added
	}
	require.Equal(t, 3, add(point("loss", 0, 0, 4), point("loss", 1, 0, 5), point("loss", 0, 1, 3)))
	require.Equal(t, 2, add(point("loss", 0, 0, 4), point("loss", 0, 1, 3), point("loss", 0, 2, math.NaN()), point("acc", run.Unranked, 0, 0.5)), "what is there is passed over")
	require.Zero(t, add(point("loss", 0, 2, 9)))
	_, err = s.AddPoints(ctx, "run-001", "step", "wf-step-1", []run.Point{point("loss", 0, 7, 1)})
	requireKind(t, apierr.Internal, err)
	_, err = s.AddPoints(ctx, "run-001", "step", "another", []run.Point{point("loss", 0, 3, 1)})
	requireKind(t, apierr.Aborted, err)
	_, err = s.AddPoints(ctx, "run-001", "none", "p", nil)
	requireKind(t, apierr.NotFound, err)

	all, err := s.Series(ctx, "run-001")
	require.NoError(t, err)
	require.ElementsMatch(t, []run.Series{
		{NodeID: "step", Name: "loss", Rank: 0, Format: run.Raw, Size: 3},
		{NodeID: "step", Name: "loss", Rank: 1, Format: run.Raw, Size: 1},
		{NodeID: "step", Name: "acc", Rank: run.Unranked, Format: run.Raw, Size: 1},
	}, all)
	var steps []int64
	require.NoError(t, s.PointsOf(ctx, "run-001", "step", "loss", 0, run.WholeSeries(1), func(p run.Point) {
		steps = append(steps, p.Step)
		require.Equal(t, p.Step == 20, math.IsNaN(p.Value))
	}))
	require.Equal(t, []int64{0, 10, 20}, steps)

	for _, id := range []string{"run-001", ""} {
		first, err := s.Points(ctx, id, 0, 3)
		require.NoError(t, err)
		require.Len(t, first, 3)
		require.Equal(t, "run-001", first[0].RunID)
		require.Equal(t, at(0), first[0].PrintedAt)
		rest, err := s.Points(ctx, id, first[2].N, 3)
		require.NoError(t, err)
		require.Len(t, rest, 2)
		require.Equal(t, "acc", rest[1].Name)
	}
	clock, err := s.Now(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 5, clock.Point)

	_, err = s.Record(ctx, "run-001", newState(run.Failed))
	require.NoError(t, err)
	require.NoError(t, s.Retry(ctx, "run-001", 1, run.Again{Workflow: []byte("{}"), Dropped: []string{"step"}}))
	all, err = s.Series(ctx, "run-001")
	require.NoError(t, err)
	require.Empty(t, all, "a step that runs again measures again")
	require.NoError(t, s.DeleteRun(ctx, "run-001"))
	none, err := s.Points(ctx, "", 0, 10)
	require.NoError(t, err)
	require.Empty(t, none)
}

func scans(t *testing.T, s Store) {
	ctx := t.Context()
	accept(t, s, newRun(1))
	_, err := s.Record(ctx, "run-001", newState(run.Failed))
	require.NoError(t, err)
	scanned := func(pod string) string {
		state, err := s.Scanned(ctx, "run-001", "step", pod)
		require.NoError(t, err)
		return string(state)
	}
	require.Empty(t, scanned("wf-step-1"))
	for _, state := range []string{`{"read":1}`, `{"read":7}`} {
		require.NoError(t, s.SetScanned(ctx, "run-001", "step", "wf-step-1", []byte(state), false))
		require.Equal(t, state, scanned("wf-step-1"))
	}
	require.Empty(t, scanned("another"), "of a pod that is not the step's any more")
	requireKind(t, apierr.Aborted, s.SetScanned(ctx, "run-001", "step", "another", nil, false))
	requireKind(t, apierr.NotFound, s.SetScanned(ctx, "run-001", "none", "p", nil, false))
	require.NoError(t, s.Retry(ctx, "run-001", 1, run.Again{Workflow: []byte("{}"), Dropped: []string{"step"}}))
	require.Empty(t, scanned("wf-step-1"), "a step that runs again is scanned from the beginning of its log")
}

func visuals(t *testing.T, s Store) {
	ctx := t.Context()
	accept(t, s, newRun(1))
	_, err := s.Record(ctx, "run-001", newState(run.Running))
	require.NoError(t, err)
	put := func(node string, kept ...run.Visual) {
		t.Helper()
		require.NoError(t, s.PutVisuals(ctx, "run-001", node, kept))
	}
	of := func(node string) []run.Visual {
		t.Helper()
		found, err := s.VisualsOf(ctx, "run-001", node)
		require.NoError(t, err)
		return found
	}
	all := func() []run.Visual {
		t.Helper()
		found, err := s.Visuals(ctx, "run-001")
		require.NoError(t, err)
		return found
	}
	bad := run.Visual{NodeID: "step", Problem: "it is no JSON", Body: []byte("\xff\x00{")}
	put("step", bad)
	require.Equal(t, []run.Visual{bad}, of("step"))
	table := run.Visual{NodeID: "step", Number: 1, Type: "table", Body: []byte(`{"type":"table"}`)}
	pie := run.Visual{NodeID: "step", Number: 2, Problem: `type "pie" is unknown`, Body: []byte(`{"type":"pie"}`)}
	for range 2 { // harvesting again changes nothing
		put("step", table, pie)
	}
	other := run.Visual{NodeID: "later", Number: 1, Type: "markdown", Body: []byte(`{}`)}
	put("later", other)
	require.Equal(t, []run.Visual{table, pie}, of("step"))
	require.Empty(t, of("none"))
	for _, v := range []*run.Visual{&other, &table, &pie} {
		v.Body = nil
	}
	require.Equal(t, []run.Visual{other, table, pie}, all())
	requireKind(t, apierr.NotFound, s.PutVisuals(ctx, "none", "step", nil))

	_, err = s.Record(ctx, "run-001", newState(run.Failed))
	require.NoError(t, err)
	require.NoError(t, s.Retry(ctx, "run-001", 1, run.Again{Workflow: []byte("{}"), Dropped: []string{"step"}}))
	require.Equal(t, []run.Visual{other}, all(), "a step that runs again draws again")
	require.NoError(t, s.SetPruned(ctx, "run-001", false, true, "logs"))
	require.Len(t, all(), 1)
	require.NoError(t, s.SetPruned(ctx, "run-001", true, false, "artifacts"))
	require.Empty(t, all())
	put("later", table)
	require.NoError(t, s.DeleteRun(ctx, "run-001"))
	require.Empty(t, all())
}
