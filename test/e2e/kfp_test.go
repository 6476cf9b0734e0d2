//go:build e2e

package e2e

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestKFP serves what was made for KFP v1: packages of its SDKs, retries, recurring runs, and a client that is not ours.
func TestKFP(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	port := freePort(t)
	a := up(t, home, func(c *exec.Cmd) { c.Args[len(c.Args)-1] = port })

	t.Run("a package of SDK 0.1.16", func(t *testing.T) {
		run := a.runPackage(t, "sdk-0.1.16.yaml", map[string]string{"first-word": "heads"})
		require.Equal(t, "Succeeded", run.Status, "%+v", run)
		require.Regexp(t, "^it was heads in "+run.Workflow.Name+`-\d+$`, strings.TrimSpace(a.stepLog(t, run, "say")), "pods are named as their nodes")
		exits := 0
		for _, n := range run.Nodes {
			if n.Template == "tell" {
				exits++
				require.Equal(t, "the end: Succeeded", strings.TrimSpace(a.log(t, run.ID, n.ID)))
			}
		}
		require.Equal(t, 1, exits, "the exit handler, listed twice, ran once")
		require.Len(t, run.Metrics, 1)
		require.Equal(t, "words", run.Metrics[0].Name)
	})
	t.Run("a package of SDK 1.8", func(t *testing.T) {
		run := a.runPackage(t, "sdk-1.8.yaml", nil)
		require.Equal(t, "Succeeded", run.Status, "%+v", run)
		names := map[string]float64{}
		for _, m := range run.Metrics {
			names[m.Name] = m.Value
		}
		require.Equal(t, map[string]float64{"rate-1": 1, "rate-2": 2, "rate-4": 4}, names, "collected, though they are not declared and one beside them is bad")
		settled := a.await(t, run.ID, 3*time.Minute, func(r runView) bool { return len(r.Warnings) >= 2 })
		require.Contains(t, strings.Join(settled.Warnings, "\n"), `metric 2 of the file ("broken"): its value "x" is not a number`)
		require.Contains(t, strings.Join(settled.Warnings, "\n"), `output 1 of the UI metadata: type "pie" is unknown`)
	})
	t.Run("a step of kfp-arena", func(t *testing.T) {
		run := a.runPackage(t, "arena-0.6.yaml", nil)
		require.Equal(t, "Succeeded", run.Status, "%+v", run)
		require.Len(t, run.Metrics, 1)
		require.Equal(t, "images/sec", run.Metrics[0].Name)
		require.InDelta(t, 134.66, run.Metrics[0].Value, 1e-9)
		node := run.Nodes[run.node(t, "all-reduce")]
		outputs := map[string]string{}
		for _, o := range node.Outputs {
			outputs[o.Name] = o.Value
		}
		require.Equal(t, a.mpiJobs(t), []string{outputs["all-reduce-name"]})
		require.Equal(t, run.Workflow.Name, outputs["all-reduce-workflow"])
		require.Equal(t, "N/A", outputs["all-reduce-train"])
		require.NotEmpty(t, outputs["all-reduce-step"])
	})
	t.Run("a retry", func(t *testing.T) { a.retries(t, "mended", false) })
	t.Run("a retry when the Workflow has gone", func(t *testing.T) { a.retries(t, "mended-late", true) })
	t.Run("a retry of one step", func(t *testing.T) { a.retriesOneStep(t) })
	t.Run("a job", func(t *testing.T) { a.recurs(t) })
	t.Run("a client that is not ours", func(t *testing.T) { a.curls(t, port) })
	t.Run("another client that is not ours, as recorded", func(t *testing.T) { a.replaysSession(t, port) })
}

// freePort is an address that nothing listens on. Its port lies below the range from which the kernel chooses free ports, so that no other
// process has it before the server does.
func freePort(t *testing.T) string {
	t.Helper()
	for {
		address := fmt.Sprintf("127.0.0.1:%d", 10000+rand.IntN(20000))
		if l, err := net.Listen("tcp", address); err == nil {
			require.NoError(t, l.Close())
			return address
		}
	}
}

