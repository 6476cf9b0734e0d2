//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	argo "github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned"
	argotyped "github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned/typed/workflow/v1alpha1"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
)

// shellStep is a pipeline of one step that runs a command. Argo deletes its Workflow as soon as it has ended.
const shellStep = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: shell-}
spec:
  entrypoint: step
  ttlStrategy: {secondsAfterCompletion: 0}
  arguments: {parameters: [{name: command}]}
  templates:
    - name: step
      container: {image: host, command: [sh, -c, "{{workflow.parameters.command}}"]}
`

func workflows(t *testing.T, home string) argotyped.WorkflowInterface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(home, "kubeconfig"))
	require.NoError(t, err)
	client, err := argo.NewForConfig(config)
	require.NoError(t, err)
	return client.ArgoprojV1alpha1().Workflows("kubeflow")
}

// awaitWorkflow watches a Workflow until it is as asked for; nil means gone.
func awaitWorkflow(t *testing.T, client argotyped.WorkflowInterface, name string, is func(*wfv1.Workflow) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		wf, err := client.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			wf, err = nil, nil
		}
		require.NoError(t, err)
		if is(wf) {
			return
		}
		if wf == nil {
			break
		}
		changes, err := client.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: wf.ResourceVersion})
		require.NoError(t, err)
		<-changes.ResultChan()
		changes.Stop()
	}
	t.Fatalf("workflow %s is gone, or does not become so", name)
}

func deleting(wf *wfv1.Workflow) bool { return wf != nil && wf.DeletionTimestamp != nil }

func gone(wf *wfv1.Workflow) bool { return wf == nil }

// TestDeletedWhileDown kills the server, lets Workflows be deleted by hand and by Argo meanwhile, in every state that
// they can be in, and has the server come back: each run is recorded with its log, and then its Workflow goes.
func TestDeletedWhileDown(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := up(t, home)
	var pipeline struct{ ID string }
	a.upload(t, "shell", "shell.yaml", []byte(shellStep), 200, &pipeline)
	client := workflows(t, home)
	start := func(command string) runView {
		id := a.createRun(t, "a run", pipeline.ID, map[string]string{"command": command})
		return a.await(t, id, 3*time.Minute, func(r runView) bool {
			return r.Status == "Running" && len(r.Nodes) == 1 && r.Nodes[0].Phase == "Running"
		})
	}
	killed := filepath.Join(home, "shared", "killed") // what pods see of the test
	require.NoError(t, os.MkdirAll(filepath.Dir(killed), 0o755))
	later := "until [ -e " + killed + " ]; do sleep 0.1; done; "
	cut := start("trap 'echo told to stop; exit 1' TERM; echo begun; sleep 1000 & wait")
	moved := start("echo moved; sleep 1000")
	ending := start(later + "echo ended by itself")
	ttl := start(later + "echo ended, and deleted by Argo")
	byHand := start("trap 'exit 1' TERM; echo deleted under the eyes of the server; sleep 1000 & wait")
	a.awaitLog(t, byHand.ID, byHand.Nodes[0].DisplayName, "deleted under the eyes of the server")

	deleteNow := func(r runView) {
		require.NoError(t, client.Delete(t.Context(), r.Workflow.Name, metav1.DeleteOptions{}))
	}
	deleteNow(byHand)
	byHand = a.await(t, byHand.ID, 3*time.Minute, runView.final)
	require.Equal(t, "Error", byHand.Status)
	require.Contains(t, byHand.Error, "was deleted from the cluster before it ended")
	awaitWorkflow(t, client, byHand.Workflow.Name, gone)
	require.Equal(t, "deleted under the eyes of the server\n", a.stepLog(t, byHand, byHand.Nodes[0].DisplayName))

	a.kill(t)
	require.NoError(t, os.WriteFile(killed, nil, 0o600))
	deleteNow(cut)
	_, err := client.Patch(t.Context(), moved.Workflow.Name, types.JSONPatchType, // others hold it too, and stand before us
		[]byte(`[{"op":"add","path":"/metadata/finalizers/0","value":"example.com/other"}]`), metav1.PatchOptions{})
	require.NoError(t, err)
	deleteNow(moved)
	awaitWorkflow(t, client, ending.Workflow.Name, func(wf *wfv1.Workflow) bool { return wf != nil && wf.Status.Fulfilled() })
	deleteNow(ending)
	for _, r := range []runView{cut, moved, ending, ttl} {
		awaitWorkflow(t, client, r.Workflow.Name, deleting)
	}

	a = up(t, home)
	for _, want := range []struct {
		run         runView
		status, log string
	}{
		{cut, "Error", "begun\ntold to stop\n"},
		{moved, "Error", "moved\n"},
		{ending, "Succeeded", "ended by itself\n"},
		{ttl, "Succeeded", "ended, and deleted by Argo\n"},
	} {
		got := a.await(t, want.run.ID, 3*time.Minute, runView.final)
		require.Equal(t, want.status, got.Status, "%+v", got)
		if want.status == "Error" {
			require.Contains(t, got.Error, "was deleted from the cluster before it ended")
		}
		if want.run.ID == moved.ID {
			awaitWorkflow(t, client, moved.Workflow.Name, func(wf *wfv1.Workflow) bool { return len(wf.Finalizers) == 1 })
			_, err := client.Patch(t.Context(), moved.Workflow.Name, types.JSONPatchType,
				[]byte(`[{"op":"remove","path":"/metadata/finalizers"}]`), metav1.PatchOptions{})
			require.NoError(t, err)
		}
		awaitWorkflow(t, client, want.run.Workflow.Name, gone)
		require.Equal(t, want.log, a.stepLog(t, got, got.Nodes[0].DisplayName))
	}
}

// TestDeletedAndKilled creates runs, deletes their Workflows and kills the server all at once, again and again: each run
// that was accepted comes to an end, and no Workflow stays behind.
func TestDeletedAndKilled(t *testing.T) {
	t.Parallel()
	const kills, wanted = 3, 8
	home := t.TempDir()
	a := up(t, home)
	var pipeline struct{ ID string }
	a.upload(t, "one-step", "one.yaml", []byte(oneStep), 200, &pipeline)
	client := workflows(t, home)
	var accepted []string
	for range kills {
		ids := make(chan string, 10_000)
		stop := make(chan struct{})
		var work sync.WaitGroup
		for range 2 {
			work.Go(func() { a.createUntilKilled(pipeline.ID, ids, stop) })
		}
		work.Go(func() {
			for t.Context().Err() == nil {
				select {
				case <-stop:
					return
				default:
				}
				if err := client.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "pipeline/runid"}); err != nil {
					t.Errorf("delete workflows: %v", err)
					return
				}
			}
		})
		for range wanted {
			accepted = append(accepted, <-ids)
		}
		a.kill(t)
		close(stop)
		work.Wait()
		close(ids)
		for id := range ids {
			accepted = append(accepted, id)
		}
		a = up(t, home)
	}
	ends := map[string]int{}
	for _, id := range accepted {
		run := a.await(t, id, 3*time.Minute, runView.final)
		ends[run.Status]++
		if run.Status != "Succeeded" {
			require.Contains(t, fmt.Sprint(run.Error), "was deleted from the cluster before it ended", "%+v", run)
		}
	}
	require.NoError(t, client.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for {
		left, err := client.List(ctx, metav1.ListOptions{})
		require.NoError(t, err, "workflows stay behind")
		if len(left.Items) == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("%d runs accepted over %d kills, which ended so: %v", len(accepted), kills, ends)
}
