package engine_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/argosy-ml/argosy/launcher/job"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/cluster"
	"github.com/argosy-ml/argosy/server/engine"
	"github.com/argosy-ml/argosy/server/engine/enginetest"
)

var ofRun = cluster.Of{RunID: "r", Namespace: "kubeflow", Workflow: "wf", Nodes: []string{"wf-1", "wf-2"}, Pods: map[string]string{"wf-all-reduce-1": "wf-1"}}

// words are the launcher's command line of an MPIJob with two workers of two ranks each.
var words = []string{"argosy-launcher", "mpijob", "--name", "all-reduce", "--image", "i", "--workers", "2", "--slots", "2", "--", "mpirun train"}

// training makes an MPIJob as the launcher does, with what the operator and Volcano make of it.
func training(t *testing.T) (made *unstructured.Unstructured, pods []runtime.Object, group *unstructured.Unstructured) {
	t.Helper()
	spec, err := job.Parse(words[1:])
	require.NoError(t, err)
	launcher := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "kubeflow", Name: "wf-all-reduce-1", Labels: map[string]string{"pipeline/runid": "r"}, Annotations: map[string]string{"workflows.argoproj.io/node-id": "wf-1"},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Command: []string{"argoexec", "emissary", "--"}, Args: words}}},
	}
	made, err = job.Build(spec, job.Identity{Namespace: "kubeflow", Workflow: "wf", Node: "wf-1", Pod: launcher})
	require.NoError(t, err)
	made.SetCreationTimestamp(metav1.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	require.NoError(t, unstructured.SetNestedSlice(made.Object, []any{map[string]any{"type": "Running", "status": "True", "lastTransitionTime": "2026-11-20T12:00:05Z"}}, "status", "conditions"))
	member := func(role string, index int, status corev1.PodStatus) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kubeflow", Name: fmt.Sprintf("%s-%s-%d", made.GetName(), role, index), Labels: map[string]string{
				"pipeline/runid": "r", "training.kubeflow.org/operator-name": "mpi-operator", "training.kubeflow.org/job-name": made.GetName(),
				"training.kubeflow.org/job-role": role, "training.kubeflow.org/replica-index": fmt.Sprint(index),
			}},
			Spec: corev1.PodSpec{NodeName: "big"}, Status: status,
		}
	}
	pods = []runtime.Object{
		launcher,
		member("launcher", 0, corev1.PodStatus{Phase: corev1.PodRunning}),
		member("worker", 1, corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "worker", RestartCount: 2, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}}},
		}}),
		member("worker", 0, corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.88.0.7"}),
	}
	group = &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": map[string]any{"namespace": "kubeflow", "name": made.GetName()},
		"spec": map[string]any{"minMember": int64(3), "queue": "default"}, "status": map[string]any{"phase": "Running", "running": int64(3)},
	}}
	return made, pods, group
}

func TestJobsOfARun(t *testing.T) {
	t.Parallel()
	made, pods, group := training(t)
	kube, dyn := fake.NewClientset(pods...), enginetest.NewDynamic(made, group)
	e := engine.New(nil, kube, dyn, "kubeflow", slog.New(slog.DiscardHandler)).View()
	jobs, missing, err := e.Jobs(t.Context(), ofRun)
	require.NoError(t, err)
	require.Empty(t, missing)
	require.Len(t, jobs, 1)
	j := jobs[0]
	require.Equal(t, []any{"wf-1", "MPIJob", "Running", 1, 4}, []any{j.NodeID, j.Kind, j.State, j.Attempt, *j.Requested})
	require.Equal(t, int32(3), j.PodGroup.MinAvailable)

	require.Len(t, j.Workers, 3)
	first, second, launcher := j.Workers[0], j.Workers[1], j.Workers[2]
	require.Equal(t, []any{"worker", 0, &cluster.Ranks{First: 0, Last: 1}, "Running", "10.88.0.7", "big"}, []any{first.Role, first.Index, first.Ranks, first.State, first.Address, first.Node})
	require.Equal(t, &cluster.Ranks{First: 2, Last: 3}, second.Ranks)
	require.Equal(t, int32(2), second.Restarts)
	require.Equal(t, "container worker was killed for using more memory than its limit (exit code 137)", second.Message)
	require.Equal(t, "launcher", launcher.Role)
	require.Nil(t, launcher.Ranks)

	require.Equal(t, []cluster.Object{{Kind: "MPIJob", Name: made.GetName()}, {Kind: "Pod", Name: first.Pod}, {Kind: "Pod", Name: second.Pod}, {Kind: "Pod", Name: launcher.Pod}, {Kind: "PodGroup", Name: made.GetName()}}, j.Objects)
	for _, o := range j.Objects {
		text, err := e.JobObject(t.Context(), ofRun, o)
		require.NoError(t, err)
		require.Contains(t, string(text), "kind: "+o.Kind+"\n")
		require.Contains(t, string(text), "name: "+o.Name+"\n")
	}
	_, err = e.JobObject(t.Context(), ofRun, cluster.Object{Kind: "Pod", Name: "wf-all-reduce-1"})
	require.Equal(t, apierr.NotFound, apierr.KindOf(err), "only objects of the job are shown")

	others := ofRun
	others.RunID = "another"
	jobs, _, err = e.Jobs(t.Context(), others)
	require.NoError(t, err)
	require.Empty(t, jobs)
}

