//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// oneStep is the smallest workflow: a container that prints its address and ends.
const oneStep = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: one-step-}
spec:
  entrypoint: main
  arguments: {parameters: [{name: word, value: hello}]}
  templates:
  - name: main
    inputs: {parameters: [{name: word}]}
    container: {image: debian, command: [sh, -c], args: ["echo {{inputs.parameters.word}} from $(hostname)"]}
`

// TestMainJob performs the whole path: Go DSL, tarball, upload, run, MPIJob, images/sec, browser.
func TestMainJob(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := up(t, home)

	tarball := filepath.Join(t.TempDir(), "mpi_run.tar.gz")
	compile := exec.Command(binary("argosy"), "compile", "samples/mpi_run", "-o", tarball)
	compile.Dir = repository
	out, err := compile.CombinedOutput()
	require.NoError(t, err, "%s", out)
	data, err := os.ReadFile(tarball)
	require.NoError(t, err)
	var pipeline struct{ ID string }
	a.upload(t, "mpi-run", "mpi_run.tar.gz", data, 200, &pipeline)
	require.NotEmpty(t, pipeline.ID)

	repo := benchmarks(t, home)
	laptop := laptopParameters(repo)
	id := a.createRun(t, "mpirun", pipeline.ID, laptop)
	run := a.await(t, id, 5*time.Minute, runView.final)
	require.Equal(t, "Succeeded", run.Status, "%+v\n%s", run, a.stepLog(t, run, "all-reduce"))

	log := a.stepLog(t, run, "all-reduce")
	total := regexp.MustCompile(`total images/sec: ([0-9.]+)`).FindAllStringSubmatch(log, -1)
	require.NotEmpty(t, total, "the program's own line in the log:\n%s", log)
	measured, err := strconv.ParseFloat(total[len(total)-1][1], 64)
	require.NoError(t, err)
	require.Positive(t, measured)

	require.Len(t, run.Metrics, 1)
	require.Equal(t, "images/sec", run.Metrics[0].Name)
	require.InDelta(t, measured, run.Metrics[0].Value, 0.01, "the metric is what the program printed")
	require.Contains(t, run.Nodes[run.node(t, "all-reduce")].Outputs, struct{ Name, Value string }{"world-size", "2"})

	jobs := a.mpiJobs(t)
	require.Len(t, jobs, 1)
	hosts := regexp.MustCompile(jobs[0]+`-worker-[01]`).FindAllString(log, -1)
	require.Contains(t, hosts, jobs[0]+"-worker-0")
	require.Contains(t, hosts, jobs[0]+"-worker-1")

	for _, browser := range []string{"chromium", "firefox"} {
		t.Run(browser, func(t *testing.T) {
			a.browse(t, browser, tarball, run, measured, laptop)
		})
	}
	t.Run("the data survives a restart", func(t *testing.T) {
		a.stop(t)
		again := up(t, home)
		var after runView
		again.get(t, "/apis/argosy/v1/runs/"+id, 200, &after)
		require.Equal(t, run.Metrics, after.Metrics)
		require.Equal(t, log, again.stepLog(t, after, "all-reduce"))
	})
}

// laptopParameters are parameters with which samples/mpi_run trains two workers on any machine, one with a single core too.
func laptopParameters(repo string) map[string]string {
	return map[string]string{"workers": "2", "gpus": "0", "data": "", "cpu_limit": "500m", "memory_limit": "1Gi", "sync_source": repo}
}

// TestSteps covers what needs no training: speed of one step, failures, bad input.
func TestSteps(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := up(t, home)

	var pipeline struct{ ID string }
	a.upload(t, "one-step", "one.yaml", []byte(oneStep), 200, &pipeline)

	t.Run("one step", func(t *testing.T) {
		run := a.await(t, a.createRun(t, "first", pipeline.ID, map[string]string{"word": "hi"}), 3*time.Minute, runView.final)
		require.Equal(t, "Succeeded", run.Status)
		begin := time.Now()
		run = a.await(t, a.createRun(t, "second", pipeline.ID, map[string]string{"word": "hi"}), 3*time.Minute, runView.final)
		t.Logf("one-step run, POST to Succeeded: %v", time.Since(begin).Round(time.Millisecond))
		require.Equal(t, "Succeeded", run.Status)
		require.Regexp(t, `^hi from \S+`, a.log(t, run.ID, run.Nodes[0].ID))
	})
	t.Run("an unknown parameter is refused", func(t *testing.T) {
		var answer struct{ Message string }
		a.post(t, "/apis/v1beta1/runs", runBody("bad", pipeline.ID, map[string]string{"nonsense": "1"}), 400, &answer)
		require.Contains(t, answer.Message, "nonsense")
	})
	t.Run("bad uploads leave no trace", func(t *testing.T) {
		for name, data := range map[string][]byte{
			"not-a-tarball.tar.gz": []byte("this is no archive"),
			"no-workflow.yaml":     []byte("kind: ConfigMap\napiVersion: v1\n"),
		} {
			var answer struct {
				Message string `json:"error_message"`
			}
			a.upload(t, "bad", name, data, 400, &answer)
			require.NotEmpty(t, answer.Message)
		}
		var list struct{ Pipelines []struct{ Name string } }
		a.get(t, "/apis/v1beta1/pipelines", 200, &list)
		require.Len(t, list.Pipelines, 1)
	})
	t.Run("a command that fails", func(t *testing.T) {
		var failing struct{ ID string }
		a.upload(t, "failing", "failing.yaml", job(t, `mpirun sh -c "echo loss=0.5; echo the disk is on fire >&2; exit 7"`), 200, &failing)
		run := a.await(t, a.createRun(t, "failing", failing.ID, nil), 3*time.Minute, runView.final)
		require.Equal(t, "Failed", run.Status)
		node := run.Nodes[run.node(t, "all-reduce")]
		require.Equal(t, "7", node.ExitCode, "%+v", node)
		require.Contains(t, node.Message, "the disk is on fire")
		require.Contains(t, a.stepLog(t, run, "all-reduce"), "the disk is on fire")
	})
	t.Run("a stopped run leaves no job behind", func(t *testing.T) {
		var sleeping struct{ ID string }
		a.upload(t, "sleeping", "sleeping.yaml", job(t, "mpirun sleep 600"), 200, &sleeping)
		before := len(a.mpiJobs(t))
		id := a.createRun(t, "sleeping", sleeping.ID, nil)
		require.Eventually(t, func() bool { return len(a.mpiJobs(t)) == before+1 }, 2*time.Minute, 100*time.Millisecond)
		a.post(t, "/apis/v1beta1/runs/"+id+"/terminate", map[string]string{}, 200, nil)
		a.await(t, id, 3*time.Minute, runView.final)
		require.Eventually(t, func() bool { return len(a.mpiJobs(t)) == before }, 3*time.Minute, 100*time.Millisecond)
	})
}

// TestServerKilled kills the server with SIGKILL while the job trains: the run ends right, with one MPIJob.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := up(t, home)
	repo := benchmarks(t, home)
	var pipeline struct{ ID string }
	a.upload(t, "mpi-run", "mpi_run.yaml", compiled(t), 200, &pipeline)
	id := a.createRun(t, "killed", pipeline.ID, laptopParameters(repo))
	require.Eventually(t, func() bool { return strings.Contains(a.liveLog(id), "images/sec:") }, 3*time.Minute, 100*time.Millisecond,
		"the job trains")
	a.kill(t)

	again := up(t, home)
	run := again.await(t, id, 5*time.Minute, runView.final)
	require.Equal(t, "Succeeded", run.Status, "%+v", run)
	require.Len(t, run.Metrics, 1)
	require.Len(t, again.mpiJobs(t), 1, "never submitted twice")
	require.Contains(t, again.stepLog(t, run, "all-reduce"), "total images/sec")
}

// TestOrdinaryUser runs the main job without any rights; when the suite itself is not root the other tests prove it already.
func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	options := []func(*exec.Cmd){}
	home := filepath.Join(t.TempDir(), "home")
	require.NoError(t, os.Mkdir(home, 0o700))
	if os.Getuid() == 0 {
		const nobody = 65534
		require.NoError(t, os.Chown(home, nobody, nobody))
		require.NoError(t, openPath(home))
		options = append(options, ordinary(nobody), func(c *exec.Cmd) { c.Env = append(os.Environ(), "HOME="+home) })
	}
	a := up(t, home, options...)
	var pipeline struct{ ID string }
	a.upload(t, "mpi-run", "mpi_run.yaml", compiled(t), 200, &pipeline)
	repo := benchmarks(t, home)
	id := a.createRun(t, "ordinary", pipeline.ID, laptopParameters(repo))
	run := a.await(t, id, 5*time.Minute, runView.final)
	require.Equal(t, "Succeeded", run.Status, "%+v\n%s", run, a.stepLog(t, run, "all-reduce"))
	require.Len(t, run.Metrics, 1)
	require.Positive(t, run.Metrics[0].Value)
}

func runBody(name, pipeline string, parameters map[string]string) map[string]any {
	list := []map[string]string{}
	for k, v := range parameters {
		list = append(list, map[string]string{"name": k, "value": v})
	}
	return map[string]any{"name": name, "pipeline_spec": map[string]any{"pipeline_id": pipeline, "parameters": list}}
}

func (a *argosy) createRun(t *testing.T, name, pipeline string, parameters map[string]string) string {
	t.Helper()
	var answer struct{ Run struct{ ID string } }
	a.post(t, "/apis/v1beta1/runs", runBody(name, pipeline, parameters), 200, &answer)
	require.NotEmpty(t, answer.Run.ID)
	return answer.Run.ID
}

func (a *argosy) log(t *testing.T, run, node string) (text string) {
	t.Helper()
	a.get(t, fmt.Sprintf("/apis/v1beta1/runs/%s/nodes/%s/log", run, node), 200, &text)
	return text
}

func (a *argosy) stepLog(t *testing.T, r runView, step string) string {
	t.Helper()
	return a.log(t, r.ID, r.Nodes[r.node(t, step)].ID)
}

// liveLog is what a run's job has printed so far; nothing while it has not begun.
func (a *argosy) liveLog(id string) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	read := func(path string) []byte {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+path, nil)
		if err != nil {
			return nil
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil
		}
		defer answer.Body.Close()
		data, _ := io.ReadAll(answer.Body)
		return data
	}
	var run runView
	if json.Unmarshal(read("/apis/argosy/v1/runs/"+id), &run) != nil {
		return ""
	}
	for _, n := range run.Nodes {
		if n.Type == "Pod" {
			return string(read(fmt.Sprintf("/apis/v1beta1/runs/%s/nodes/%s/log", id, n.ID)))
		}
	}
	return ""
}

// mpiJobs lists the names of the jobs in the cluster.
func (a *argosy) mpiJobs(t *testing.T) (names []string) {
	t.Helper()
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	a.kubernetes(t, "/apis/kubeflow.org/v2beta1/namespaces/kubeflow/mpijobs", &list)
	for _, i := range list.Items {
		names = append(names, i.Metadata.Name)
	}
	return names
}

// compiled gives samples/mpi_run as YAML.
func compiled(t *testing.T) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mpi_run.yaml")
	compile := exec.Command(binary("argosy"), "compile", "samples/mpi_run", "-o", file)
	compile.Dir = repository
	out, err := compile.CombinedOutput()
	require.NoError(t, err, "%s", out)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return data
}

// browse checks the pages in a browser: one of the projects of playwright.config.ts. Screenshots go to .build/screenshots.
func (a *argosy) browse(t *testing.T, project, tarball string, run runView, measured float64, parameters map[string]string) {
	t.Helper()
	typed, err := json.Marshal(parameters)
	require.NoError(t, err)
	a.playwright(t, project, "RUN_ID="+run.ID, "PIPELINE_FILE="+tarball, "RUN_PARAMETERS="+string(typed),
		"EXPECT_METRIC_NAME=images/sec", "EXPECT_METRIC_VALUE="+strconv.FormatFloat(measured, 'f', -1, 64))
}

func (a *argosy) playwright(t *testing.T, project string, variables ...string) {
	t.Helper()
	browser := exec.Command("npx", "playwright", "test", "--config", "e2e/playwright.config.ts", "--project", project)
	browser.Dir = filepath.Join(repository, "frontend")
	browser.Env = append(os.Environ(), "ARGOSY_URL="+a.url, "SCREENSHOTS="+filepath.Join(repository, ".build/screenshots"))
	browser.Env = append(browser.Env, variables...)
	out, err := browser.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Log(strings.TrimSpace(string(out)))
}

// TestEmptyHome starts a sample with one click, where nothing has run.
func TestEmptyHome(t *testing.T) {
	t.Parallel()
	up(t, t.TempDir()).playwright(t, "empty")
}

// openPath lets others pass through the temporary folders above a path.
func openPath(path string) error {
	for dir := filepath.Dir(path); strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}
