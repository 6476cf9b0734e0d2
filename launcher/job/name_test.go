package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/argosy-ml/argosy/launcher/job"
)

// nameOf is the name of a step's job.
func nameOf(t rapid.TB, id job.Identity, step string, workers int) string {
	t.Helper()
	spec := &job.Spec{Kind: job.Kinds()[0], Step: step, Roles: []job.Role{{Name: "worker", Replicas: workers}}}
	made, err := job.Build(spec, id)
	require.NoError(t, err)
	return made.GetName()
}

func TestName(t *testing.T) {
	t.Parallel()
	id := step()
	require.Equal(t, "all-reduce-b19401361b", nameOf(t, id, "all-reduce", 2), "the name is a contract: a launcher that starts again must find its job")
	other := id
	other.Node = "mpi-run-x7k2p-124"
	require.NotEqual(t, nameOf(t, id, "all-reduce", 2), nameOf(t, other, "all-reduce", 2))
	require.Equal(t, "job-3rd-b19401361b", nameOf(t, id, "3rd", 2))
	require.Equal(t, "job-b19401361b", nameOf(t, id, "模型", 2))
}

// Whatever a step is called, the names of all pods of its job are host names.
func TestNameIsALabel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		id := job.Identity{Workflow: rapid.String().Draw(r, "workflow"), Node: rapid.String().Draw(r, "node")}
		workers := rapid.IntRange(1, 100000).Draw(r, "workers")
		name := nameOf(r, id, rapid.OneOf(rapid.String(), rapid.StringMatching(`[A-Za-z0-9 _-]{1,90}`)).Draw(r, "step"), workers)
		for _, pod := range []string{name, name + "-launcher", name + "-worker-" + itoa(workers-1)} {
			if why := validation.IsDNS1035Label(pod); len(why) > 0 {
				r.Fatalf("%s: %v", pod, why)
			}
		}
	})
}
