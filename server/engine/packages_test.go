package engine_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/engine"
)

// kfp reads a package as an SDK of KFP wrote it. The end-to-end test runs them too.
func kfp(t *testing.T, name string) string {
	t.Helper()
	manifest, err := os.ReadFile("../../test/e2e/testdata/kfp/" + name)
	require.NoError(t, err)
	return string(manifest)
}

func TestPackageOfSDK0116(t *testing.T) {
	t.Parallel()
	_, wf := prepare(t, kfp(t, "sdk-0.1.16.yaml"), options())
	var tasks []string
	for _, task := range wf.GetTemplateByName("exit-and-condition").DAG.Tasks {
		tasks = append(tasks, task.Name)
	}
	require.Equal(t, []string{"condition-1", "flip"}, tasks, "the exit handler is no task as well")
	require.Equal(t, "tell", wf.Spec.OnExit)
	for _, step := range []string{"flip", "say", "tell"} {
		artifacts := wf.GetTemplateByName(step).Outputs.Artifacts
		require.Len(t, artifacts, 2)
		require.True(t, artifacts[0].Optional && artifacts[1].Optional)
		require.Contains(t, artifacts[0].S3.Key, "runs/run-1/{{pod.name}}/")
	}
	s, err := newEngine().Inspect(t.Context(), []byte(kfp(t, "sdk-0.1.16.yaml")))
	require.NoError(t, err)
	var nodes []string
	for _, n := range s.Graph.Nodes {
		nodes = append(nodes, n.ID)
	}
	require.Equal(t, []string{"condition-1", "condition-1/say", "flip", "onExit"}, nodes)
}

func TestPackageOfSDK18(t *testing.T) {
	t.Parallel()
	_, wf := prepare(t, kfp(t, "sdk-1.8.yaml"), options())
	require.Nil(t, wf.GetTemplateByName("for-loop-1").Parallelism, "0 means no limit")
	for _, step := range []string{"consume", "produce", "measure", "goodbye"} {
		found := map[string]string{}
		for _, a := range wf.GetTemplateByName(step).Outputs.Artifacts {
			if found[a.Name] = a.Path; a.Name != "produce-data" {
				require.True(t, a.Optional)
			}
		}
		require.Equal(t, "/mlpipeline-metrics.json", found["mlpipeline-metrics"], "collected though it is not declared")
		require.Equal(t, "/mlpipeline-ui-metadata.json", found["mlpipeline-ui-metadata"])
	}
	require.Empty(t, wf.GetTemplateByName("loop-and-data").Outputs.Artifacts)
}

func TestPackageOfArena(t *testing.T) {
	t.Parallel()
	_, wf := prepare(t, kfp(t, "arena-0.6.yaml"), options())
	c := wf.GetTemplateByName("all-reduce").Container
	require.Equal(t, engine.Launcher, c.Image)
	require.Equal(t, []string{"argosy-launcher", "arena"}, c.Command)
	require.Equal(t, []string{"--name", "all-reduce"}, c.Args[:2])
	require.Len(t, c.Env, 4)
	s, err := newEngine().Inspect(t.Context(), []byte(kfp(t, "arena-0.6.yaml")))
	require.NoError(t, err)
	require.Equal(t, "MPIJob", s.Graph.Nodes[0].Type)
}
