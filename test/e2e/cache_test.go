//go:build e2e

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/dsl"
)

// twoSteps is a pipeline whose first step leaves something new each time that it runs, and whose second one takes both
// the text and the file.
const twoSteps = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: two-steps-}
spec:
  entrypoint: main
  onExit: bye
  arguments: {parameters: [{name: word, value: hello}, {name: code, value: "0"}]}
  templates:
    - name: main
      dag:
        tasks:
          - {name: make, template: make, arguments: {parameters: [{name: word, value: "{{workflow.parameters.word}}"}]}}
          - name: use
            template: use
            dependencies: [make]
            arguments:
              parameters:
                - {name: text, value: "{{tasks.make.outputs.parameters.text}}"}
                - {name: code, value: "{{workflow.parameters.code}}"}
              artifacts: [{name: file, from: "{{tasks.make.outputs.artifacts.file}}"}]
    - name: make
      metadata: {annotations: {pipelines.kubeflow.org/max_cache_staleness: STALENESS}}
      inputs: {parameters: [{name: word}]}
      outputs:
        parameters: [{name: text, valueFrom: {path: /tmp/out}}]
        artifacts: [{name: file, path: /tmp/out}, {name: mlpipeline-metrics, path: /tmp/metrics}]
      container:
        image: host
        command: [sh, -c]
        args:
          - echo "{{inputs.parameters.word}} $(cat /proc/sys/kernel/random/uuid)" | tee /tmp/out;
            echo '{"metrics":[{"name":"accuracy","numberValue":0.5}]}' > /tmp/metrics
    - name: use
      inputs: {parameters: [{name: text}, {name: code}], artifacts: [{name: file, path: /tmp/in}]}
      outputs: {parameters: [{name: both, valueFrom: {path: /tmp/out}}]}
      container: {image: host, command: [sh, -c], args: ['echo "{{inputs.parameters.text}}, $(cat /tmp/in)" | tee /tmp/out; exit {{inputs.parameters.code}}']}
    - name: bye
      container: {image: host, command: [echo, bye]}
