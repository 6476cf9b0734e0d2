package jobs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/client"
)

// Rows show at a glance which roles share a node: the three placements of two workers and their parameter server.
func TestNodeRows(t *testing.T) {
	t.Parallel()
	at := func(ps, first, second string) []client.Worker {
		return []client.Worker{
			{Role: "worker", Index: 0, Node: first}, {Role: "worker", Index: 1, Node: second}, {Role: "ps", Node: ps}, {Role: "worker", Index: 2},
		}
	}
	require.Equal(t, [][]string{{"a", "ps 0"}, {"b", "worker 0-1"}}, nodeRows(at("a", "b", "b")))
	require.Equal(t, [][]string{{"a", "ps 0, worker 0"}, {"b", "worker 1"}}, nodeRows(at("a", "a", "b")))
	require.Equal(t, [][]string{{"a", "ps 0, worker 0-1"}}, nodeRows(at("a", "a", "a")))
	require.Empty(t, nodeRows(at("", "", "")))
	require.Equal(t, "worker 0, worker 2-3", pods([]client.Worker{{Role: "worker", Index: 3}, {Role: "worker", Index: 0}, {Role: "worker", Index: 2}}))
}
