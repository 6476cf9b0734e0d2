package kubelet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
)

// kinPod is a pod of a workflow's template that began to run at a time.
func kinPod(k *Kubelet, uid types.UID, template string, ran time.Time) *pod {
	yes := true
	p := &pod{k: k, ran: ran, argo: &argoStep{}, obj: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		UID: uid, OwnerReferences: []metav1.OwnerReference{{UID: "workflow", Controller: &yes}},
	}}}
	p.argo.tmpl.Name = template
	p.stored = &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}
	p.status.Phase = corev1.PodRunning
	return p
}

func TestWhenAStatusIsDue(t *testing.T) {
	t.Parallel()
	k := &Kubelet{lasted: lru.New(2)}
	now := time.Now()
	wait := func(p *pod) time.Duration { return p.due(now).Sub(now) }

	p := kinPod(k, "1", "short", now)
	require.Zero(t, wait(p), "nothing is known of its kin")
	p.status.ContainerStatuses = []corev1.ContainerStatus{{}, {State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}}
	require.Equal(t, preparing, wait(p), "the other container is about to run")
	p.stored.Status.Phase = corev1.PodRunning
	require.Equal(t, settling, wait(p))
	p.status.Phase = corev1.PodPending
	require.Equal(t, preparing, wait(p))

	kinPod(k, "2", "short", time.Now().Add(-200*time.Millisecond)).noteLife()
	kinPod(k, "3", "long", time.Now().Add(-time.Minute)).noteLife()
	require.InDelta(t, 400*time.Millisecond, wait(kinPod(k, "4", "short", now)), float64(50*time.Millisecond), "it will be over")
	require.Zero(t, wait(kinPod(k, "5", "long", now)), "it will not")
	kinPod(k, "6", "short", time.Now().Add(-10*time.Millisecond)).noteLife()
	require.Equal(t, hardlyRan, wait(kinPod(k, "7", "short", now)), "it was a lucky one")
	kinPod(k, "6", "short", time.Now().Add(-900*time.Millisecond)).noteLife()
	require.Equal(t, soonOver, wait(kinPod(k, "7", "short", now)))
}

func TestStatusOfOthersStays(t *testing.T) {
	t.Parallel()
	before, later := metav1.NewTime(time.Unix(1000, 0)), metav1.NewTime(time.Unix(2000, 0))
	condition := func(kind corev1.PodConditionType, value corev1.ConditionStatus, reason string, at metav1.Time) corev1.PodCondition {
		return corev1.PodCondition{Type: kind, Status: value, Reason: reason, LastTransitionTime: at}
	}
	there := corev1.PodStatus{
		Phase: corev1.PodPending, QOSClass: corev1.PodQOSBurstable, PodIPs: []corev1.PodIP{{IP: "10.88.0.2"}},
		Conditions: []corev1.PodCondition{
			condition("PodScheduled", "True", "", before), condition("Ready", "False", "ContainersNotReady", before), condition("example.org/gate", "True", "", before),
		},
	}
	ours := corev1.PodStatus{
		Phase: corev1.PodRunning, PodIPs: []corev1.PodIP{{IP: "10.88.0.3"}},
		Conditions: []corev1.PodCondition{condition("PodScheduled", "True", "", later), condition("Ready", "True", "", later), condition("Initialized", "True", "", later)},
	}
	got := withStatus(there, ours)
	require.Equal(t, corev1.PodRunning, got.Phase)
	require.Equal(t, corev1.PodQOSBurstable, got.QOSClass)
	require.Equal(t, ours.PodIPs, got.PodIPs, "a pod that is begun anew has another address")
	require.Equal(t, []corev1.PodCondition{
		condition("PodScheduled", "True", "", before), condition("Ready", "True", "", later), condition("example.org/gate", "True", "", before),
		condition("Initialized", "True", "", later),
	}, got.Conditions)
	require.Equal(t, corev1.ConditionFalse, there.Conditions[1].Status, "what was there is not changed in place")
}
