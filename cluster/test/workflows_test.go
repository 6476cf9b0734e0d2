package test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func (c *cluster) testWorkflow(t *testing.T) {
	c.create(t, workflows, `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: passes}
spec:
  entrypoint: main
  templates:
    - name: main
      steps:
        - [{name: make, template: make}]
        - - {name: use, template: use, arguments: {artifacts: [{name: f, from: "{{steps.make.outputs.artifacts.f}}"}], parameters: [{name: v, value: "{{steps.make.outputs.parameters.v}}"}]}}
          - {name: plain, template: plain, arguments: {parameters: [{name: v, value: "{{steps.make.outputs.parameters.v}}"}]}}
        - [{name: last, template: plain, arguments: {parameters: [{name: v, value: "{{steps.plain.outputs.result}}/{{steps.plain.outputs.parameters.d}}"}]}}]
    - name: make
      container: {image: host, command: [sh, -c, "mkdir /tmp/d; echo payload > /tmp/d/f; echo 42 > /tmp/v"]}
      outputs: {artifacts: [{name: f, path: /tmp/d}], parameters: [{name: v, valueFrom: {path: /tmp/v}}]}
    - name: use
      inputs: {artifacts: [{name: f, path: /data/in}], parameters: [{name: v}]}
      script: {image: host, command: [sh], source: "test $(cat /data/in/f)-{{inputs.parameters.v}} = payload-42"}
    - name: plain
      inputs: {parameters: [{name: v}]}
      container: {image: host, command: [sh, -c, "echo 'saw {{inputs.parameters.v}}'"]}
      outputs: {parameters: [{name: d, valueFrom: {path: /not/written, default: by default}}]}
`)
	wf := c.succeeds(t, "passes")
	require.Equal(t, "saw 42", text(nodesNamed(wf, "plain")[0].Outputs.Result))
	// No step takes the result of the last one, so Argo does not keep it; the log has it.
	pods, err := c.kube.CoreV1().Pods(c.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "workflows.argoproj.io/workflow=passes"})
	require.NoError(t, err)
	var logs strings.Builder
	for _, p := range pods.Items {
		logs.WriteString(c.log(t, p.Name, "main"))
	}
	require.Contains(t, logs.String(), "saw saw 42/by default\n")
}

func (c *cluster) testTerminated(t *testing.T) {
	c.create(t, workflows, `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: endless}
spec:
  entrypoint: main
  templates:
    - name: main
      container: {image: host, command: [sh, -c, "trap 'echo told; exit 3' TERM; echo up; while :; do sleep 0.02; done"]}
`)
	eventually(t, "endless runs", func(ctx context.Context) bool {
		b, err := c.kube.CoreV1().Pods(c.namespace).GetLogs("endless", &corev1.PodLogOptions{Container: "main"}).DoRaw(ctx)
		return err == nil && strings.Contains(string(b), "up")
	})
	// Argo deletes pods that it does not know to be running yet.
	c.await(t, workflows, "endless", func(o map[string]any) bool {
		phase, _, _ := unstructured.NestedString(o, "status", "nodes", "endless", "phase")
		return phase == "Running"
	})
	_, err := c.any.Resource(workflows).Namespace(c.namespace).Patch(t.Context(), "endless", "application/merge-patch+json", []byte(`{"spec":{"shutdown":"Terminate"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	c.await(t, workflows, "endless", func(o map[string]any) bool {
		phase, _, _ := unstructured.NestedString(o, "status", "phase")
		return phase == "Failed"
	})
	p := c.awaitPod(t, "endless", "ends", ended)
	main := p.Status.ContainerStatuses[slices.IndexFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == "main" })]
	require.EqualValues(t, 3, main.State.Terminated.ExitCode, "the command was told, not only killed")
	require.Contains(t, c.log(t, "endless", "main"), "told\n")
}

func (c *cluster) testNothingLeft(t *testing.T) {
	c.createPod(t, podOf("cut-off", "echo up; sleep 1000"))
	c.awaitLog(t, "cut-off", "up")
	c.stop(t)
	require.Empty(t, running(t, string(c.home)))
	mounts, err := os.ReadFile("/proc/self/mounts")
	require.NoError(t, err)
	require.NotContains(t, string(mounts), string(c.home))
	pods, err := filepath.Glob(filepath.Join(string(c.home), "cluster/pods/*/*"))
	require.NoError(t, err)
	require.NotEmpty(t, pods)
	for _, p := range pods {
		require.Contains(t, []string{"logs", "pod.json"}, filepath.Base(p), "of a pod that ended only its logs and its record stay")
	}
}
