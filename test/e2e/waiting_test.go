//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// needsSecret has a step that reads a secret.
const needsSecret = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: needs-secret-}
spec:
  entrypoint: main
  templates:
    - name: main
      dag: {tasks: [{name: show, template: show}]}
    - name: show
      container:
        image: alpine
        command: [sh, -c, "echo the token is $TOKEN"]
        env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: newcomer-secret, key: token}}}]
`

// holdsCores has a gang of two pods that each ask for so many CPUs and run until a file is there.
const holdsCores = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: gang-}
spec:
  entrypoint: main
  arguments: {parameters: [{name: cpu}, {name: gate}]}
  templates:
    - name: main
      dag: {tasks: [{name: train, template: train}]}
    - name: train
      container:
        image: argosy-launcher
        command: [argosy-launcher, pytorchjob]
        env:
          - {name: WORKFLOW_NAME, value: "{{workflow.name}}"}
          - {name: NODE_ID, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['workflows.argoproj.io/node-id']"}}}
          - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
          - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        args: [--name=train, --image=alpine, --workers=2, "--cpu={{workflow.parameters.cpu}}", --gang=true, "--data={{workflow.parameters.gate}}:/gate",
          --, "until [ -e /gate/open ]; do sleep 0.1; done"]
`

// TestWaiting: a step that cannot start yet says why in the API and in the terminal, and goes on when it can.
func TestWaiting(t *testing.T) {
	t.Parallel()
	home, gate := t.TempDir(), t.TempDir()
	require.NoError(t, os.Chmod(gate, 0o755))
	a := up(t, home, func(cmd *exec.Cmd) { cmd.Args = append(cmd.Args, "--host-path", gate) })
	start := func(name, manifest string) func(parameters map[string]string) string {
		var pipeline struct{ ID string }
		a.upload(t, name, name+".yaml", []byte(manifest), 200, &pipeline)
		return func(parameters map[string]string) string { return a.createRun(t, name, pipeline.ID, parameters) }
	}
	t.Run("a secret", func(t *testing.T) { a.waitsForSecret(t, start("needs-secret", needsSecret)(nil)) })
	t.Run("room for a gang", func(t *testing.T) { a.waitsForRoom(t, gate, start("gang", holdsCores)) })
}

func (a *argosy) waitsForSecret(t *testing.T, id string) {
	const sentence = `secret "newcomer-secret" not found: create it in namespace kubeflow, and the step goes on`
	r := a.await(t, id, 3*time.Minute, func(r runView) bool { return len(r.Nodes) > 1 && r.Nodes[r.node(t, "show")].Waiting != "" })
	n := r.Nodes[r.node(t, "show")]
	require.Equal(t, []string{"Pending", sentence}, []string{n.Phase, n.Waiting})
	out, _ := a.says(t, 0, "run", "get", id)
	require.Contains(t, out, sentence)

	_, err := clientOf(t, a.home).CoreV1().Secrets("kubeflow").Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "newcomer-secret"}, StringData: map[string]string{"token": "abc"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	r = a.await(t, id, 3*time.Minute, runView.final)
	require.Equal(t, "Succeeded", r.Status, "%+v", r)
	require.Empty(t, r.Nodes[r.node(t, "show")].Waiting)
	require.Equal(t, "the token is abc", strings.TrimSpace(a.stepLog(t, r, "show")))
}

// waitsForRoom runs two gangs that have no room side by side, whatever the machine: each asks for two thirds of what is offered.
func (a *argosy) waitsForRoom(t *testing.T, gate string, start func(map[string]string) string) {
	nodes, err := clientOf(t, a.home).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, nodes.Items, 1)
	each := nodes.Items[0].Status.Allocatable.Cpu().MilliValue() / 3
	parameters := map[string]string{"cpu": fmt.Sprintf("%dm", each), "gate": gate}
	shown := func(r runView) runNode {
		if len(r.Nodes) < 2 {
			return runNode{}
		}
		return r.Nodes[r.node(t, "train")]
	}
	first := start(parameters)
	a.await(t, first, 3*time.Minute, func(r runView) bool { n := shown(r); return n.Phase == "Running" && n.Waiting == "" })
	second := start(parameters)
	n := shown(a.await(t, second, 3*time.Minute, func(r runView) bool { return strings.HasPrefix(shown(r).Waiting, "needs ") }))
	require.Equal(t, "Pending", n.Phase, "though its launcher runs")
	require.Regexp(t, `^needs 1 master with \S+ CPUs? and 1 worker with \S+ CPUs? at once; .* in use by train-`, n.Waiting)
	out, _ := a.says(t, 0, "run", "get", second)
	require.Contains(t, out, n.Waiting)
	var kfp struct {
		Runtime struct {
			Manifest string `json:"workflow_manifest"`
		} `json:"pipeline_runtime"`
	}
	a.get(t, "/apis/v1beta1/runs/"+second, 200, &kfp)
	require.Regexp(t, `"displayName":"train"[^}]*"phase":"Running"`, kfp.Runtime.Manifest, "KFP's clients see what KFP would show")
	require.NotContains(t, kfp.Runtime.Manifest, n.Waiting)

	require.NoError(t, os.WriteFile(filepath.Join(gate, "open"), nil, 0o644))
	for _, id := range []string{first, second} {
		r := a.await(t, id, 3*time.Minute, runView.final)
		require.Equal(t, "Succeeded", r.Status, "%+v", r)
		require.Empty(t, shown(r).Waiting)
	}
	log := a.log(t, second, n.ID)
	require.Equal(t, 1, strings.Count(log, n.Waiting), "the log says it once:\n%s", log)
}
