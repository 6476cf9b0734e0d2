package test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What a command leaves running in the background has the command's streams, and may keep them open for ever. Nobody waits for that.
func TestCommandsThatLeaveProcessesBehind(t *testing.T) {
	t.Parallel()
	c := shared(t)
	leaves := corev1.ExecAction{Command: []string{"sh", "-c", "sleep 1000 & echo done"}}
	c.createPod(t, podOf("leaves", "trap 'exit 0' TERM; while :; do sleep 0.05; done", func(s *corev1.PodSpec) {
		s.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: &leaves}, PreStop: &corev1.LifecycleHandler{Exec: &leaves}}
		s.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &leaves}, PeriodSeconds: 60, TimeoutSeconds: 60}
	}))
	c.awaitPod(t, "leaves", "is ready after a hook and a probe", isReady)
	require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "leaves", metav1.DeleteOptions{GracePeriodSeconds: ptr(int64(20))}))
	asked := time.Now()
	c.awaitGone(t, "leaves")
	require.Less(t, time.Since(asked), 20*time.Second, "its hook used up all the time that the pod has to end")
}
