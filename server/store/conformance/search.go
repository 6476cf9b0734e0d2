package conformance

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
)

// searchRuns finds runs by what lies beside their rows.
func searchRuns(t *testing.T, s Store) {
	long := strings.Repeat("ä", 100)
	for i, value := range []string{"0.1", "A%b", long} {
		r := newRun(i)
		r.Parameters = []run.Parameter{{Name: "p", Value: value}}
		r.Labels = map[string]string{"team": []string{"red", "blue", "Red"}[i]}
		accept(t, s, r)
	}
	for id, value := range map[string]float64{"run-000": 1, "run-001": -2.5} {
		_, err := s.AddMetrics(t.Context(), id, []run.Metric{{NodeID: "n", Name: "loss", Value: value, Format: run.Raw}})
		require.NoError(t, err)
	}
	for _, c := range []struct {
		key   string
		op    listing.Op
		value any
		want  []string
	}{
		{"parameter:p", listing.Equals, "0.1", []string{"run-000"}},
		{"parameter:p", listing.Equals, long, []string{"run-002"}},
		{"parameter:p", listing.Equals, long[:128], nil},
		{"parameter:p", listing.NotEquals, "0.1", []string{"run-001", "run-002"}},
		{"parameter:p", listing.Substring, "%B", []string{"run-001"}},
		{"parameter:p", listing.GreaterThanOrEqual, "1e-1", []string{"run-000"}},
		{"parameter:p", listing.GreaterThan, "0.1", nil},
		{"parameter:p", listing.LessThan, "9", []string{"run-000"}},
		{"label:team", listing.Equals, "red", []string{"run-000"}},
		{"label:team", listing.Substring, "RE", []string{"run-000", "run-002"}},
		{"metric:loss", listing.LessThan, 0.0, []string{"run-001"}},
		{"metric:loss", listing.GreaterThanOrEqual, int64(1), []string{"run-000"}},
		{"metric:loss", listing.NotEquals, "1", []string{"run-001", "run-002"}},
		{"text", listing.Substring, "NAME 1", []string{"run-001"}},
	} {
		q := listing.Query{Size: 1, SortBy: "id", Filter: []listing.Predicate{{Key: c.key, Op: c.op, Values: []any{c.value}}}}
		require.Equal(t, c.want, walk(t, s, q, run.Scope{}), "%s %v %v", c.key, c.op, c.value)
	}
	for _, p := range []listing.Predicate{
		{Key: "metric:loss", Op: listing.Substring, Values: []any{"1"}},
		{Key: "metric:loss", Op: listing.Equals, Values: []any{"x"}},
		{Key: "parameter:p", Op: listing.LessThan, Values: []any{"one"}},
		{Key: "parameter:p", Op: listing.LessThan, Values: []any{"NaN"}},
		{Key: "label:l", Op: listing.LessThan, Values: []any{"1"}},
		{Key: "label:l", Op: listing.In, Values: []any{"1"}},
		{Key: "text", Op: listing.Equals, Values: []any{"1"}},
		{Key: "parameter:", Op: listing.Equals, Values: []any{"1"}},
	} {
		_, err := s.Runs(t.Context(), listing.Query{Size: 1, Filter: []listing.Predicate{p}}, run.Scope{})
		requireKind(t, apierr.Invalid, err)
	}

	byID := []listing.Predicate{
		{Key: "id", Op: listing.In, Values: []any{"run-000", "run-001"}}, {Key: "parameter:p", Op: listing.LessThanOrEqual, Values: []any{"0.1"}},
	}
	require.Equal(t, []string{"run-000"}, walk(t, s, listing.Query{Size: 1, SortBy: "id", Filter: byID}, run.Scope{}))

	before, err := s.Run(t.Context(), "run-000")
	require.NoError(t, err)
	require.NoError(t, s.SetLabels(t.Context(), "run-000", map[string]string{"a": "", "b": "c"}))
	after, err := s.Run(t.Context(), "run-000")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "", "b": "c"}, after.Labels)
	require.Greater(t, after.Revision, before.Revision)
	requireKind(t, apierr.NotFound, s.SetLabels(t.Context(), "none", nil))

	require.NoError(t, s.Retry(t.Context(), "run-000", 1, run.Again{Workflow: []byte("{}"), Parameters: []run.Parameter{{Name: "p", Value: "0.2"}}}))
	after, err = s.Run(t.Context(), "run-000")
	require.NoError(t, err)
	require.Equal(t, []run.Parameter{{Name: "p", Value: "0.2"}}, after.Parameters)
	requireKind(t, apierr.NotFound, s.Retry(t.Context(), "run-000", 2, run.Again{Workflow: []byte("{}"), Parameters: []run.Parameter{{Name: "none"}}}))
}

func nodeIndex(s run.State, id string) int {
	return slices.IndexFunc(s.Nodes, func(n run.Node) bool { return n.ID == id })
}

