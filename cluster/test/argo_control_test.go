package test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	hydratorfake "github.com/argoproj/argo-workflows/v3/workflow/hydrator/fake"
	wfutil "github.com/argoproj/argo-workflows/v3/workflow/util"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// What users do to workflows, by the library behind the `argo` command.

func parseWorkflow(t *testing.T, manifest string) *wfv1.Workflow {
	t.Helper()
	wf := &wfv1.Workflow{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(manifest), wf))
	return wf
}

// nodeIs says whether a node of that display name is in a phase.
func nodeIs(wf *wfv1.Workflow, name string, phase wfv1.NodePhase) bool {
	for _, n := range nodesNamed(wf, name) {
		if n.Phase == phase {
			return true
		}
	}
	return false
}

// TestArgoDeadlines: a workflow whose deadline comes before there is a pod, or while it is suspended, ends when it is due.
func TestArgoDeadlines(t *testing.T) {
	t.Parallel()
	a := newArgo(t, shared(t))
	manifests := map[string]string{}
	for i := range 5 {
		manifests[fmt.Sprintf("short-%d", i)] = `
spec:
  entrypoint: main
  activeDeadlineSeconds: 1
  templates: [{name: main, container: {image: host, command: [sleep, "1000"]}}]
`
	}
	manifests["suspended"] = `
spec:
  entrypoint: main
  activeDeadlineSeconds: 3
  templates:
    - {name: main, steps: [[{name: wait, template: wait}], [{name: after, template: after}]]}
    - {name: wait, suspend: {duration: 2.3s}}
    - {name: after, container: {image: host, command: [sleep, "1000"]}}
`
	for name, manifest := range manifests {
		wf := parseWorkflow(t, manifest)
		wf.Name = name
		a.submit(t, wf)
	}
	for name := range manifests {
		wf := a.finish(t, name)
		require.Equal(t, wfv1.WorkflowFailed, wf.Status.Phase, "%s", describe(wf))
		took := wf.Status.FinishedAt.Sub(wf.Status.StartedAt.Time)
		require.Less(t, took, workflowLimit, "%s", describe(wf))
	}
}

func TestArgoSuspendAndResume(t *testing.T) {
	t.Parallel()
	a := newArgo(t, shared(t))
	a.submit(t, parseWorkflow(t, `
metadata: {name: approval}
spec:
  entrypoint: main
  templates:
    - name: main
      steps:
        - [{name: approve, template: approve}]
        - [{name: after, template: after, arguments: {parameters: [{name: who, value: "{{steps.approve.outputs.parameters.who}}"}]}}]
    - name: approve
      suspend: {}
      outputs: {parameters: [{name: who, valueFrom: {supplied: {}}}]}
    - name: after
      inputs: {parameters: [{name: who}]}
      container: {image: host, command: [echo, "approved by {{inputs.parameters.who}}"]}
`))
	a.until(t, "approval", "waits", func(wf *wfv1.Workflow) bool { return nodeIs(wf, "approve", wfv1.NodeRunning) })
	const node = "displayName=approve"
	require.NoError(t, wfutil.SetWorkflow(t.Context(), a.workflows, hydratorfake.Noop, "approval", node, wfutil.SetOperationValues{OutputParameters: map[string]string{"who": "somebody"}}))
	require.NoError(t, wfutil.ResumeWorkflow(t.Context(), a.workflows, hydratorfake.Noop, "approval", node))
	wf := a.finish(t, "approval")
	require.Equal(t, wfv1.WorkflowSucceeded, wf.Status.Phase, "%s", describe(wf))
	require.Equal(t, "approved by somebody\n", a.nodeLog(t, wf, nodesNamed(wf, "after")[0], "main"))
}

func TestArgoSuspendTheWholeWorkflow(t *testing.T) {
	t.Parallel()
	a := newArgo(t, shared(t))
	a.submit(t, parseWorkflow(t, `
metadata: {name: held}
spec:
  entrypoint: main
  suspend: true
  templates: [{name: main, container: {image: host, command: [echo, resumed]}}]
`))
	wf := a.until(t, "held", "is held", func(wf *wfv1.Workflow) bool { return wf.Status.Phase == wfv1.WorkflowRunning })
	require.Empty(t, nodesNamed(wf, "held"))
	require.NoError(t, wfutil.ResumeWorkflow(t.Context(), a.workflows, hydratorfake.Noop, "held", ""))
	require.Equal(t, wfv1.WorkflowSucceeded, a.finish(t, "held").Status.Phase)
}

