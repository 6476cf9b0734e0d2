package nodestatus

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPressure(t *testing.T) {
	t.Parallel()
	var before []corev1.NodeCondition
	for _, step := range []struct {
		free int64
		want corev1.ConditionStatus
	}{
		{100, corev1.ConditionFalse},
		{99, corev1.ConditionTrue},
		{124, corev1.ConditionTrue}, // not to and fro at the limit
		{125, corev1.ConditionFalse},
		{100, corev1.ConditionFalse},
	} {
		c := pressure(before, corev1.NodeDiskPressure, "has", "has not", step.free<<20, 100<<20, "on the disk")
		require.Equal(t, step.want, c.Status, step.free)
		before = []corev1.NodeCondition{c}
	}
	c := pressure(nil, corev1.NodeDiskPressure, "has", "has not", 7<<20, 100<<20, "on the disk of /x")
	require.Equal(t, "only 7 MiB on the disk of /x are free: no more pods are placed here", c.Message)
}

func TestConditionsKeepTheirTimes(t *testing.T) {
	t.Parallel()
	r := &Reporter{Disk: "/nowhere"} // so there is no condition of the disk
	first := r.conditions(nil)
	require.Equal(t, []corev1.NodeConditionType{corev1.NodeReady, corev1.NodeMemoryPressure}, []corev1.NodeConditionType{first[0].Type, first[1].Type})
	for i := range first {
		first[i].LastTransitionTime = metav1.Unix(1, 0)
	}
	for _, c := range r.conditions(first) {
		require.Equal(t, metav1.Unix(1, 0), c.LastTransitionTime)
		require.NotEqual(t, metav1.Unix(1, 0), c.LastHeartbeatTime)
	}
}