// runPackage uploads a package as an SDK wrote it, and runs it to its end.
func (a *argosy) runPackage(t *testing.T, file string, parameters map[string]string) runView {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/kfp", file))
	require.NoError(t, err)
	var pipeline struct{ ID string }
	a.upload(t, file, file, data, 200, &pipeline)
	return a.await(t, a.createRun(t, file, pipeline.ID, parameters), 3*time.Minute, runView.final)
}

// flaky has a step that fails until a file is there, one before it, and one after it.
const flaky = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: flaky-}
spec:
  entrypoint: main
  onExit: bye
  arguments: {parameters: [{name: file}]}
  templates:
  - name: main
    dag:
      tasks:
      - {name: first, template: first}
      - {name: second, template: second, dependencies: [first]}
      - {name: third, template: third, dependencies: [second]}
  - name: first
    container: {image: alpine, command: [sh, -c, "echo $(date +%%s%%N) > /tmp/when"]}
    outputs: {parameters: [{name: when, valueFrom: {path: /tmp/when}}]}
  - name: second
    container:
      image: alpine
      command: [sh, -c, 'echo "{\"metrics\":[{\"name\":\"tries\",\"numberValue\":$(test -e {{workflow.parameters.file}} && echo 2 || echo 1)}]}" > /mlpipeline-metrics.json; test -e {{workflow.parameters.file}}']
    outputs: {artifacts: [{name: mlpipeline-metrics, path: /mlpipeline-metrics.json, optional: true}]}
  - name: third
    container: {image: alpine, command: ["true"]}
  - name: bye
    container: {image: alpine, command: [sh, -c, "echo {{workflow.status}}"]}
`

// retries lets a run fail, mends what it failed for, and has it go on; late is when its Workflow has left the cluster.
func (a *argosy) retries(t *testing.T, name string, late bool) {
	t.Helper()
	mended := filepath.Join(a.home, "shared", name)
	manifest := strings.ReplaceAll(flaky, "%%", "%")
	var pipeline struct{ ID string }
	a.upload(t, name, "flaky.yaml", []byte(manifest), 200, &pipeline)
	id := a.createRun(t, name, pipeline.ID, map[string]string{"file": mended})
	failed := a.await(t, id, 3*time.Minute, runView.final)
	require.Equal(t, "Failed", failed.Status, "%+v", failed)
	letGo := func() {}
	if late {
		letGo = holdPods(t, a.home, failed.Workflow.Name)
		require.NoError(t, workflows(t, a.home).Delete(t.Context(), failed.Workflow.Name, metav1.DeleteOptions{}))
		awaitWorkflow(t, workflows(t, a.home), failed.Workflow.Name, gone)
	}
	first := failed.Nodes[failed.node(t, "first")].Outputs

	require.NoError(t, os.MkdirAll(filepath.Dir(mended), 0o755))
	require.NoError(t, os.WriteFile(mended, nil, 0o644))
	a.post(t, "/apis/v1beta1/runs/"+id+"/retry", struct{}{}, 200, nil)
	a.post(t, "/apis/v1beta1/runs/"+id+"/retry", struct{}{}, 409, nil)
	letGo()
	run := a.await(t, id, 3*time.Minute, runView.final)
	require.Equal(t, "Succeeded", run.Status, "%+v", run)
	require.Equal(t, first, run.Nodes[run.node(t, "first")].Outputs, "what succeeded did not run again")
	run.node(t, "third")
	require.Len(t, run.Metrics, 1)
	require.InDelta(t, 2, run.Metrics[0].Value, 0, "the metric of the attempt that counts")
	for _, n := range run.Nodes {
		if n.Template == "bye" {
			require.Equal(t, "Succeeded", strings.TrimSpace(a.log(t, id, n.ID)), "the exit handler ran anew")
		}
	}
}

// holdPods has a Workflow's pods stay when it has gone, as they do for a while where the cluster has much to collect, until they are let go.
func holdPods(t *testing.T, home, workflow string) (letGo func()) {
	t.Helper()
	pods := clientOf(t, home).CoreV1().Pods("kubeflow")
	list, err := pods.List(t.Context(), metav1.ListOptions{LabelSelector: "workflows.argoproj.io/workflow=" + workflow})
	require.NoError(t, err)
	require.NotEmpty(t, list.Items)
	set := func(finalizers string) {
		for _, p := range list.Items {
			_, err := pods.Patch(t.Context(), p.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":`+finalizers+`}}`), metav1.PatchOptions{})
			require.NoError(t, err)
		}
	}
	set(`["argosy.dev/test"]`)
	return func() { set("null") }
}

