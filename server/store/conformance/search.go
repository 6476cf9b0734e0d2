package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/page"
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
		op    page.Op
		value any
		want  []string
	}{
		{"parameter:p", page.Equals, "0.1", []string{"run-000"}},
		{"parameter:p", page.Equals, long, []string{"run-002"}},
		{"parameter:p", page.Equals, long[:128], nil},
		{"parameter:p", page.NotEquals, "0.1", []string{"run-001", "run-002"}},
		{"parameter:p", page.Substring, "%B", []string{"run-001"}},
		{"parameter:p", page.GreaterThanOrEqual, "1e-1", []string{"run-000"}},
		{"parameter:p", page.GreaterThan, "0.1", nil},
		{"parameter:p", page.LessThan, "9", []string{"run-000"}},
		{"label:team", page.Equals, "red", []string{"run-000"}},
		{"label:team", page.Substring, "RE", []string{"run-000", "run-002"}},
		{"metric:loss", page.LessThan, 0.0, []string{"run-001"}},
		{"metric:loss", page.GreaterThanOrEqual, int64(1), []string{"run-000"}},
		{"metric:loss", page.NotEquals, "1", []string{"run-001", "run-002"}},
		{"text", page.Substring, "NAME 1", []string{"run-001"}},
	} {
		q := page.Query{Size: 1, SortBy: "id", Filter: []page.Predicate{{Key: c.key, Op: c.op, Values: []any{c.value}}}}
		require.Equal(t, c.want, walk(t, s, q, run.Scope{}), "%s %v %v", c.key, c.op, c.value)
	}
	for _, p := range []page.Predicate{
		{Key: "metric:loss", Op: page.Substring, Values: []any{"1"}},
		{Key: "metric:loss", Op: page.Equals, Values: []any{"x"}},
		{Key: "parameter:p", Op: page.LessThan, Values: []any{"one"}},
		{Key: "parameter:p", Op: page.LessThan, Values: []any{"NaN"}},
		{Key: "label:l", Op: page.LessThan, Values: []any{"1"}},
		{Key: "label:l", Op: page.In, Values: []any{"1"}},
		{Key: "text", Op: page.Equals, Values: []any{"1"}},
		{Key: "parameter:", Op: page.Equals, Values: []any{"1"}},
	} {
		_, err := s.Runs(t.Context(), page.Query{Size: 1, Filter: []page.Predicate{p}}, run.Scope{})
		requireKind(t, apierr.Invalid, err)
	}

	byID := []page.Predicate{
		{Key: "id", Op: page.In, Values: []any{"run-000", "run-001"}}, {Key: "parameter:p", Op: page.LessThanOrEqual, Values: []any{"0.1"}},
	}
	require.Equal(t, []string{"run-000"}, walk(t, s, page.Query{Size: 1, SortBy: "id", Filter: byID}, run.Scope{}))

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
	search := func(key string, op page.Op, value any) []string {
		part := page.Predicate{Key: "text", Op: page.Substring, Values: []any{"run-00"}}
		q := page.Query{Size: 2, SortBy: "id", Filter: []page.Predicate{part, {Key: key, Op: op, Values: []any{value}}}}
		return walk(t, s, q, run.Scope{})
	}
	all := []string{"run-000", "run-001", "run-002"}
	require.Equal(t, all, search("parameter:p", page.Equals, "1"))

	require.NoError(t, s.SetStatus(t.Context(), "run-001", run.Failed, ""))
	require.Equal(t, []string{"run-001"}, search("status", page.Equals, run.Failed))
	require.Equal(t, []string{"run-001"}, search("finished_at", page.GreaterThan, int64(0)))
	_, err := s.Record(t.Context(), "run-002", newState(run.Running))
	require.NoError(t, err)
	require.Equal(t, []string{"run-002"}, search("status", page.Equals, run.Running))

	require.NoError(t, s.ArchiveRun(t.Context(), "run-000", true))
	require.Equal(t, all[1:], search("storage_state", page.NotEquals, "STORAGESTATE_ARCHIVED"))
	require.NoError(t, s.ArchiveRun(t.Context(), "run-000", false))
	require.Equal(t, all, search("storage_state", page.NotEquals, "STORAGESTATE_ARCHIVED"))

	require.NoError(t, s.SetLabels(t.Context(), "run-000", map[string]string{"team": "red"}))
	require.Equal(t, []string{"run-000"}, search("label:team", page.Equals, "red"))
	require.NoError(t, s.SetLabels(t.Context(), "run-000", nil))
	require.Empty(t, search("label:team", page.Equals, "red"))

	_, err = s.AddMetrics(t.Context(), "run-001", []run.Metric{{NodeID: "n", Name: "loss", Value: 3, Format: run.Raw}})
	require.NoError(t, err)
	require.Equal(t, []string{"run-001"}, search("metric:loss", page.GreaterThan, 2.0))
	again := run.Again{Workflow: []byte("{}"), Parameters: []run.Parameter{{Name: "p", Value: "2"}}, Dropped: []string{"n"}}
	require.NoError(t, s.Retry(t.Context(), "run-001", 1, again))
	require.Empty(t, search("metric:loss", page.GreaterThan, 2.0))
	require.Equal(t, []string{"run-001"}, search("parameter:p", page.Equals, "2"))
	require.Empty(t, search("status", page.Equals, run.Failed))

	require.NoError(t, s.DeleteRun(t.Context(), "run-002"))
	require.Equal(t, all[:2], search("name", page.NotEquals, ""))
	accept(t, s, newRun(2)) // whose row may have the number of the one before
	require.Equal(t, all, search("name", page.NotEquals, ""))
	require.Equal(t, all[:1], search("parameter:p", page.Equals, "1"))
}
