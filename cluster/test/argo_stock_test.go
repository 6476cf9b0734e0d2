package test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// With --stock-argo a pipeline that trains with an MPIJob runs on Argo's own programs alone: the real executor runs in each pod, and the
// controller takes its usual time.
func TestStockArgo(t *testing.T) {
	t.Parallel()
	a := newArgo(t, up(t, t.TempDir(), "--stock-argo"))
	s := readScenario(t, "testdata/stock", "mpi-run")
	wf := a.run(t, s)
	s.check(t, a, wf)

	for _, name := range []string{"choose", "all-reduce"} {
		node := nodesNamed(wf, name)[0]
		require.Contains(t, podOfNode(wf, node), wf.Name+"-"+name+"-", "the name that Argo gives by itself")
		// Where the kubelet or quick-wait stand in for it, there is no such line.
		require.Contains(t, a.nodeLog(t, wf, node, "wait"), "Starting Workflow Executor")
	}
	require.Contains(t, a.nodeLog(t, wf, nodesNamed(wf, "all-reduce")[0], "main"), "images/sec: 189.6")
	// Argo's controller looks again ten seconds after a change, at the earliest.
	require.Greater(t, wf.Status.FinishedAt.Sub(wf.Status.StartedAt.Time), 9*time.Second)
}
