package podstatus

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
	got := Merge(there, ours)
	require.Equal(t, corev1.PodRunning, got.Phase)
	require.Equal(t, corev1.PodQOSBurstable, got.QOSClass)
	require.Equal(t, ours.PodIPs, got.PodIPs, "a pod that is begun anew has another address")
	require.Equal(t, []corev1.PodCondition{
		condition("PodScheduled", "True", "", before), condition("Ready", "True", "", later), condition("example.org/gate", "True", "", before),
		condition("Initialized", "True", "", later),
	}, got.Conditions)
	require.Equal(t, corev1.ConditionFalse, there.Conditions[1].Status, "what was there is not changed in place")
}
