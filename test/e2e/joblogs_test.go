//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// jobKinds has one step for each of two other kinds of distributed job, whose pods print and then wait for a file.
const jobKinds = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: kinds-}
spec:
  entrypoint: all
  arguments: {parameters: [{name: go}]}
  templates:
  - name: all
    dag:
      tasks:
      - {name: torch, template: job, arguments: {parameters: [{name: kind, value: pytorchjob}, {name: rank, value: RANK}]}}
      - {name: volcano, template: job, arguments: {parameters: [{name: kind, value: volcanojob}, {name: rank, value: VC_TASK_INDEX}]}}
  - name: job
    inputs: {parameters: [{name: kind}, {name: rank}]}
    container:
      image: argosyml/argosy-launcher:dev
      command: [argosy-launcher, "{{inputs.parameters.kind}}", "--name={{inputs.parameters.kind}}", --image=debian, --workers=2, --, "for i in 1 2 3; do echo ${{inputs.parameters.rank}} says $i; done; until [ -e {{workflow.parameters.go}} ]; do sleep 0.1; done"]
      env:
      - {name: WORKFLOW_NAME, value: "{{workflow.name}}"}
      - {name: NODE_ID, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['workflows.argoproj.io/node-id']"}}}
      - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
      - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
`

// TestLogsOfJobs: what the pods of a PyTorchJob and of a Volcano Job print is kept with the step, by role and rank, and stays
// when the pods are gone.
func TestLogsOfJobs(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := up(t, home)
	var pipeline struct{ ID string }
	a.upload(t, "kinds", "kinds.yaml", []byte(jobKinds), 200, &pipeline)
	file := filepath.Join(home, "shared", "go")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	id := a.createRun(t, "kinds", pipeline.ID, map[string]string{"go": file})
	run := a.await(t, id, 3*time.Minute, func(r runView) bool { return len(r.Nodes) == 3 })
	want := map[string][]string{"torch": {"master 0", "worker 0"}, "volcano": {"worker 0", "worker 1"}}
	said := func(step string) (roles []string) {
		node := run.Nodes[run.node(t, step)].ID
		for _, l := range a.listLogs(t, id, node) {
			if l.Role != "" && strings.HasSuffix(a.readLog(t, id, node, "pod="+l.Pod+"&container="+l.Container), "says 3\n") {
				roles = append(roles, fmt.Sprintf("%s %d", l.Role, l.Rank))
			}
		}
		slices.Sort(roles)
		return roles
	}
	for step, roles := range want {
		require.Eventually(t, func() bool { return slices.Equal(roles, said(step)) }, 3*time.Minute, 200*time.Millisecond, "while they run: %s", step)
	}
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	run = a.await(t, id, 3*time.Minute, runView.final)
	require.Equal(t, "Succeeded", run.Status, "%s%s", a.stepLog(t, run, "torch"), a.stepLog(t, run, "volcano"))
	require.NoError(t, clientOf(t, home).CoreV1().Pods("kubeflow").DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	for step, roles := range want {
		require.Equal(t, roles, said(step), "when they are gone")
	}
	a.stop(t)
}
