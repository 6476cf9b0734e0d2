package jobs

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/client"
)

// TestLoops: jobs that a loop started have names that tell them apart, and that RUN/STEP takes.
func TestLoops(t *testing.T) {
	t.Parallel()
	r := &client.Run{ID: "r", Name: "eks", Nodes: []client.Node{
		{ID: "a", Name: "wf.for-loop(0:1).experiment", DisplayName: "experiment", Type: "Pod"}, {ID: "b", Name: "wf.for-loop(1:2).experiment", DisplayName: "experiment", Type: "Pod"},
	}}
	found := []client.RunJob{{RunID: "r", RunName: "eks", NodeID: "a", StepName: "experiment"}, {RunID: "r", RunName: "eks", NodeID: "b", StepName: "experiment"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		answer := any(r)
		if q.URL.Path == "/apis/argosy/v1/runs/r/jobs" {
			answer = client.RunJobs{Jobs: found}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	cl, err := client.New(server.URL)
	require.NoError(t, err)

	_, err = Job(t.Context(), cl, r, "")
	require.EqualError(t, err, "run eks has 2 distributed jobs: say which: 'eks/experiment(0:1)', 'eks/experiment(1:2)'")
	j, err := Job(t.Context(), cl, r, "experiment(1:2)")
	require.NoError(t, err)
	require.Equal(t, "b", j.NodeID)

	other := client.RunJob{RunID: "s", RunName: "other", NodeID: "c", StepName: "experiment"}
	rows := []Listed{{RunJob: found[0]}, {RunJob: other}, {RunJob: found[1]}}
	require.NoError(t, tellApart(t.Context(), cl, rows))
	require.Equal(t, []string{"experiment(0:1)", "experiment", "experiment(1:2)"}, []string{rows[0].StepName, rows[1].StepName, rows[2].StepName})
}
