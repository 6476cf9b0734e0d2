package test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A background process of a command has the command's streams and may keep them open for ever. The end of the step does not wait for it.
func TestCommandsThatLeaveProcessesBehind(t *testing.T) {
	t.Parallel()
	c := shared(t)
	leaves := corev1.ExecAction{Command: []string{"sh", "-c", "sleep 1000 & echo done"}}
	c.createPod(t, podOf("leaves", "trap 'exit 0' TERM; while :; do sleep 0.05; done", func(s *corev1.PodSpec) {
		s.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: &leaves}, PreStop: &corev1.LifecycleHandler{Exec: &leaves}}
		s.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &leaves}, PeriodSeconds: 60, TimeoutSeconds: 60}
	}))
	c.awaitPod(t, "leaves", "is ready after a hook and a probe", isReady)
	require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "leaves", metav1.DeleteOptions{GracePeriodSeconds: ptr(int64(1000))}))
	c.awaitGone(t, "leaves") // its hook does not use up all the time that the pod has to end
}
