package conformance

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
)

// curvesOfRuns lists runs with the figures of their curves, and filters and sorts by them.
func curvesOfRuns(t *testing.T, s Store) {
	ctx := t.Context()
	for i := range 4 {
		accept(t, s, newRun(i))
	}
	add := func(id string, points ...run.Point) {
		_, err := s.Record(ctx, id, newState(run.Running))
		require.NoError(t, err)
		before, err := s.Run(ctx, id)
		require.NoError(t, err)
		_, err = s.AddPoints(ctx, id, "step", "wf-step-1", points)
		require.NoError(t, err)
		require.NoError(t, s.SetScanned(ctx, id, "step", "wf-step-1", []byte("{}"), true))
		after, err := s.Run(ctx, id)
		require.NoError(t, err)
		require.Greater(t, after.Revision, before.Revision, "the run counts as changed")
	}
	loss := func(rank int, index int64, value float64) run.Point {
		return run.Point{Name: "loss", Rank: rank, Format: run.Raw, Index: index, Value: value}
	}
	nan := math.NaN()
	add("run-000", loss(0, 0, 4), loss(1, 0, 9), loss(0, 1, 2), loss(1, 1, 5))
	add("run-000", loss(0, 2, nan), loss(1, 2, 3), loss(0, 3, 8), run.Point{Name: "accuracy", Format: run.Percentage, Value: 0.5})
	add("run-001", loss(run.Unranked, 0, 1), loss(run.Unranked, 1, nan))
	add("run-002", loss(0, 0, nan))

	page, err := s.Runs(ctx, listing.Query{Size: 10, SortBy: "id"}, run.Scope{})
	require.NoError(t, err)
	var got [][]run.Curve
	for _, r := range page.Items {
		got = append(got, r.Curves)
	}
	want := [][]run.Curve{
		{{Name: "loss", Format: run.Raw, Last: 8, Least: 2, Greatest: 9}, {Name: "accuracy", Format: run.Percentage, Last: 0.5, Least: 0.5, Greatest: 0.5}},
		{{Name: "loss", Format: run.Raw, Last: nan, Least: 1, Greatest: 1}},
		{{Name: "loss", Format: run.Raw, Last: nan, Least: nan, Greatest: nan}},
		nil,
	}
	require.Empty(t, cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.IgnoreFields(run.Curve{}, "Newest")))

	fields, err := s.Fields(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"accuracy", "loss"}, fields.Curves)
	require.Empty(t, fields.Metrics)

	search := func(key string, op listing.Op, value float64) []string {
		filter := []listing.Predicate{{Key: "metric:" + key, Op: op, Values: []any{value}}}
		return walk(t, s, listing.Query{Size: 10, SortBy: "id", Filter: filter}, run.Scope{})
	}
	require.Equal(t, []string{"run-000"}, search("max(loss)", listing.GreaterThan, 2))
	require.Equal(t, []string{"run-001"}, search("min(loss)", listing.LessThan, 2))
	require.Equal(t, []string{"run-000"}, search("last(loss)", listing.Equals, 8))
	require.Empty(t, search("loss", listing.GreaterThan, 0), "no step reported it")
	known := listing.Query{Size: 10, SortBy: "id", Filter: []listing.Predicate{
		{Key: "id", Op: listing.In, Values: []any{"run-000", "run-001"}}, {Key: "metric:min(loss)", Op: listing.LessThan, Values: []any{2.0}},
	}}
	require.Equal(t, []string{"run-001"}, walk(t, s, known, run.Scope{}))
	require.Equal(t, []string{"run-001", "run-000", "run-002", "run-003"}, walk(t, s, listing.Query{Size: 1, SortBy: "metric:min(loss)"}, run.Scope{}))

	add("run-001", loss(run.Unranked, 2, 12))
	require.Equal(t, []string{"run-001"}, search("last(loss)", listing.Equals, 12), "a run that goes on is found by its newest value")
	_, err = s.Record(ctx, "run-000", newState(run.Failed))
	require.NoError(t, err)
	require.NoError(t, s.Retry(ctx, "run-000", 1, run.Again{Workflow: []byte("{}"), Dropped: []string{"step"}}))
	require.Empty(t, search("max(loss)", listing.Equals, 9), "a step that runs again measures again")
}
