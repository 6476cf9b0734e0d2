//go:build e2e

package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
	"github.com/argosy-ml/argosy/sdk/train"
)

// job compiles a pipeline of one MPIJob with a command and one worker.
func job(t *testing.T, command string) []byte {
	t.Helper()
	p := dsl.New("job")
	train.MPIJob(p, "all-reduce", train.MPI{Image: dsl.Lit("debian"), Command: dsl.Lit(command), Metrics: []train.Metric{{Name: "loss"}}})
	workflow, err := compiler.Compile(p)
	require.NoError(t, err)
	return workflow
}
