package job

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/launcher/firstfault"
)

// podThat is a pod of a PyTorchJob that ended with a code, or for the reason of the cluster's.
func podThat(role, index string, code int32, reason string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "x-" + role + "-" + index, Labels: map[string]string{labelReplicaType: role, labelReplicaIndex: index}},
		Spec:       corev1.PodSpec{NodeName: "node-" + index},
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "pytorch", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, FinishedAt: metav1.NewTime(start.Add(time.Second)),
	}}}}
	return pod
}

// A job that failed names the rank that failed first, its host and the cause, and shows what that rank printed.
func TestExplain(t *testing.T) {
	t.Parallel()
	o := Options{"name": {"x"}, "image": {"i"}, "workers": {"3"}}
	spec, err := o.Spec(&pyTorchJob, "c")
	require.NoError(t, err)
	evicted := podThat("worker", "1", 137, "Error")
	evicted.Status.Phase, evicted.Status.Reason, evicted.Status.Message = corev1.PodFailed, "Evicted", "The node was low on resource: memory."
	for name, tc := range map[string]struct {
		pods  []*corev1.Pod
		logs  map[string]string
		cause string
		lines []string
	}{
		"an exception": {
			[]*corev1.Pod{podThat("master", "0", 1, "Error"), podThat("worker", "0", 1, "Error"), podThat("worker", "1", 1, "Error")},
			map[string]string{"x-master-0": "RuntimeError: Connection closed by peer\n", "x-worker-1": "step 1\nTraceback (most recent call last):\n  File \"a.py\"\nKeyError: 'lr'\n"},
			"PyTorchJob x failed: rank 2 on x-worker-1 (node-1): raised KeyError: 'lr' (exit code 1)",
			[]string{"step 1", "Traceback (most recent call last):", "  File \"a.py\"", "KeyError: 'lr'"},
		},
		"memory": {
			[]*corev1.Pod{podThat("master", "0", 1, "Error"), podThat("worker", "0", 137, "OOMKilled")},
			map[string]string{"x-worker-0": "step 2\n"},
			"PyTorchJob x failed: rank 1 on x-worker-0 (node-0): was killed for using more memory than its limit (exit code 137)",
			[]string{"step 2"},
		},
		"eviction": {
			[]*corev1.Pod{podThat("master", "0", 1, "Error"), evicted},
			map[string]string{"x-master-0": "step 2\n"},
			"PyTorchJob x failed: rank 2 on x-worker-1 (node-1): the cluster removed the pod: Evicted: The node was low on resource: memory.", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			logs := &reader{faults: firstfault.New(), read: []string{"x-master-0"}}
			for pod, text := range tc.logs {
				s := logs.faults.Pod(pod)
				_, _ = s.Write([]byte(text))
				require.NoError(t, s.Close())
			}
			failed := &FailedError{Code: 1, Cause: "PyTorchJob x failed", job: "PyTorchJob x", pods: tc.pods}
			l := &Launcher{Spec: spec, out: &console{w: &strings.Builder{}}}
			l.explain(failed, logs)
			require.Equal(t, tc.cause, failed.Cause)
			require.Equal(t, tc.lines, failed.lines)
		})
	}
}

// The workers of mpirun end with the job, and their exit is not the job's first fault.
func TestExplainMPI(t *testing.T) {
	t.Parallel()
	o := Options{"name": {"x"}, "image": {"i"}, "workers": {"2"}, "slots": {"2"}}
	spec, err := o.Spec(&mpiJob, "c")
	require.NoError(t, err)
	pod := func(role, index string, code int32) *corev1.Pod {
		p := podThat(role, index, code, "Error")
		p.Labels = map[string]string{"training.kubeflow.org/job-role": role, "training.kubeflow.org/replica-index": index}
		return p
	}
	logs := &reader{faults: firstfault.New(), read: []string{"x-launcher-0"}}
	logs.faults.Placed([]string{"x-worker-0.x", "x-worker-1.x", "x-worker-0.x", "x-worker-1.x"})
	s := logs.faults.Pod("x-launcher-0")
	_, _ = s.Write([]byte("[1,0]<stdout>:step 1\n[1,1]<stderr>:no such optimizer\nmpirun detected that one or more processes exited with non-zero status, thus causing\nthe job to be terminated. The first process to do so was:\n\n  Process name: [[17009,1],1]\n  Exit code:    7\n"))
	require.NoError(t, s.Close())
	failed := &FailedError{Code: 7, Cause: "MPIJob x failed", job: "MPIJob x", pods: []*corev1.Pod{pod("launcher", "0", 7), pod("worker", "0", 143), pod("worker", "1", 143)}}
	(&Launcher{Spec: spec, out: &console{w: &strings.Builder{}}}).explain(failed, logs)
	require.Equal(t, "MPIJob x failed: rank 1 on x-worker-1 (node-1): exited with code 7", failed.Cause, "as mpirun placed it")
	require.Equal(t, []string{"no such optimizer"}, failed.lines)
}
