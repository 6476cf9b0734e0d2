package job

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// jobWith is a job of a kind with these conditions, and pods.
func jobWith(kind *Kind, pods []*corev1.Pod, conditions ...string) state {
	list := []any{}
	for _, c := range conditions {
		list = append(list, map[string]any{"type": c, "status": "True", "lastTransitionTime": "2026-11-21T10:00:00Z"})
	}
	s := state{kind: kind, job: &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": list}}}, pods: pods}
	s.status = kind.read(s.job)
	return s
}

func pod(name string, phase corev1.PodPhase, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{Phase: phase}}
	for _, c := range change {
		c(p)
	}
	return p
}

func waitingFor(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: containerWorker, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}}
	}
}

func unscheduled(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."}}
}

func atInit(p *corev1.Pod) {
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init-code", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	waitingFor("PodInitializing", "")(p)
}

func begun(p *corev1.Pod) {
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: containerLauncher, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
}

// in gives a pod a role of an MPIJob.
func in(role string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels = map[string]string{"training.kubeflow.org/job-role": role} }
}

func TestDescribeMPI(t *testing.T) {
	t.Parallel()
	worker := func(name string, phase corev1.PodPhase, change ...func(*corev1.Pod)) *corev1.Pod {
		return pod(name, phase, append(change, in("worker"))...)
	}
	launcher := func(phase corev1.PodPhase, change func(*corev1.Pod)) *corev1.Pod {
		return pod("l", phase, change, in("launcher"))
	}
	created := func(pods ...*corev1.Pod) state { return jobWith(&mpiJob, pods, "Created") }
	running := corev1.PodRunning
	spec := &Spec{Kind: &mpiJob, Roles: []Role{{Name: "worker", Replicas: 2}}}
	for want, s := range map[string]state{
		"waiting for mpi-operator to take the job up":                                                                            jobWith(&mpiJob, nil),
		"the job is suspended: waiting until it is resumed":                                                                      jobWith(&mpiJob, nil, "Created", "Suspended"),
		"waiting for 2 workers: 0 running, 2 not created yet":                                                                    created(),
		"waiting for 2 workers: 1 running, 1 not created yet":                                                                    created(worker("w-0", running)),
		"waiting for 2 workers: 0 running; pod w-0 and 1 more: image cannot be pulled: no such image; it is tried again":         created(worker("w-0", corev1.PodPending, waitingFor("ImagePullBackOff", "no such image")), worker("w-1", corev1.PodPending, waitingFor("ImagePullBackOff", "no such image"))),
		"waiting for 2 workers: 1 running; pod w-1: no node has enough nvidia.com/gpu free (3 nodes: too little nvidia.com/gpu)": created(worker("w-0", running), worker("w-1", corev1.PodPending, unscheduled)),
		"waiting for 2 workers: 0 running; pod w-0: its init container init-code is at work; pod w-1: starting":                  created(worker("w-0", corev1.PodPending, atInit), worker("w-1", corev1.PodPending, waitingFor("ContainerCreating", ""))),
		"all workers run: waiting for the job's launcher to be created":                                                          created(worker("w-0", running), worker("w-1", running)),
		"waiting for the job's launcher; pod l: image cannot be pulled: denied; it is tried again":                               created(worker("w-0", running), worker("w-1", running), launcher(corev1.PodPending, waitingFor("ErrImagePull", "denied"))),
	} {
		require.Equal(t, want, describe(s, spec))
	}
	for _, s := range []state{
		{},
		jobWith(&mpiJob, nil, "Created", "Succeeded"),
		jobWith(&mpiJob, nil, "Created", "Failed"),
		jobWith(&mpiJob, []*corev1.Pod{worker("w-0", running), worker("w-1", corev1.PodFailed), launcher(running, begun)}, "Created", "Running"),
	} {
		require.Empty(t, describe(s, spec))
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	spec := &Spec{Kind: &tfJob, Roles: []Role{{Name: "worker", Replicas: 1}, {Name: "ps", Replicas: 1}}}
	runs := func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "tensorflow", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}}
	}
	for want, s := range map[string]state{
		"waiting for training-operator to take the job up":                                                                    jobWith(&tfJob, nil),
		"waiting for 2 pods: 0 running, 2 not created yet":                                                                    jobWith(&tfJob, nil, "Created"),
		"waiting for 2 pods: 1 running; pod p-0: no node has enough nvidia.com/gpu free (3 nodes: too little nvidia.com/gpu)": jobWith(&tfJob, []*corev1.Pod{pod("w-0", corev1.PodRunning, runs), pod("p-0", corev1.PodPending, unscheduled)}, "Created", "Running"),
		"": jobWith(&tfJob, []*corev1.Pod{pod("w-0", corev1.PodRunning, runs), pod("p-0", corev1.PodRunning, runs)}, "Created", "Running"),
	} {
		require.Equal(t, want, describe(s, spec))
	}
}

func TestProblemsAreGrouped(t *testing.T) {
	t.Parallel()
	var all []*corev1.Pod
	for _, reason := range strings.Fields("A B C D E A A") {
		all = append(all, pod("p-"+reason, corev1.PodPending, waitingFor(reason, "")))
	}
	require.Equal(t, "; pod p-A and 2 more: A; pod p-B: B; pod p-C: C; and 2 more reasons", problems(all))
}

func TestEnding(t *testing.T) {
	t.Parallel()
	for want, ended := range map[string]corev1.ContainerStateTerminated{
		"exited with code 7":                                              {ExitCode: 7, Reason: "Error"},
		"exited with code 7: assertion failed":                            {ExitCode: 7, Message: "assertion failed\n"},
		"exited with code 127: a program was not found":                   {ExitCode: 127},
		"exited with code 139, as after signal 11":                        {ExitCode: 139},
		"was killed for using more memory than its limit (exit code 137)": {ExitCode: 137, Reason: "OOMKilled"},
	} {
		require.Equal(t, want, ending(&ended))
	}
}
