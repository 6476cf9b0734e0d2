package mpijob

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeflow "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
)

func jobWith(conditions ...kubeflow.JobConditionType) *kubeflow.MPIJob {
	job := &kubeflow.MPIJob{}
	for _, c := range conditions {
		job.Status.Conditions = append(job.Status.Conditions, kubeflow.JobCondition{Type: c, Status: corev1.ConditionTrue})
	}
	return job
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

func TestDescribe(t *testing.T) {
	t.Parallel()
	created := jobWith(kubeflow.JobCreated)
	type pods = []*corev1.Pod
	for want, s := range map[string]state{
		"waiting for the MPI operator to take the job up":                                                                   {job: jobWith()},
		"the job is suspended: waiting until it is resumed":                                                                 {job: jobWith(kubeflow.JobCreated, kubeflow.JobSuspended)},
		"waiting for 2 workers: 0 running, 2 not created yet":                                                               {job: created},
		"waiting for 2 workers: 1 running, 1 not created yet":                                                               {job: created, workers: pods{pod("w-0", corev1.PodRunning)}},
		"waiting for 2 workers: 0 running; pod w-0 and 1 more: ImagePullBackOff: no such image":                             {job: created, workers: pods{pod("w-0", corev1.PodPending, waitingFor("ImagePullBackOff", "no such image")), pod("w-1", corev1.PodPending, waitingFor("ImagePullBackOff", "no such image"))}},
		"waiting for 2 workers: 1 running; pod w-1: not scheduled: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.": {job: created, workers: pods{pod("w-0", corev1.PodRunning), pod("w-1", corev1.PodPending, unscheduled)}},
		"waiting for 2 workers: 0 running; pod w-0: its init container init-code is at work; pod w-1: starting":             {job: created, workers: pods{pod("w-0", corev1.PodPending, atInit), pod("w-1", corev1.PodPending, waitingFor("ContainerCreating", ""))}},
		"all workers run: waiting for the job's launcher to be created":                                                     {job: created, workers: pods{pod("w-0", corev1.PodRunning), pod("w-1", corev1.PodRunning)}},
		"waiting for the job's launcher; pod l: ErrImagePull: denied":                                                       {job: created, workers: pods{pod("w-0", corev1.PodRunning), pod("w-1", corev1.PodRunning)}, launcher: pods{pod("l", corev1.PodPending, waitingFor("ErrImagePull", "denied"))}},
	} {
		require.Equal(t, want, describe(s, 2))
	}
	for _, s := range []state{
		{},
		{job: jobWith(kubeflow.JobCreated, kubeflow.JobSucceeded)},
		{job: jobWith(kubeflow.JobCreated, kubeflow.JobFailed)},
		{job: jobWith(kubeflow.JobCreated, kubeflow.JobRunning), workers: pods{pod("w-0", corev1.PodRunning), pod("w-1", corev1.PodFailed)}, launcher: pods{pod("l", corev1.PodRunning, begun)}},
	} {
		require.Empty(t, describe(s, 2))
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
