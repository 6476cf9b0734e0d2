package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/sdk/client"
)

// A run whose steps all wait is not shown as one that runs.
func TestRunThatWaits(t *testing.T) {
	t.Parallel()
	r := client.Run{Name: "train", Status: client.Running}
	require.Equal(t, "Running", runTable.row(output.Printer{}, r)[1])
	require.Empty(t, waitsFor(&r))
	r.Waiting = &client.Waiting{Step: "all-reduce", Why: "needs 2 workers at once"}
	require.Equal(t, "Waiting", runTable.row(output.Printer{}, r)[1])
	require.Equal(t, "step all-reduce: needs 2 workers at once", waitsFor(&r))
	r.Status = client.Terminating
	require.Equal(t, "Terminating", runTable.row(output.Printer{}, r)[1], "what is done about it goes before")
}
