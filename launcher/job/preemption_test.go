package job

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	corefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"
)

// podFor is a pod of a job that has a node or is nominated for one.
func podFor(job, node, nominated string, priority int32) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "kubeflow", Name: job + "-worker-0", Labels: map[string]string{labelRun: "run-of-" + job},
			OwnerReferences: []metav1.OwnerReference{{Kind: "TFJob", Name: job, Controller: ptr.To(true)}},
		},
		Spec:   corev1.PodSpec{NodeName: node, Priority: ptr.To(priority)},
		Status: corev1.PodStatus{NominatedNodeName: nominated},
	}
}

func preemptedPod() *corev1.Pod {
	pod := podFor("low", "n1", "", 10)
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler}}
	return pod
}

func TestVictim(t *testing.T) {
	t.Parallel()
	victim := preemptedPod()
	tainted := podFor("tainted", "n1", "", 10)
	tainted.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager"}}
	require.Nil(t, victimOf([]*corev1.Pod{podFor("well", "n1", "", 10), tainted}))
	require.Same(t, victim, victimOf([]*corev1.Pod{tainted, victim}))
}

func TestPreemptor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pods []*corev1.Pod
		want string
	}{
		"nobody waits":                         {nil, "pods of higher priority"},
		"only pods of the same priority do":    {[]*corev1.Pod{podFor("equal", "", "n1", 10)}, "pods of higher priority"},
		"a pod that runs elsewhere by itself":  {[]*corev1.Pod{podFor("high", "n2", "", 1000)}, "pods of higher priority"},
		"a job waits for the victim's node":    {[]*corev1.Pod{podFor("equal", "", "n1", 10), podFor("high", "", "n1", 1000)}, "TFJob high (priority 1000)"},
		"a job has got it":                     {[]*corev1.Pod{podFor("high", "n1", "n1", 1000)}, "TFJob high (priority 1000)"},
		"two jobs wait, one of them elsewhere": {[]*corev1.Pod{podFor("high", "", "n1", 1000), podFor("other", "", "n2", 2000)}, "TFJob high (priority 1000)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := corefake.NewClientset()
			for _, pod := range c.pods {
				require.NoError(t, client.Tracker().Add(pod))
			}
			l, _, _ := newFakeLauncher(t, "me")
			l.Pods = client.CoreV1().Pods("kubeflow")
			require.Equal(t, c.want, l.preemptor(t.Context(), preemptedPod()).String())
		})
	}
}

// A job that loses a pod to a preemption goes as a whole and is created again: the same attempt, which says what preempted it.
func TestPreemptedJobStartsAgain(t *testing.T) {
	t.Parallel()
	l, client, out := newFakeLauncher(t, "me", existing(t, "me", func(*unstructured.Unstructured) {}))
	l.Pods = corefake.NewClientset(podFor("high", "", "n1", 1000)).CoreV1().Pods("kubeflow")
	job, err := l.ensure(t.Context())
	require.NoError(t, err)

	failed, over := l.ended(t.Context(), state{kind: &mpiJob, job: job, victim: preemptedPod()}, job, nil)
	require.True(t, over)
	require.NotNil(t, failed.victim)
	require.True(t, asked(client, "delete"))
	again, err := l.requeue(t.Context(), job, failed.victim)
	require.NoError(t, err)
	require.Equal(t, 1, attempt(again))
	require.Contains(t, out.String(), "was preempted by TFJob high (priority 1000)\n")
	seen := mpiJob.Look(again, nil, l.Spec)
	require.Equal(t, []any{"TFJob", "high", "run-of-high", int32(1000)}, []any{seen.Preempted.Kind, seen.Preempted.Name, seen.Preempted.Run, seen.Preempted.Priority})
	require.WithinDuration(t, time.Now(), seen.Preempted.At, time.Minute)

	var p Preemption
	require.NoError(t, json.Unmarshal([]byte(again.GetAnnotations()[annotationPreemption]), &p))
	l.preemption = nil // another launcher goes on with the job, which then fails
	next, err := l.again(t.Context(), again)
	require.NoError(t, err)
	require.Equal(t, 2, attempt(next))
	require.Equal(t, &p, preemptionOf(next))
}