// A step whose pod was deleted has failed, also within its first seconds: it does not run again unless it was to be retried.
func TestArgoDeletedPods(t *testing.T) {
	t.Parallel()
	a := newArgo(t, shared(t))
	a.submit(t, parseWorkflow(t, `
metadata: {name: robbed}
spec:
  entrypoint: main
  templates: [{name: main, container: {image: host, command: [sleep, "1000"]}}]
`))
	a.until(t, "robbed", "runs", func(wf *wfv1.Workflow) bool { return nodeIs(wf, "robbed", wfv1.NodeRunning) })
	pods := a.kube.CoreV1().Pods(a.namespace)
	there, err := pods.List(t.Context(), metav1.ListOptions{LabelSelector: "workflows.argoproj.io/workflow=robbed"})
	require.NoError(t, err)
	require.Len(t, there.Items, 1)
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)} // the pod vanishes without an exit code
	require.NoError(t, pods.Delete(t.Context(), there.Items[0].Name, now))
	wf := a.finish(t, "robbed")
	require.Equal(t, wfv1.WorkflowError, wf.Status.Phase, "%s", describe(wf))
	require.Contains(t, wf.Status.Message, "pod deleted")
}

// endless is a workflow that runs until it is stopped, with an exit handler.
const endless = `
metadata: {name: endless}
spec:
  entrypoint: main
  onExit: handler
  templates:
    - {name: main, container: {image: host, command: [sh, -c, "trap 'echo told; exit 3' TERM; echo up; while :; do sleep 0.02; done"]}}
    - {name: handler, container: {image: host, command: [echo, "it ended as {{workflow.status}}"]}}
`

func TestArgoStop(t *testing.T) {
	t.Parallel()
	a := newArgo(t, shared(t))
	a.submit(t, parseWorkflow(t, endless))
	a.untilSays(t, "endless", "endless", "up")
	require.NoError(t, wfutil.StopWorkflow(t.Context(), a.workflows, hydratorfake.Noop, "endless", "", ""))
	wf := a.finish(t, "endless")
	require.Equal(t, wfv1.WorkflowFailed, wf.Status.Phase)
	require.Equal(t, "Stopped with strategy 'Stop'", wf.Status.Message)
	eventually(t, "the command was told, not only killed", func(context.Context) bool { // the workflow does not wait for it
		return strings.Contains(a.nodeLog(t, wf, nodesNamed(wf, "endless")[0], "main"), "told\n")
	})
	require.True(t, nodeIs(wf, "endless.onExit", wfv1.NodeSucceeded), "a stop runs the exit handler")
}

func TestArgoTerminate(t *testing.T) {
	t.Parallel()
	a := newArgo(t, shared(t))
	a.submit(t, parseWorkflow(t, endless))
	a.untilSays(t, "endless", "endless", "up")
	require.NoError(t, wfutil.TerminateWorkflow(t.Context(), a.workflows, "endless"))
	wf := a.finish(t, "endless")
	require.Equal(t, wfv1.WorkflowFailed, wf.Status.Phase)
	require.Empty(t, nodesNamed(wf, "endless.onExit"), "a termination does not run the exit handler")
}

// mended fails until its parameter says otherwise.
const mended = `
metadata: {name: mended}
spec:
  entrypoint: main
  arguments: {parameters: [{name: outcome, value: "false"}]}
  templates:
    - name: main
      steps:
        - [{name: good, template: good}]
        - [{name: bad, template: bad}]
    - {name: good, container: {image: host, command: [echo, good]}}
    - {name: bad, container: {image: host, command: ["{{workflow.parameters.outcome}}"]}}
`

func TestArgoRetry(t *testing.T) {
	t.Parallel()
	a := newArgo(t, shared(t))
	a.submit(t, parseWorkflow(t, mended))
	wf := a.finish(t, "mended")
	require.Equal(t, wfv1.WorkflowFailed, wf.Status.Phase)
	first := nodesNamed(wf, "good")[0]
	again, pods, err := wfutil.FormulateRetryWorkflow(t.Context(), wf, false, "", []string{"outcome=true"})
	require.NoError(t, err)
	for _, p := range pods {
		require.NoError(t, a.kube.CoreV1().Pods(a.namespace).Delete(t.Context(), p, metav1.DeleteOptions{}))
	}
	_, err = a.workflows.Update(t.Context(), again, metav1.UpdateOptions{})
	require.NoError(t, err)
	wf = a.finish(t, "mended")
	require.Equal(t, wfv1.WorkflowSucceeded, wf.Status.Phase, "%s", describe(wf))
	require.Equal(t, first.FinishedAt, nodesNamed(wf, "good")[0].FinishedAt, "what had succeeded is not run again")
}

