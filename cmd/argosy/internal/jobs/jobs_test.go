package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/jobs"
	"github.com/argosy-ml/argosy/launcher/job"
	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/server/access"
	"github.com/argosy-ml/argosy/server/api"
	"github.com/argosy-ml/argosy/server/cluster"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/eventstream"
	"github.com/argosy-ml/argosy/server/gateway"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/series"
)

// room is the command beside a real server, whose cluster is Kubernetes' own stand-in.
type room struct {
	*enginetest.Bundle
	env  jobs.Env
	run  run.Run
	made *unstructured.Unstructured
}

// furnish has a run with an MPIJob of two workers; one of them runs.
func furnish(t *testing.T) *room {
	t.Helper()
	b := enginetest.New(t)
	watcher := eventstream.New(eventstream.Config{Store: b.Store, Runs: b.Runs, Log: b.Log})
	handler, err := gateway.New(gateway.Config{
		API: api.New(api.Services{
			Pipelines: b.Pipelines, Experiments: b.Experiments, Runs: b.Runs, Schedules: b.Schedules, Watcher: watcher, Series: series.NewReader(b.Store),
			Streams: t.Context(), Cluster: cluster.NewService(b.Engine.View(), b.Runs, ""),
		}),
		Pipelines: b.Pipelines, Runs: b.Runs, Watcher: watcher, Gate: access.New("", b.Log), Log: slog.New(slog.DiscardHandler), Streams: t.Context(),
	})
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnContext = access.WithCaller
	server.Start()
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); server.Close() })
	cl, err := client.New(server.URL, client.WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	r := &room{Bundle: b, run: b.Start(t)}
	find := func(ctx context.Context, cl *client.Client, name string) (*client.Run, error) {
		if name == "a run" {
			name = r.run.ID
		}
		return cl.Runs.Get(ctx, name)
	}
	r.env = jobs.Env{
		Client: func() (*client.Client, error) { return cl, nil }, Run: find, Only: find,
		Confirm: func(_, refusal string) error { return exit.With(exit.Refused, errors.New(refusal)) },
	}
	words := []string{"mpijob", "--name", "train", "--image", "i", "--workers", "2", "--slots", "2", "--", "mpirun train"}
	spec, err := job.Parse(words)
	require.NoError(t, err)
	labels := map[string]string{"pipeline/runid": r.run.ID, "workflows.argoproj.io/workflow": r.run.Workflow}
	launcher := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: enginetest.Namespace, Name: "step", Labels: labels, Annotations: map[string]string{"workflows.argoproj.io/node-id": "n"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Args: append([]string{"argosy-launcher"}, words...)}}}, Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	r.made, err = job.Build(spec, job.Identity{Namespace: enginetest.Namespace, Workflow: r.run.Workflow, Node: "n", Pod: launcher})
	require.NoError(t, err)
	r.made.SetCreationTimestamp(metav1.Now())
	annotations := r.made.GetAnnotations()
	annotations["argosy.dev/preemption"] = `{"at":"2026-11-20T12:00:00Z","kind":"TFJob","name":"rush","run":"` + r.run.ID + `","priority":2000}`
	r.made.SetAnnotations(annotations)
	urgent := int32(1000)
	require.NoError(t, unstructured.SetNestedSlice(r.made.Object, []any{map[string]any{"type": "Running", "status": "True", "lastTransitionTime": "2026-11-20T12:00:05Z"}}, "status", "conditions"))
	require.NoError(t, b.Dynamic.Tracker().Add(r.made))
	require.NoError(t, b.Kube.Tracker().Add(launcher))
	for i, phase := range []corev1.PodPhase{corev1.PodRunning, corev1.PodPending} {
		index := string(rune('0' + i))
		require.NoError(t, b.Kube.Tracker().Add(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: enginetest.Namespace, Name: r.made.GetName() + "-worker-" + index, Labels: map[string]string{
				"pipeline/runid": r.run.ID, "training.kubeflow.org/operator-name": "mpi-operator", "training.kubeflow.org/job-name": r.made.GetName(),
				"training.kubeflow.org/job-role": "worker", "training.kubeflow.org/replica-index": index,
			}},
			Spec: corev1.PodSpec{NodeName: "node-" + index, PriorityClassName: "urgent", Priority: &urgent}, Status: corev1.PodStatus{Phase: phase, PodIP: "10.88.0." + index},
		}))
	}
	return r
}

// argosy runs a command of the group, and gives what it printed.
func (r *room) argosy(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	require.NoError(t, err)
	defer out.Close()
	env := r.env
	env.Out, env.Err = out, out
	root := &cobra.Command{Use: "job", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(append(jobs.Commands(env), jobs.Pending(env))...)
	root.SetArgs(args)
	failed := root.ExecuteContext(t.Context())
	text, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	return string(text), failed
}

// A job that is being deleted does not run any more, and one that has ended had workers.
func TestListOfTheLast(t *testing.T) {
	t.Parallel()
	r := furnish(t)
	now := metav1.Now()
	r.made.SetDeletionTimestamp(&now)
	r.made.SetFinalizers([]string{"foregroundDeletion"})
	replace := func() {
		require.NoError(t, r.Dynamic.Tracker().Update((&schema.GroupVersion{Group: "kubeflow.org", Version: "v2beta1"}).WithResource("mpijobs"), r.made, enginetest.Namespace))
	}
	replace()
	out, err := r.argosy(t, "list", "--status", "terminating")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^a run +train +MPIJob +Terminating +1/2 `, out)
	require.NoError(t, unstructured.SetNestedSlice(r.made.Object, []any{map[string]any{"type": "Succeeded", "status": "True"}}, "status", "conditions"))
	replace()
	out, err = r.argosy(t, "list")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^a run +train +MPIJob +Succeeded +2 `, out)
}