// Without the launcher's pod the number of ranks in each pod is unknown. Without rights the job comes without its gang.
func TestJobsOfARunPartly(t *testing.T) {
	t.Parallel()
	made, pods, _ := training(t)
	kube, dyn := fake.NewClientset(pods[1:]...), enginetest.NewDynamic(made)
	forbid(&dyn.Fake, "list", "podgroups", false)
	forbid(&dyn.Fake, "list", "tfjobs", false)
	e := engine.New(nil, kube, dyn, "kubeflow", slog.New(slog.DiscardHandler)).View()
	jobs, missing, err := e.Jobs(t.Context(), ofRun)
	require.NoError(t, err)
	require.Nil(t, jobs[0].Requested)
	require.Nil(t, jobs[0].PodGroup)
	require.Nil(t, jobs[0].Workers[0].Ranks)
	require.Equal(t, []cluster.Right{
		{Verb: "list", Resource: "podgroups.scheduling.volcano.sh", Namespace: "kubeflow"}, {Verb: "list", Resource: "tfjobs.kubeflow.org", Namespace: "kubeflow"},
	}, missing)

	forbid(&kube.Fake, "list", "pods", false)
	jobs, missing, err = e.Jobs(t.Context(), ofRun)
	require.NoError(t, err)
	require.Empty(t, jobs)
	require.Equal(t, []cluster.Right{{Verb: "list", Resource: "pods", Namespace: "kubeflow"}}, missing)
}

func TestEventsOfARun(t *testing.T) {
	t.Parallel()
	at := func(second int) metav1.Time { return metav1.Date(2026, 11, 20, 12, 0, second, 0, time.UTC) }
	_, value := job.Identity{Workflow: "wf", Node: "wf-1"}.Label()
	worker := "all-reduce-" + value + "-worker-0"
	event := func(name, kind, object, reason string, count int32, first, last int) *corev1.Event {
		return &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kubeflow", Name: name}, InvolvedObject: corev1.ObjectReference{Kind: kind, Name: object}, Type: "Warning",
			Reason: reason, Message: "it failed\n", Source: corev1.EventSource{Component: "kubelet"}, Count: count, FirstTimestamp: at(first), LastTimestamp: at(last),
		}
	}
	scheduled := event("5", "Pod", "wf-all-reduce-1", "Scheduled", 0, 0, 0)
	scheduled.FirstTimestamp, scheduled.LastTimestamp, scheduled.Source = metav1.Time{}, metav1.Time{}, corev1.EventSource{}
	scheduled.EventTime, scheduled.ReportingController, scheduled.Type = metav1.NewMicroTime(at(7).Time), "default-scheduler", "Normal"
	kube := fake.NewClientset(
		event("1", "Pod", worker, "BackOff", 3, 2, 4), event("2", "Pod", worker, "BackOff", 2, 1, 3),
		event("3", "Workflow", "wf", "WorkflowRunning", 1, 5, 5), event("4", "PodGroup", "all-reduce-"+value, "Unschedulable", 1, 6, 6), scheduled,
		event("6", "Workflow", "wf-2", "WorkflowRunning", 1, 9, 9), event("7", "Pod", "wf-2-main-1", "BackOff", 1, 9, 9), event("8", "Pod", "stranger", "BackOff", 1, 9, 9),
	)
	e := engine.New(nil, kube, enginetest.NewDynamic(), "kubeflow", slog.New(slog.DiscardHandler)).View()
	events, missing, err := e.Events(t.Context(), ofRun)
	require.NoError(t, err)
	require.Empty(t, missing)
	require.Len(t, events, 4)
	require.Equal(t, "default-scheduler", events[0].Source)
	require.Equal(t, int32(1), events[0].Count)
	require.Equal(t, at(7).Unix(), events[0].LastAt.Unix())
	require.Equal(t, []string{"Scheduled", "Unschedulable", "WorkflowRunning", "BackOff"}, []string{events[0].Reason, events[1].Reason, events[2].Reason, events[3].Reason}, "the newest first")
	again := events[3]
	require.Equal(t, []any{int32(5), "wf-1", "it failed", at(1).Unix(), at(4).Unix()}, []any{again.Count, again.NodeID, again.Message, again.FirstAt.Unix(), again.LastAt.Unix()})

	forbid(&kube.Fake, "list", "events", false)
	events, missing, err = e.Events(t.Context(), ofRun)
	require.NoError(t, err)
	require.Empty(t, events)
	require.Equal(t, []cluster.Right{{Verb: "list", Resource: "events", Namespace: "kubeflow"}}, missing)
}