func TestArgoResubmit(t *testing.T) {
	t.Parallel()
	a := newArgo(t, shared(t))
	a.submit(t, parseWorkflow(t, mended))
	wf := a.finish(t, "mended")
	again, err := wfutil.FormulateResubmitWorkflow(t.Context(), wf, true, []string{"outcome=true"})
	require.NoError(t, err)
	again, err = wfutil.SubmitWorkflow(t.Context(), a.workflows, a.clients, a.namespace, again, nil, &wfv1.SubmitOpts{})
	require.NoError(t, err)
	wf = a.finish(t, again.Name)
	require.Equal(t, wfv1.WorkflowSucceeded, wf.Status.Phase, "%s", describe(wf))
	require.True(t, nodeIs(wf, "good", wfv1.NodeSkipped), "memoized: what had succeeded is not run again\n%s", describe(wf))
}

func TestArgoCron(t *testing.T) {
	t.Parallel()
	a := newArgo(t, shared(t))
	cron := &wfv1.CronWorkflow{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(`
metadata: {name: regularly}
spec:
  schedules: ["@every 2s", "0 0 1 1 *"]
  timezone: Europe/Zurich
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 0
  successfulJobsHistoryLimit: 2
  when: "{{= cronworkflow.name == 'regularly' }}"
  workflowMetadata: {labels: {of: the-schedule}}
  workflowSpec:
    entrypoint: main
    templates: [{name: main, container: {image: host, command: [sleep, "3"]}}]
`), cron))
	crons := a.clients.ArgoprojV1alpha1().CronWorkflows(a.namespace)
	_, err := crons.Create(t.Context(), cron, metav1.CreateOptions{})
	require.NoError(t, err)
	// Each run outlasts a time of the schedule. Argo's controller may miss one that it has made a moment ago, and make another beside it.
	eventually(t, "a run starts once the one before it has succeeded", func(ctx context.Context) bool {
		list, err := a.workflows.List(ctx, metav1.ListOptions{LabelSelector: "of=the-schedule"})
		require.NoError(t, err)
		runs := list.Items
		slices.SortFunc(runs, func(a, b wfv1.Workflow) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
		for i := 1; i < len(runs); i++ {
			if before := runs[i-1].Status; before.Phase == wfv1.WorkflowSucceeded && !runs[i].CreationTimestamp.Time.Before(before.FinishedAt.Time) {
				return true
			}
		}
		return false
	})
	_, err = crons.Patch(t.Context(), "regularly", types.MergePatchType, []byte(`{"spec":{"suspend":true}}`), metav1.PatchOptions{})
	require.NoError(t, err)
}

func TestArgoNamespaceParallelism(t *testing.T) {
	t.Parallel()
	a := newArgo(t, shared(t))
	_, err := a.kube.CoreV1().Namespaces().Patch(t.Context(), a.namespace, types.MergePatchType, []byte(`{"metadata":{"labels":{"workflows.argoproj.io/parallelism-limit":"1"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	wf := parseWorkflow(t, `{metadata: {generateName: limited-}, spec: {entrypoint: main, templates: [{name: main, container: {image: host, command: [sleep, "1.5"]}}]}}`)
	inTurn := func() bool {
		names := []string{a.submit(t, wf).Name, a.submit(t, wf).Name}
		one, two := a.finish(t, names[0]).Status, a.finish(t, names[1]).Status
		require.Equal(t, wfv1.WorkflowSucceeded, one.Phase)
		require.Equal(t, wfv1.WorkflowSucceeded, two.Phase)
		if one.StartedAt.After(two.StartedAt.Time) {
			one, two = two, one
		}
		return !two.StartedAt.Time.Before(one.FinishedAt.Time)
	}
	eventually(t, "the controller knows the limit", func(context.Context) bool { return inTurn() })
	require.True(t, inTurn(), "two workflows ran at once")
}

func TestArgoWorkflowDefaults(t *testing.T) {
	t.Parallel()
	a := newArgo(t, shared(t))
	// The configuration is the whole cluster's: nothing that another test could notice.
	configuration := a.kube.CoreV1().ConfigMaps("argo")
	_, err := configuration.Patch(t.Context(), "workflow-controller-configmap", types.MergePatchType,
		[]byte(`{"data":{"workflowDefaults":"metadata: {annotations: {argosy.dev/by-default: yes-it-is}}\n"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	wf := parseWorkflow(t, `{metadata: {generateName: plain-}, spec: {entrypoint: main, templates: [{name: main, container: {image: host, command: ["true"]}}]}}`)
	eventually(t, "a workflow gets the defaults", func(context.Context) bool {
		return a.finish(t, a.submit(t, wf).Name).Annotations["argosy.dev/by-default"] == "yes-it-is"
	})
}
