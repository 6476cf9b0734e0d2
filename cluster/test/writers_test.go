package test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The kubelet replaces a pod's status; what others write to the pod meanwhile stays.
func TestPodsHaveOtherWriters(t *testing.T) {
	t.Parallel()
	c := shared(t)
	wait, open := c.gate("others-wrote-" + c.namespace)
	c.createPod(t, podOf("shared", wait))
	c.awaitPod(t, "shared", "runs", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	pods := c.kube.CoreV1().Pods(c.namespace)
	_, err := pods.Patch(t.Context(), "shared", types.MergePatchType, []byte(`{"metadata":{"labels":{"mine":"kept"},"annotations":{"mine":"too"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	_, err = pods.Patch(t.Context(), "shared", types.StrategicMergePatchType, []byte(`{"status":{"conditions":[{"type":"example.org/seen","status":"True"}]}}`), metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	open(t)
	p := c.awaitPod(t, "shared", "ends", ended)
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase)
	require.Equal(t, "kept", p.Labels["mine"])
	require.Equal(t, "too", p.Annotations["mine"])
	require.Equal(t, corev1.ConditionTrue, condition(p, "example.org/seen").Status)
	require.Equal(t, "PodCompleted", condition(p, corev1.PodReady).Reason)
}
