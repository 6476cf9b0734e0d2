package test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A kubelet that takes a pod over knows how it is: what was ready stays so, hooks that ran do not run again, and what
// falls ill later is seen.
func TestHealthOutlivesTheKubelet(t *testing.T) {
	t.Parallel()
	c := up(t, t.TempDir())
	well := corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"test", "-e", "/v/well"}}}
	run := func(script string) *corev1.LifecycleHandler {
		return &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", script}}}
	}
	claim := c.claim(t, "health")
	c.createPod(t, podOf("patient", "touch /v/well; trap 'echo told main >> /v/log; exit 1' TERM; while :; do sleep 0.02; done", mounted(claim), func(s *corev1.PodSpec) {
		main := &s.Containers[0]
		main.ReadinessProbe = &corev1.Probe{ProbeHandler: well, PeriodSeconds: 1, TimeoutSeconds: 60}
		main.LivenessProbe = &corev1.Probe{ProbeHandler: well, PeriodSeconds: 1, TimeoutSeconds: 60, FailureThreshold: 2}
		main.StartupProbe = &corev1.Probe{ProbeHandler: well, PeriodSeconds: 1, TimeoutSeconds: 60, FailureThreshold: 600}
		main.Lifecycle = &corev1.Lifecycle{PostStart: run("echo started >> /v/log"), PreStop: run("echo stopping >> /v/log")}
		s.RestartPolicy = corev1.RestartPolicyAlways
		side := corev1.Container{
			Name: "side", Image: "host", VolumeMounts: main.VolumeMounts, RestartPolicy: ptr(corev1.ContainerRestartPolicyAlways),
			Command:      []string{"sh", "-c", "touch /v/side; trap 'echo told side >> /v/log; exit 0' TERM; while :; do sleep 0.02; done"},
			StartupProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"test", "-e", "/v/side"}}}, PeriodSeconds: 1, TimeoutSeconds: 60, FailureThreshold: 600},
		}
		s.InitContainers = []corev1.Container{side}
	}))
	before := c.awaitPod(t, "patient", "is ready", isReady)
	old := c.kubeletProcess(t)
	c.kill(t, old)
	eventually(t, "there is another kubelet", func(context.Context) bool {
		now := c.findProcess(t, "argosy-cluster", "kubelet", string(c.home))
		return now != 0 && now != old
	})
	eventually(t, "it serves the pod", func(context.Context) bool { return c.tryExec(t, "patient", "true") == nil })
	after := c.awaitPod(t, "patient", "is ready", isReady)
	require.Equal(t, condition(before, corev1.PodReady).LastTransitionTime, condition(after, corev1.PodReady).LastTransitionTime, "it was never unready")
	require.Zero(t, after.Status.ContainerStatuses[0].RestartCount)
	_, out, _ := c.exec(t, "patient", nil, "cat", "/v/log")
	require.Equal(t, "started\n", out)

	c.exec(t, "patient", nil, "rm", "/v/well")
	c.awaitPod(t, "patient", "is restarted and ready", func(p *corev1.Pod) bool { return p.Status.ContainerStatuses[0].RestartCount == 1 && isReady(p) })
	require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "patient", metav1.DeleteOptions{}))
	c.awaitGone(t, "patient")
	p := c.runPod(t, podOf("reads", "cat /v/log", mounted(claim)))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase)
	require.Equal(t, "started\nstopping\ntold main\nstarted\nstopping\ntold main\ntold side\n", c.log(t, "reads", "main"))
}