// retriesOneStep is the same for a workflow that is one pod, whose name is that of the workflow in each attempt.
func (a *argosy) retriesOneStep(t *testing.T) {
	t.Helper()
	mended := filepath.Join(a.home, "shared", "mended-too")
	manifest := strings.Replace(oneStep, `"echo {{inputs.parameters.word}} from $(hostname)"`, `"test -e {{inputs.parameters.word}}"`, 1)
	var pipeline struct{ ID string }
	a.upload(t, "one-flaky-step", "flaky.yaml", []byte(manifest), 200, &pipeline)
	id := a.createRun(t, "flaky", pipeline.ID, map[string]string{"word": mended})
	require.Equal(t, "Failed", a.await(t, id, 3*time.Minute, runView.final).Status)
	require.NoError(t, os.WriteFile(mended, nil, 0o644))
	a.post(t, "/apis/v1beta1/runs/"+id+"/retry", struct{}{}, 200, nil)
	run := a.await(t, id, 3*time.Minute, runView.final)
	require.Equal(t, "Succeeded", run.Status, "%+v", run)
}

// recurs lets a job start runs every second.
func (a *argosy) recurs(t *testing.T) {
	t.Helper()
	var job struct{ ID string }
	a.post(t, "/apis/v1beta1/jobs", map[string]any{
		"name": "Every second", "enabled": true, "max_concurrency": "1", "no_catchup": true,
		"pipeline_spec": map[string]any{"workflow_manifest": oneStep, "parameters": []map[string]string{{"name": "word", "value": "run [[Index]]"}}},
		"trigger":       map[string]any{"cron_schedule": map[string]string{"cron": "* * * * * *"}},
	}, 200, &job)
	var list struct {
		Runs []struct{ ID, Name, Status string }
	}
	require.Eventually(t, func() bool {
		list.Runs = nil
		a.get(t, "/apis/v1beta1/runs?resource_reference_key.type=JOB&resource_reference_key.id="+job.ID, 200, &list)
		return len(list.Runs) >= 3
	}, 3*time.Minute, 100*time.Millisecond)
	a.post(t, "/apis/v1beta1/jobs/"+job.ID+"/disable", struct{}{}, 200, nil)
	for i, r := range list.Runs {
		run := a.await(t, r.ID, 3*time.Minute, runView.final)
		require.Equal(t, "Succeeded", run.Status, "%+v", run)
		require.Equal(t, run.Workflow.Name, run.Name)
		require.Contains(t, a.log(t, r.ID, run.Nodes[0].ID), fmt.Sprintf("run %d from", i+1))
		require.Equal(t, fmt.Sprintf("run %d", i+1), run.Parameters[0].Value, "the run lists what its occasion made of the macro")
	}
	a.call(t, "DELETE", "/apis/v1beta1/jobs/"+job.ID, "", nil, 200, nil)
}

// curls calls the server with buf curl, which knows nothing of it but what reflection tells.
func (a *argosy) curls(t *testing.T, grpc string) {
	t.Helper()
	call := func(method, body string) string {
		c := exec.Command("go", "tool", "-modfile=tools/go.mod", "buf", "curl", "--protocol", "grpc", "--http2-prior-knowledge", "-d", body, "http://"+grpc+"/"+method)
		c.Dir = repository
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s: %s", method, out)
		return string(out)
	}
	created := call("api.ExperimentService/CreateExperimentV1", `{"experiment": {"name": "by another client"}}`)
	require.Contains(t, created, `"name": "by another client"`)
	require.Contains(t, call("api.ExperimentService/ListExperiment", `{"filter": "{\"predicates\":[{\"op\":\"IS_SUBSTRING\",\"key\":\"name\",\"string_value\":\"another\"}]}"}`), `"totalSize": 1`)
	require.Contains(t, call("api.RunService/ListRunsV1", `{"sort_by": "created_at desc", "page_size": 1}`), `"nextPageToken"`)
	require.Contains(t, call("api.PipelineService/ListPipelines", `{}`), `"arena-0.6.yaml"`)
	require.Contains(t, call("grpc.health.v1.Health/Check", `{}`), "SERVING")
}