`

// finish starts a run of a pipeline and waits until it has ended and nothing more of it will come.
func (a *argosy) finish(t *testing.T, pipeline string, parameters map[string]string) runView {
	t.Helper()
	id := a.createRun(t, "a run", pipeline, parameters)
	run := a.await(t, id, 3*time.Minute, runView.final)
	awaitWorkflow(t, workflows(t, a.home), run.Workflow.Name, func(wf *wfv1.Workflow) bool { return len(wf.Finalizers) == 0 })
	var whole runView
	a.get(t, "/apis/argosy/v1/runs/"+id, 200, &whole)
	return whole
}

// from tells which run a step took its outputs from; empty when it ran.
func (r runView) from(t *testing.T, step string) string {
	t.Helper()
	return r.Nodes[r.node(t, step)].CachedFrom.RunID
}

func (r runView) left(t *testing.T, step string) string {
	t.Helper()
	outputs := r.Nodes[r.node(t, step)].Outputs
	require.NotEmpty(t, outputs, "%+v", r)
	return outputs[0].Value
}

// TestCache runs pipelines again, with what was kept of their steps and without.
func TestCache(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := up(t, home)
	upload := func(name, text string) string {
		var pipeline struct{ ID string }
		a.upload(t, name, name+".yaml", []byte(text), 200, &pipeline)
		return pipeline.ID
	}
	pipeline := upload("two", strings.ReplaceAll(twoSteps, "STALENESS", "P30D"))
	first := a.finish(t, pipeline, nil)
	require.Equal(t, "Succeeded", first.Status, "%+v", first)
	require.Empty(t, first.from(t, "make"))
	require.Equal(t, first.left(t, "make")+", "+first.left(t, "make"), first.left(t, "use"))

	t.Run("the same again takes all, marks it and shows its log", func(t *testing.T) {
		again := a.finish(t, pipeline, nil)
		require.Equal(t, "Succeeded", again.Status, "%+v", again)
		require.Equal(t, first.ID, again.from(t, "make"))
		require.Equal(t, first.ID, again.from(t, "use"))
		require.Equal(t, first.left(t, "make"), again.left(t, "make"))
		require.Equal(t, first.left(t, "use"), again.left(t, "use"))
		require.Equal(t, first.left(t, "make")+"\n", a.stepLog(t, again, "make"))
		require.Len(t, again.Metrics, 1, "its metrics are its own")
		require.Empty(t, again.Warnings)
		require.Empty(t, again.from(t, again.Workflow.Name+".onExit"), "what is done at the end is always done")
		pods, err := clientOf(t, home).CoreV1().Pods("kubeflow").List(t.Context(), metav1.ListOptions{
			LabelSelector: "pipelines.kubeflow.org/reused_from_cache=true,workflows.argoproj.io/workflow=" + again.Workflow.Name,
		})
		require.NoError(t, err)
		require.Len(t, pods.Items, 2)
		for _, p := range pods.Items {
			require.Empty(t, p.Spec.NodeName, "it was never on a node")
		}
	})
	t.Run("another parameter runs", func(t *testing.T) {
		other := a.finish(t, pipeline, map[string]string{"word": "ahoy"})
		require.Empty(t, other.from(t, "make"))
		require.Empty(t, other.from(t, "use"), "its inputs are others")
		require.Contains(t, other.left(t, "use"), "ahoy ")
	})
	t.Run("a step downstream of a kept one runs with its file", func(t *testing.T) {
		mixed := a.finish(t, pipeline, map[string]string{"code": "00"})
		require.Equal(t, first.ID, mixed.from(t, "make"))
		require.Empty(t, mixed.from(t, "use"))
		require.Equal(t, first.left(t, "use"), mixed.left(t, "use"))
	})
	t.Run("what failed never counts", func(t *testing.T) {
		for range 2 {
			failed := a.finish(t, pipeline, map[string]string{"code": "1"})
			require.Equal(t, "Failed", failed.Status)
			require.Equal(t, first.ID, failed.from(t, "make"))
			require.Empty(t, failed.from(t, "use"))
		}
	})
	t.Run("what is too old does not count", func(t *testing.T) {
		for _, staleness := range []string{"P0D", "PT1S", "soon"} {
			stale := upload("stale-"+strings.ToLower(staleness), strings.ReplaceAll(twoSteps, "STALENESS", staleness))
			time.Sleep(time.Second) // what the first run left is more than a second old, whatever the clock's steps
			run := a.finish(t, stale, nil)
			require.Empty(t, run.from(t, "make"), staleness)
			if staleness == "soon" {
				require.Len(t, run.Warnings, 1)
				require.Contains(t, run.Warnings[0], `max_cache_staleness "soon" is not an ISO 8601 duration, such as P30D, PT12H or P0D; it runs`)
			}
		}
	})
	t.Run("what is lost does not count", func(t *testing.T) {
		word := map[string]string{"word": "lost"}
		one := a.finish(t, pipeline, word)
		two := a.finish(t, pipeline, word)
		require.Equal(t, one.ID, two.from(t, "make"))
		lost := 0
		require.NoError(t, filepath.WalkDir(home, func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && strings.Contains(path, one.Workflow.Name) && strings.HasSuffix(path, "file.tgz") {
				lost++
				return os.Remove(path)
			}
			return nil
		}))
		require.Equal(t, 1, lost)
		three := a.finish(t, pipeline, word)
		require.Equal(t, "Succeeded", three.Status)
		require.Empty(t, three.from(t, "make"))
		require.NotEqual(t, one.left(t, "make"), three.left(t, "make"))
		four := a.finish(t, pipeline, word)
		require.Equal(t, three.ID, four.from(t, "make"), "and what replaced it does")
	})
	t.Run("a run that was deleted gives nothing any more, and those that took from it stay whole", func(t *testing.T) {
		word := map[string]string{"word": "deleted"}
		one := a.finish(t, pipeline, word)
		two := a.finish(t, pipeline, word)
		a.call(t, http.MethodDelete, "/apis/v1beta1/runs/"+one.ID, "", nil, 200, nil)
		require.Equal(t, one.left(t, "make")+"\n", a.stepLog(t, two, "make"))
		three := a.finish(t, pipeline, word)
		require.Empty(t, three.from(t, "make"))
	})
	t.Run("two at once", func(t *testing.T) {
		word := map[string]string{"word": "at once"}
		ids := []string{a.createRun(t, "one", pipeline, word), a.createRun(t, "two", pipeline, word)}
		for _, id := range ids {
			run := a.await(t, id, 3*time.Minute, runView.final)
			require.Equal(t, "Succeeded", run.Status)
			require.Equal(t, run.left(t, "make")+", "+run.left(t, "make"), run.left(t, "use"))
		}
	})
	t.Run("turned off by a label", func(t *testing.T) {
		off := upload("off", strings.ReplaceAll(strings.ReplaceAll(twoSteps, "STALENESS", "P30D"), "metadata: {annotations:",
			`metadata: {labels: {pipelines.kubeflow.org/enable_caching: "false"}, annotations:`))
		for range 2 {
			require.Empty(t, a.finish(t, off, nil).from(t, "make"))
		}
	})
	t.Run("the server is killed while a step waits for it", func(t *testing.T) {
		id := a.createRun(t, "killed", pipeline, nil)
		a.kill(t)
		a = up(t, home)
		run := a.await(t, id, 3*time.Minute, runView.final)
		require.Equal(t, "Succeeded", run.Status)
		require.NotEmpty(t, run.from(t, "make"))
		require.NotEmpty(t, run.from(t, "use"))
		require.Equal(t, run.left(t, "make")+", "+run.left(t, "make"), run.left(t, "use"))
	})
}

// TestCacheKey has the DSL's own key stand for all that a step is given.
func TestCacheKey(t *testing.T) {
	t.Parallel()
	a := up(t, t.TempDir())
	upload := func(name, say string) string {
		p := dsl.New("keyed")
		version := dsl.Param(p, "version", "v1")
		dsl.Run(p, "make", dsl.Container{
			Image: dsl.Lit("host"), Command: dsl.Args("sh", "-ec", `echo "$0" > /tmp/said`), Args: dsl.Args(say),
		}, dsl.CacheKey(version))
		text, err := compiler.Compile(p)
		require.NoError(t, err)
		var pipeline struct{ ID string }
		a.upload(t, name, "keyed.yaml", text, 200, &pipeline)
		return pipeline.ID
	}
	before, after := upload("before", "one"), upload("after", "another")
	first := a.finish(t, before, nil)
	require.Empty(t, first.from(t, "make"))
	require.Equal(t, first.ID, a.finish(t, after, nil).from(t, "make"), "the same key, though all else is different")
	require.Empty(t, a.finish(t, after, map[string]string{"version": "v2"}).from(t, "make"))
}
