//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sample is a run of a folder of samples/, compiled and started as its README says. samples/mpi_run has TestMainJob, and
// samples/notebook TestNotebook.
type sample struct {
	name       string
	folder     string
	parameters map[string]string
	check      func(*testing.T, *argosy, runView)
}

var samples = []sample{
	{"pytorch_ddp", "pytorch_ddp", map[string]string{"image": "host", "epochs": "2"}, checkPyTorch},
	{"tf_ps", "tf_ps", map[string]string{"image": "host", "num_ps": "2", "train_steps": "300"}, checkParameterServers},
	{"sweep", "sweep", map[string]string{"image": "host"}, checkSweep},
	{"sweep-none-good", "sweep", map[string]string{"image": "host", "learning_rates": "[10]"}, checkSweepGivesUp},
	{"data_pipeline", "data_pipeline", map[string]string{"image": "host"}, checkDataPipeline},
	{"go_functions", "go_functions", map[string]string{"points": "300"}, checkGoFunctions},
	{"until_good", "until_good", map[string]string{"image": "host"}, checkUntilGood},
}

// TestSamples compiles, uploads and runs the samples on one embedded cluster.
func TestSamples(t *testing.T) {
	t.Parallel()
	a := up(t, t.TempDir())
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			data, err := os.ReadFile(compileSample(t, s.folder))
			require.NoError(t, err)
			var pipeline struct{ ID string }
			a.upload(t, s.name, s.folder+".tar.gz", data, 200, &pipeline)
			run := a.await(t, a.createRun(t, s.name, pipeline.ID, s.parameters), 5*time.Minute, runView.final)
			if run.Status != "Succeeded" {
				for _, n := range run.Nodes {
					if n.Type == "Pod" {
						t.Logf("%s:\n%s", n.DisplayName, a.log(t, run.ID, n.ID))
					}
				}
			}
			require.Equal(t, "Succeeded", run.Status, "%+v", run)
			require.Empty(t, run.Warnings)
			s.check(t, a, run)
		})
	}
	t.Run("cron", func(t *testing.T) { checkCron(t, a) })
}

// compileSample compiles a folder of samples/ and gives the package.
func compileSample(t *testing.T, folder string) string {
	t.Helper()
	tarball := filepath.Join(t.TempDir(), folder+".tar.gz")
	compile := exec.Command(binary("argosy"), "compile", "samples/"+folder, "-o", tarball)
	compile.Dir = repository
	out, err := compile.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return tarball
}

// metric is a metric of a run.
func (r runView) metric(t *testing.T, name string) float64 {
	t.Helper()
	for _, m := range r.Metrics {
		if m.Name == name {
			return m.Value
		}
	}
	t.Fatalf("the run has no metric %s: %+v", name, r.Metrics)
	return 0
}

// nameValue is an output of a node.
type nameValue = struct{ Name, Value string }

func checkPyTorch(t *testing.T, a *argosy, run runView) {
	log := a.stepLog(t, run, "ddp")
	require.Contains(t, log, "[master-0,0]<stdout>:rank 0 of 2: the same weights as rank 0")
	require.Contains(t, log, "[worker-0,1]<stdout>:rank 1 of 2: the same weights as rank 0")
	require.Greater(t, run.metric(t, "accuracy"), 0.5, "ten classes: by chance it would be 0.1")
	require.Positive(t, run.metric(t, "samples/sec"))
	curves, err := a.sdk(t).Series(t.Context(), run.ID, "loss", 0)
	require.NoError(t, err)
	require.Len(t, curves, 2, "one of each rank")
	for _, c := range curves {
		require.Len(t, c.Points, 2, "one point of each epoch")
		require.Less(t, *c.Points[1].Value, *c.Points[0].Value, "the loss falls")
	}
	require.Contains(t, run.Nodes[run.node(t, "ddp")].Outputs, nameValue{"world-size", "2"})
}

func checkParameterServers(t *testing.T, a *argosy, run runView) {
	log := a.stepLog(t, run, "train")
	for _, line := range []string{
		"[ps-0,3]<stdout>:serving weights", "[ps-1,4]<stdout>:serving weights", "[worker-1,2]<stdout>:worker 1 of 1 chief, 2 ps, 2 worker",
		"[chief-0,0]<stdout>:chief 0 has trained on ", "on 2 parameter servers: accuracy=",
	} {
		require.Contains(t, log, line)
	}
	require.Greater(t, run.metric(t, "accuracy"), 0.8)
	require.Contains(t, run.Nodes[run.node(t, "train")].Outputs, nameValue{"world-size", "3"})

	var list struct {
		Items []struct {
			Spec struct {
				RunPolicy struct{ SchedulingPolicy struct{ MinAvailable int } }
			}
		}
	}
	a.kubernetes(t, "/apis/kubeflow.org/v1/namespaces/kubeflow/tfjobs", &list)
	require.Len(t, list.Items, 1)
	require.Equal(t, 5, list.Items[0].Spec.RunPolicy.SchedulingPolicy.MinAvailable, "one gang")
}