func listNodes(t *testing.T, s Store) {
	accept(t, s, newRun(1))
	accept(t, s, newRun(2))
	state := newState(run.Running)
	_, err := s.Record(t.Context(), "run-001", state)
	require.NoError(t, err)
	list := func(q run.NodeQuery) (ids []string) {
		for {
			p, err := s.ListNodes(t.Context(), "run-001", q)
			require.NoError(t, err)
			for _, n := range p.Items {
				ids = append(ids, n.ID)
			}
			if q.Start = p.Next; q.Start == nil {
				require.Len(t, ids, int(p.Total))
				return ids
			}
		}
	}
	require.Equal(t, []string{"root", "step", "later"}, list(run.NodeQuery{Size: 1}))
	require.Equal(t, []string{"root", "step", "later"}, list(run.NodeQuery{Size: 2}))
	require.Equal(t, []string{"later"}, list(run.NodeQuery{Size: 2, Phases: []string{"Pending", "Failed"}}))
	require.Equal(t, []string{"step"}, list(run.NodeQuery{Size: 2, Types: []string{"Pod"}, Name: "WF.s"}))
	require.Empty(t, list(run.NodeQuery{Size: 2, Name: "_"}))
	waits := newState(run.Running)
	waits.Nodes[nodeIndex(waits, "step")].Phase, waits.Nodes[nodeIndex(waits, "step")].Waiting = run.Running, "needs room"
	changed, err := s.Record(t.Context(), "run-001", waits)
	require.NoError(t, err)
	require.True(t, changed)
	n, err := s.Node(t.Context(), "run-001", "step")
	require.NoError(t, err)
	require.Equal(t, []string{run.Running, "needs room"}, []string{n.Phase, n.Waiting})
	require.Contains(t, list(run.NodeQuery{Size: 2, Phases: []string{"Pending"}}), "step", "it is found as people see it")
	require.NotContains(t, list(run.NodeQuery{Size: 2, Phases: []string{"Running"}}), "step")
	changed, err = s.Record(t.Context(), "run-001", waits)
	require.NoError(t, err)
	require.False(t, changed, "and costs nothing while it waits on")
	_, err = s.ListNodes(t.Context(), "none", run.NodeQuery{Size: 1})
	requireKind(t, apierr.NotFound, err)
	names, err := s.StepNames(t.Context(), "run-001", []string{"step", "none"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"step": "step"}, names)
}

// searchChanges looks for runs again after each kind of change that can bring a run into a list or out of it.
func searchChanges(t *testing.T, s Store) {
	for i := range 3 {
		r := newRun(i)
		r.Parameters = []run.Parameter{{Name: "p", Value: "1"}}
		accept(t, s, r)
	}
	search := func(key string, op listing.Op, value any) []string {
		part := listing.Predicate{Key: "text", Op: listing.Substring, Values: []any{"run-00"}}
		q := listing.Query{Size: 2, SortBy: "id", Filter: []listing.Predicate{part, {Key: key, Op: op, Values: []any{value}}}}
		return walk(t, s, q, run.Scope{})
	}
	all := []string{"run-000", "run-001", "run-002"}
	require.Equal(t, all, search("parameter:p", listing.Equals, "1"))

	require.NoError(t, s.SetStatus(t.Context(), "run-001", run.Failed, ""))
	require.Equal(t, []string{"run-001"}, search("status", listing.Equals, run.Failed))
	require.Equal(t, []string{"run-001"}, search("finished_at", listing.GreaterThan, int64(0)))
	_, err := s.Record(t.Context(), "run-001", run.State{Status: run.Failed, StartedAt: time.Unix(5, 0), FinishedAt: time.Unix(6, 0)})
	require.NoError(t, err)
	require.Equal(t, []string{"run-001"}, search("started_at", listing.GreaterThan, int64(0)))
	_, err = s.Record(t.Context(), "run-002", newState(run.Running))
	require.NoError(t, err)
	require.Equal(t, []string{"run-002"}, search("status", listing.Equals, run.Running))

	require.NoError(t, s.ArchiveRun(t.Context(), "run-000", true))
	require.Equal(t, all[1:], search("storage_state", listing.NotEquals, "STORAGESTATE_ARCHIVED"))
	require.NoError(t, s.ArchiveRun(t.Context(), "run-000", false))
	require.Equal(t, all, search("storage_state", listing.NotEquals, "STORAGESTATE_ARCHIVED"))

	require.NoError(t, s.SetLabels(t.Context(), "run-000", map[string]string{"team": "red"}))
	require.Equal(t, []string{"run-000"}, search("label:team", listing.Equals, "red"))
	require.NoError(t, s.SetLabels(t.Context(), "run-000", nil))
	require.Empty(t, search("label:team", listing.Equals, "red"))

	_, err = s.AddMetrics(t.Context(), "run-001", []run.Metric{{NodeID: "n", Name: "loss", Value: 3, Format: run.Raw}})
	require.NoError(t, err)
	require.Equal(t, []string{"run-001"}, search("metric:loss", listing.GreaterThan, 2.0))
	again := run.Again{Workflow: []byte("{}"), Parameters: []run.Parameter{{Name: "p", Value: "2"}}, Dropped: []string{"n"}}
	require.NoError(t, s.Retry(t.Context(), "run-001", 1, again))
	require.Empty(t, search("metric:loss", listing.GreaterThan, 2.0))
	require.Equal(t, []string{"run-001"}, search("parameter:p", listing.Equals, "2"))
	require.Empty(t, search("status", listing.Equals, run.Failed))

	require.NoError(t, s.DeleteRun(t.Context(), "run-002"))
	require.Equal(t, all[:2], search("name", listing.NotEquals, ""))
	accept(t, s, newRun(2)) // whose row may have the number of the one before
	require.Equal(t, all, search("name", listing.NotEquals, ""))
	require.Equal(t, all[:1], search("parameter:p", listing.Equals, "1"))
}
