//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/client"
)

// samples are the folders of samples/, with the runs that their READMEs start; samples/notebook has TestNotebook.
var samples = []struct {
	folder string
	checks map[string]func(*testing.T, *argosy, runView) // by the run's name
	prints bool                                          // what the README says is printed, is, to the letter
}{
	{"mpi_run", checks{"resnet": checkResNet}, false},
	{"pytorch_ddp", checks{"ddp": checkPyTorch}, false},
	{"tf_ps", checks{"ps": checkParameterServers}, false},
	{"gang", checks{"turns": checkTurns}, false},
	{"eks_benchmark", checks{"eks": checkBenchmark}, false},
	{"sweep", checks{"sweep": checkSweep, "none-good": checkSweepGivesUp}, true},
	{"data_pipeline", checks{"sales": checkDataPipeline}, false},
	{"go_functions", checks{"line": checkGoFunctions}, false},
	{"until_good", checks{"until": checkUntilGood}, true},
}

type checks = map[string]func(*testing.T, *argosy, runView)

// TestSamples pastes what the READMEs of the samples say into a shell, beside one embedded cluster, and checks what comes of the
// runs.
func TestSamples(t *testing.T) {
	t.Parallel()
	a := up(t, t.TempDir(), func(c *exec.Cmd) { c.Args = append(c.Args, "--gpus", "4") }) // for samples/gang
	for _, s := range samples {
		t.Run(s.folder, func(t *testing.T) {
			printed := a.paste(t, s.folder)
			for name, check := range s.checks {
				run := a.named(t, name)
				if run.Status != "Succeeded" {
					for _, n := range run.Nodes {
						if n.Type == "Pod" {
							t.Logf("%s:\n%s", n.DisplayName, a.log(t, run.ID, n.ID))
						}
					}
				}
				require.Equal(t, "Succeeded", run.Status, "%+v", run)
				require.Empty(t, run.Warnings)
				check(t, a, run)
			}
			if s.prints {
				for _, said := range blocks(t, s.folder, "") {
					require.Contains(t, printed, said)
				}
			}
		})
	}
	t.Run("cron", func(t *testing.T) { checkCron(t, a) })
}

// blocks are the code blocks of a language in what a sample's README says of laptops; those without a language are what is
// printed there.
func blocks(t *testing.T, folder, language string) (found []string) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(repository, "samples", folder, "README.md"))
	require.NoError(t, err)
	_, laptop, there := strings.Cut(string(readme), "\n## On a laptop\n")
	require.True(t, there)
	laptop, _, _ = strings.Cut(laptop, "\n## ")
	for i, part := range strings.Split(laptop, "\n```") {
		if name, code, _ := strings.Cut(part, "\n"); i%2 == 1 && name == language {
			found = append(found, code+"\n")
		}
	}
	require.NotEmpty(t, found)
	return found
}

// paste runs the blocks of commands of a sample's README as they are, where a user would, and gives what they print.
func (a *argosy) paste(t *testing.T, folder string) string {
	t.Helper()
	var printed bytes.Buffer
	shell := exec.CommandContext(t.Context(), "bash", "-e")
	shell.Dir = repository
	shell.Stdin = strings.NewReader(strings.Join(blocks(t, folder, "sh"), ""))
	shell.Env = append(os.Environ(), "PATH="+filepath.Join(repository, "bin")+":"+os.Getenv("PATH"), "ARGOSY_HOME="+a.home, "ARGOSY_URL="+a.url)
	var errs bytes.Buffer
	shell.Stdout, shell.Stderr = &printed, &errs
	t.Cleanup(func() {
		for _, file := range []string{folder + ".tar.gz", "report.html", "results.tar.gz"} { // what the commands leave beside the samples
			_ = os.Remove(filepath.Join(repository, file))
		}
	})
	require.NoError(t, shell.Run(), "%s%s", &printed, &errs)
	return printed.String()
}

// named is the run of that name.
func (a *argosy) named(t *testing.T, name string) (run runView) {
	t.Helper()
	runs, err := a.sdk(t).Runs.List(t.Context(), client.RunListOptions{ListOptions: client.ListOptions{Filter: []client.Predicate{client.Equals("name", name)}}})
	require.NoError(t, err)
	require.Len(t, runs.Items, 1, name)
	a.get(t, "/apis/argosy/v1/runs/"+runs.Items[0].ID, 200, &run)
	return run
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

func checkResNet(t *testing.T, a *argosy, run runView) {
	require.Contains(t, a.stepLog(t, run, "all-reduce"), "total images/sec: ")
	require.Positive(t, run.metric(t, "images/sec"))
	require.Contains(t, run.Nodes[run.node(t, "all-reduce")].Outputs, nameValue{"world-size", "2"})
}

func checkPyTorch(t *testing.T, a *argosy, run runView) {
	log := a.stepLog(t, run, "ddp")
	require.Contains(t, log, "[master-0,0]<stdout>:rank 0 of 2: the same weights as rank 0")
	require.Contains(t, log, "[worker-0,1]<stdout>:rank 1 of 2: the same weights as rank 0")
	require.Greater(t, run.metric(t, "accuracy"), 0.5, "ten classes: by chance it would be 0.1")
	require.Positive(t, run.metric(t, "samples/sec"))
	curves, err := a.sdk(t).Series.Get(t.Context(), run.ID, "loss", client.SeriesOptions{})
	require.NoError(t, err)
	require.Len(t, curves, 2, "one of each rank")
	for _, c := range curves {
		require.Len(t, c.Points, 2, "one point of each epoch")
		require.Less(t, *c.Points[1].Value, *c.Points[0].Value, "the loss falls")
	}
	require.Contains(t, run.Nodes[run.node(t, "ddp")].Outputs, nameValue{"world-size", "2"})
}

func checkTurns(t *testing.T, a *argosy, run runView) {
	for _, step := range []string{"tfjob1", "tfjob2"} {
		require.Contains(t, a.stepLog(t, run, step), "[worker-0,0]<stdout>:worker 0: all are there")
		require.Contains(t, run.Nodes[run.node(t, step)].Outputs, nameValue{"world-size", "4"})
	}
}

func checkParameterServers(t *testing.T, a *argosy, run runView) {
	log := a.stepLog(t, run, "train")
	for _, line := range []string{
		"[ps-0,3]<stdout>:serving weights", "[ps-1,4]<stdout>:serving weights", "[worker-1,2]<stdout>:worker 1 of 1 chief, 2 ps, 2 worker",
		"[chief-0,0]<stdout>:chief 0 has trained on ", "on 2 parameter servers: accuracy=", "exported the model to s3://mlpipeline/models/ps",
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

func checkBenchmark(t *testing.T, _ *argosy, run runView) {
	t.Helper()
	require.Positive(t, run.metric(t, "images/sec"))
	steps := map[string]int{}
	for _, n := range run.Nodes {
		if n.Type == "Pod" {
			steps[n.DisplayName]++
		}
	}
	require.Equal(t, map[string]int{"prepare-storage": 1, "copy-dataset": 1, "experiment": 2, "copy-results": 1, "delete-storage": 1}, steps)
}