func TestList(t *testing.T) {
	t.Parallel()
	r := furnish(t)
	out, err := r.argosy(t, "list")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^RUN +STEP +KIND +STATE +WORKERS +AGE +NODE +THROUGHPUT$`, out)
	require.Regexp(t, `(?m)^a run +train +MPIJob +Running +1/2 +\w+ +node-0,node-1$`, out)
	out, err = r.argosy(t, "list", "-o", "wide")
	require.NoError(t, err)
	require.Contains(t, out, r.made.GetName())
	require.Contains(t, out, r.run.ID)

	out, err = r.argosy(t, "list", "--status", "RUNNING", "-o", "json")
	require.NoError(t, err)
	var rows []jobs.Listed
	require.NoError(t, json.Unmarshal([]byte(out), &rows))
	require.Len(t, rows, 1)
	require.Equal(t, "a run", rows[0].RunName)
	require.Len(t, rows[0].Workers, 2)
	out, err = r.argosy(t, "list", "--status", "failed,pending", "-o", "json")
	require.NoError(t, err)
	require.Equal(t, "[]\n", out)
	_, err = r.argosy(t, "list", "--status", "tired")
	require.Equal(t, exit.Usage, exit.Code(err))
	require.ErrorContains(t, err, `state "tired": a distributed job can be Created, Pending`)
}

func TestGet(t *testing.T) {
	t.Parallel()
	r := furnish(t)
	for _, words := range [][]string{{"a run"}, {"a run/" + r.made.GetName()}, {r.run.ID, r.made.GetName()}} {
		out, err := r.argosy(t, append([]string{"get", "-o", "wide"}, words...)...)
		require.NoError(t, err)
		require.Regexp(t, `(?m)^Workers: +1/2$`, out)
		require.Regexp(t, `(?m)^Ranks: +4 asked for$`, out)
		require.Regexp(t, `(?m)^worker 0 +0-1 +Running +0 +node-0 +10\.88\.0\.0 +\S+-worker-0$`, out)
		require.Regexp(t, `(?m)^worker 1 +2-3 +Pending +0 +node-1 +10\.88\.0\.1 +\S+-worker-1$`, out)
		require.Regexp(t, `(?m)^Priority: +1000 \(urgent\)$`, out)
		require.Regexp(t, `(?m)^Preempted: +\w+ ago by TFJob rush \(priority 2000\) of run a run$`, out)
		require.Regexp(t, `(?m)^node-0 +worker 0\nnode-1 +worker 1$`, out)
	}
	_, err := r.argosy(t, "get", "a run/fit")
	require.Equal(t, exit.Refused, exit.Code(err))
	require.ErrorContains(t, err, `has no step "fit"`)
	_, err = r.argosy(t, "get", "no run/train")
	require.Equal(t, exit.Refused, exit.Code(err))
	_, err = r.argosy(t, "get")
	require.Equal(t, exit.Usage, exit.Code(err))
}

// The stand-in has a metrics API that has measured nothing; no rank has printed a thing.
func TestTop(t *testing.T) {
	t.Parallel()
	r := furnish(t)
	out, err := r.argosy(t, "top", "a run")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^worker 0 +0-1 +Running +node-0$`, out)
	require.Contains(t, out, "CPU and memory are not known: the cluster's metrics API has measured none of the pods yet")
	require.Contains(t, out, "Throughput is not known: no rank prints a metric such as images/sec")
}

func TestDelete(t *testing.T) {
	t.Parallel()
	r := furnish(t)
	_, err := r.argosy(t, "delete", "a run")
	require.Equal(t, exit.Refused, exit.Code(err))
	require.ErrorContains(t, err, "of run a run has 1/2 workers at work; delete it with --force")
	out, err := r.argosy(t, "delete", "a run", "--force")
	require.NoError(t, err)
	require.Equal(t, "the launcher deletes MPIJob "+r.made.GetName()+" of step train of run a run\n", out)
	_, err = r.Kube.CoreV1().Pods(enginetest.Namespace).Get(t.Context(), "step", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	_, err = r.argosy(t, "delete", "a run", "--force")
	require.Equal(t, exit.Refused, exit.Code(err), "%v", err)
}

// A run without steps yet is what waits.
func TestPending(t *testing.T) {
	t.Parallel()
	r := furnish(t)
	out, err := r.argosy(t, "pending", "a run")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^STEP +CAUSE +FOR +AT MOST UNTIL +WAITS FOR$`, out)
	require.Regexp(t, `(?m)^\(the run\) +STEP_STARTING +\w+ +- +its pod is about to be created$`, out)
	out, err = r.argosy(t, "pending", "a run", "-o", "json")
	require.NoError(t, err)
	var found client.PendingSteps
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	require.Len(t, found.Pending, 1)
	require.Equal(t, "STEP_STARTING", found.Pending[0].Cause)
	require.False(t, found.Pending[0].Since.IsZero())
	_, err = r.argosy(t, "pending")
	require.Equal(t, exit.Usage, exit.Code(err))
	_, err = r.argosy(t, "pending", "none")
	require.Equal(t, exit.Refused, exit.Code(err))
}
