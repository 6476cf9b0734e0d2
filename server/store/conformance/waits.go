package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
)

// waits lists runs with what they wait for.
func waits(t *testing.T, s Store) {
	const memory, secret = "no node has 2Gi of memory free", `secret "key" not found`
	pod := func(id, phase, why string) run.Node {
		return run.Node{ID: id, Name: "wf." + id, DisplayName: "step " + id, Type: "Pod", Phase: phase, Waiting: why}
	}
	record := func(id, status string, nodes ...run.Node) {
		_, err := s.Record(t.Context(), id, run.State{Status: status, Nodes: nodes})
		require.NoError(t, err)
	}
	waiting := func() []*run.Waits {
		p, err := s.Runs(t.Context(), listing.Query{Size: 10, SortBy: "id"}, run.Scope{})
		require.NoError(t, err)
		var all []*run.Waits
		for _, r := range p.Items {
			all = append(all, r.Waits)
			one, err := s.Run(t.Context(), r.ID)
			require.NoError(t, err)
			require.Equal(t, r.Waits, one.Waits)
		}
		return all
	}
	shown := func(of ...any) []string {
		q := listing.Query{Size: 1, SortBy: "id", Filter: []listing.Predicate{{Key: run.ShownStatus, Op: listing.In, Values: of}}}
		return walk(t, s, q, run.Scope{})
	}
	for i := range 5 {
		accept(t, s, newRun(i))
	}
	dag := run.Node{ID: "0", Type: "DAG", Phase: run.Running}
	record("run-000", run.Running, dag, pod("a", run.Pending, secret), pod("b", run.Running, memory), pod("c", run.Pending, memory))
	record("run-001", run.Running, dag, pod("a", run.Pending, memory), pod("b", run.Running, ""))
	record("run-002", run.Running, dag, pod("a", run.Pending, ""))
	record("run-003", run.Failed, dag, pod("a", run.Pending, memory))
	require.Equal(t, []*run.Waits{{NodeID: "b", Step: "step b", Why: memory, Steps: 3}, nil, nil, nil, nil}, waiting())
	require.Equal(t, []string{"run-000"}, shown(run.Waiting))
	require.Equal(t, []string{"run-000", "run-003"}, shown(run.Waiting, run.Failed))
	require.Equal(t, []string{"run-001", "run-002"}, shown(run.Running))
	both := []listing.Predicate{
		{Key: "id", Op: listing.In, Values: []any{"run-000", "run-001"}}, {Key: run.ShownStatus, Op: listing.Equals, Values: []any{run.Waiting}},
	}
	require.Equal(t, []string{"run-000"}, walk(t, s, listing.Query{Size: 1, SortBy: "id", Filter: both}, run.Scope{}))
	_, err := s.Runs(t.Context(), listing.Query{Size: 1, Filter: []listing.Predicate{{Key: run.ShownStatus, Op: listing.Equals, Values: []any{1}}}}, run.Scope{})
	requireKind(t, apierr.Invalid, err)

	record("run-000", run.Running, dag, pod("a", run.Succeeded, ""), pod("b", run.Running, ""), pod("c", run.Pending, memory))
	record("run-001", run.Running, dag, pod("a", run.Pending, memory), pod("b", run.Succeeded, ""))
	require.Equal(t, []*run.Waits{nil, {NodeID: "a", Step: "step a", Why: memory, Steps: 1}, nil, nil, nil}, waiting())
	require.Equal(t, []string{"run-001"}, shown(run.Waiting))
	require.NoError(t, s.SetStatus(t.Context(), "run-001", run.Terminating, ""))
	require.Equal(t, make([]*run.Waits, 5), waiting())
	require.Empty(t, shown(run.Waiting))
}
