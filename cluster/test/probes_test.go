package test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// handlers are the four ways to ask a server how it is.
func handlers() map[string]corev1.ProbeHandler {
	return map[string]corev1.ProbeHandler{
		"exec":  {Exec: &corev1.ExecAction{Command: []string{"test", "-e", "/v/well"}}},
		"http":  {HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("web"), HTTPHeaders: []corev1.HTTPHeader{{Name: "X-Test", Value: "1"}}}},
		"https": {HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080), Scheme: corev1.URISchemeHTTPS}},
		"grpc":  {GRPC: &corev1.GRPCAction{Port: 8080, Service: ptr("argosy")}},
	}
}

// probed is a pod whose server is well while /v/well exists.
func (c *cluster) probed(t *testing.T, name, kind string, change func(*corev1.Container)) *corev1.Pod {
	t.Helper()
	if kind == "exec" || kind == "tcp" {
		kind = "http"
	}
	return podOf(name, "exec "+c.podserver(t)+" -kind "+kind+" -health /v/well", mounted(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}), func(s *corev1.PodSpec) {
		s.Containers[0].Ports = []corev1.ContainerPort{{Name: "web", ContainerPort: 8080}}
		change(&s.Containers[0])
	})
}

func condition(p *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		return corev1.PodCondition{}
	}
	return p.Status.Conditions[i]
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	c := shared(t)
	for kind, handler := range handlers() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			name := "ready-" + kind
			c.createPod(t, c.probed(t, name, kind, func(ctr *corev1.Container) {
				ctr.ReadinessProbe = &corev1.Probe{ProbeHandler: handler, PeriodSeconds: 1, FailureThreshold: 1}
			}))
			c.awaitEvent(t, name, "Unhealthy", "Readiness probe failed: ")
			p := c.awaitPod(t, name, "runs", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
			require.False(t, isReady(p))
			require.Equal(t, "ContainersNotReady", condition(p, corev1.PodReady).Reason)
			require.Equal(t, "containers with unready status: [main]", condition(p, corev1.ContainersReady).Message)
			require.True(t, *p.Status.ContainerStatuses[0].Started)
			c.exec(t, name, nil, "touch", "/v/well")
			c.awaitPod(t, name, "is ready", isReady)
			c.exec(t, name, nil, "rm", "/v/well")
			p = c.awaitPod(t, name, "is unready again", func(p *corev1.Pod) bool { return !isReady(p) })
			require.Zero(t, p.Status.ContainerStatuses[0].RestartCount)
		})
	}
	t.Run("tcp", func(t *testing.T) {
		t.Parallel()
		c.createPod(t, podOf("ready-tcp", "until test -e /v/go; do sleep 0.05; done; exec "+c.podserver(t), mounted(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}), func(s *corev1.PodSpec) {
			s.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)}}, PeriodSeconds: 1}
		}))
		c.awaitEvent(t, "ready-tcp", "Unhealthy", "connection refused")
		c.exec(t, "ready-tcp", nil, "touch", "/v/go")
		c.awaitPod(t, "ready-tcp", "is ready", isReady)
	})
	t.Run("gates", func(t *testing.T) {
		t.Parallel()
		c.createPod(t, podOf("gated", "sleep 1000", func(s *corev1.PodSpec) {
			s.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/fed"}}
		}))
		p := c.awaitPod(t, "gated", "has ready containers", func(p *corev1.Pod) bool { return condition(p, corev1.ContainersReady).Status == corev1.ConditionTrue })
		require.False(t, isReady(p))
		require.Equal(t, "ReadinessGatesNotReady", condition(p, corev1.PodReady).Reason)
		_, err := c.kube.CoreV1().Pods(c.namespace).Patch(t.Context(), "gated", types.StrategicMergePatchType, []byte(`{"status":{"conditions":[{"type":"example.com/fed","status":"True"}]}}`), metav1.PatchOptions{}, "status")
		require.NoError(t, err)
		c.awaitPod(t, "gated", "is ready", isReady)
	})
}

func TestLiveness(t *testing.T) {
	t.Parallel()
	c := shared(t)
	for kind, handler := range handlers() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			name := "live-" + kind
			pod := c.probed(t, name, kind, func(ctr *corev1.Container) {
				ctr.StartupProbe = &corev1.Probe{ProbeHandler: handler, PeriodSeconds: 1, TimeoutSeconds: 60, FailureThreshold: 600} // the server may take its time
				ctr.LivenessProbe = &corev1.Probe{ProbeHandler: handler, PeriodSeconds: 1, TimeoutSeconds: 60, FailureThreshold: 2, TerminationGracePeriodSeconds: ptr(int64(1))}
				ctr.Command[2] = "touch /v/well; echo life; " + ctr.Command[2]
			})
			pod.Spec.RestartPolicy = corev1.RestartPolicyAlways
			c.createPod(t, pod)
			c.awaitPod(t, name, "has started", isReady)
			c.exec(t, name, nil, "rm", "/v/well")
			p := c.awaitPod(t, name, "is restarted", func(p *corev1.Pod) bool {
				return len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].RestartCount == 1 && p.Status.ContainerStatuses[0].State.Running != nil
			})
			require.NotNil(t, p.Status.ContainerStatuses[0].LastTerminationState.Terminated)
			require.NotZero(t, p.Status.ContainerStatuses[0].LastTerminationState.Terminated.ExitCode)
			c.awaitEvent(t, name, "Killing", "Container main failed liveness probe, will be restarted")
		})
	}
	t.Run("a pod that is not restarted fails", func(t *testing.T) {
		t.Parallel()
		p := c.runPod(t, podOf("live-never", "trap 'exit 9' TERM; touch /tmp/heeds; while :; do sleep 0.05; done", func(s *corev1.PodSpec) {
			s.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "test -e /tmp/heeds || exit 0; echo unwell; exit 1"}}}, PeriodSeconds: 1, TimeoutSeconds: 60, FailureThreshold: 1}
		}))
		require.Equal(t, corev1.PodFailed, p.Status.Phase)
		require.EqualValues(t, 9, p.Status.ContainerStatuses[0].State.Terminated.ExitCode, "it was told before it was killed")
		c.awaitEvent(t, "live-never", "Unhealthy", "Liveness probe failed: unwell")
	})
	t.Run("a probe that takes too long has failed", func(t *testing.T) {
		t.Parallel()
		c.createPod(t, podOf("live-slow", "sleep 1000", func(s *corev1.PodSpec) {
			s.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"sleep", "100"}}}, PeriodSeconds: 1, TimeoutSeconds: 1, FailureThreshold: 100}
		}))
		c.awaitEvent(t, "live-slow", "Unhealthy", "timed out after 1s")
	})
}

func TestStartup(t *testing.T) {
	t.Parallel()
	c := shared(t)
	well := corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"test", "-e", "/v/well"}}}
	always := corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"false"}}}
	t.Run("holds the other probes back", func(t *testing.T) {
		t.Parallel()
		c.createPod(t, c.probed(t, "startup", "exec", func(ctr *corev1.Container) {
			ctr.StartupProbe = &corev1.Probe{ProbeHandler: well, PeriodSeconds: 1, FailureThreshold: 100}
			ctr.LivenessProbe = &corev1.Probe{ProbeHandler: always, PeriodSeconds: 1, FailureThreshold: 100}
		}))
		c.awaitEvent(t, "startup", "Unhealthy", "Startup probe failed")
		p := c.awaitPod(t, "startup", "runs", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
		require.False(t, *p.Status.ContainerStatuses[0].Started)
		require.False(t, isReady(p))
		c.exec(t, "startup", nil, "touch", "/v/well")
		c.awaitPod(t, "startup", "has started", func(p *corev1.Pod) bool { return *p.Status.ContainerStatuses[0].Started && isReady(p) })
		c.awaitEvent(t, "startup", "Unhealthy", "Liveness probe failed")
	})
	t.Run("ends what never starts", func(t *testing.T) {
		t.Parallel()
		p := c.runPod(t, podOf("startup-fails", "sleep 1000", func(s *corev1.PodSpec) {
			s.TerminationGracePeriodSeconds = ptr(int64(1))
			s.Containers[0].StartupProbe = &corev1.Probe{ProbeHandler: always, PeriodSeconds: 1, FailureThreshold: 2}
		}))
		require.Equal(t, corev1.PodFailed, p.Status.Phase)
		c.awaitEvent(t, "startup-fails", "Killing", "Container main failed startup probe")
	})
}

func TestSidecars(t *testing.T) {
	t.Parallel()
	c := shared(t)
	all := []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
	sidecar := func(name, script string) corev1.Container {
		return corev1.Container{
			Name: name, Image: "host", VolumeMounts: all, RestartPolicy: ptr(corev1.ContainerRestartPolicyAlways),
			Command: []string{"sh", "-c", "echo start " + name + " >> /v/log; trap 'echo end " + name + " >> /v/log; exit 0' TERM; " + script + "; while :; do sleep 0.02; done"},
		}
	}
	claim := c.claim(t, "order")
	pod := podOf("ordered", "echo start main >> /v/log; trap 'echo end main >> /v/log; exit 0' TERM; touch /v/main-is-up; while :; do sleep 0.02; done", func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: claim}}
		s.Containers[0].VolumeMounts = all
		up := func(name string) *corev1.Probe {
			return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"test", "-e", "/v/" + name + "-is-up"}}}, PeriodSeconds: 1, TimeoutSeconds: 60, FailureThreshold: 600}
		}
		one, two := sidecar("one", "sleep 0.5; touch /v/one-is-up"), sidecar("two", "touch /v/two-is-up")
		one.StartupProbe, two.StartupProbe, s.Containers[0].StartupProbe = up("one"), up("two"), up("main") // what is up has its trap
		init := corev1.Container{Name: "init", Image: "host", VolumeMounts: all, Command: []string{"sh", "-c", "test -e /v/one-is-up && echo init >> /v/log"}}
		s.InitContainers = []corev1.Container{one, init, two}
	})
	c.createPod(t, pod)
	c.awaitPod(t, "ordered", "is ready", isReady)
	require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "ordered", metav1.DeleteOptions{}))
	c.awaitGone(t, "ordered")
	p := c.runPod(t, podOf("reads-order", "cat /v/log", mounted(claim)))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase)
	require.Equal(t, "start one\ninit\nstart two\nstart main\nend main\nend two\nend one\n", c.log(t, "reads-order", "main"))

	t.Run("a sidecar is restarted, and does not keep its pod alive", func(t *testing.T) {
		t.Parallel()
		p := c.runPod(t, podOf("beside", "until test -e /v/second; do sleep 0.02; done", mounted(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}), func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{
				Name: "side", Image: "host", VolumeMounts: all, RestartPolicy: ptr(corev1.ContainerRestartPolicyAlways),
				Command: []string{"sh", "-c", "test -e /v/first || { touch /v/first; sleep 0.2; exit 3; }; trap 'exit 7' TERM; touch /v/second; while :; do sleep 0.02; done"},
			}}
		}))
		require.Equal(t, corev1.PodSucceeded, p.Status.Phase, "how a sidecar ends does not matter")
		side := p.Status.InitContainerStatuses[0]
		require.EqualValues(t, 1, side.RestartCount)
		require.EqualValues(t, 3, side.LastTerminationState.Terminated.ExitCode)
		require.EqualValues(t, 7, side.State.Terminated.ExitCode)
	})
}

func TestHooks(t *testing.T) {
	t.Parallel()
	c := shared(t)
	run := func(script string) *corev1.LifecycleHandler {
		return &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", script}}}
	}
	const waits = "trap 'echo told >> /v/log; exit 0' TERM; echo up; while :; do sleep 0.02; done"
	for name, hook := range map[string]struct {
		lifecycle corev1.Lifecycle
		want      string
	}{
		"exec":  {corev1.Lifecycle{PostStart: run("echo started >> /v/log"), PreStop: run("sleep 0.3; echo stopping >> /v/log")}, "started\nstopping\ntold\n"},
		"sleep": {corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 1}}}, "told\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			claim := c.claim(t, "hook-"+name)
			c.createPod(t, podOf("hook-"+name, waits, mounted(claim), func(s *corev1.PodSpec) { s.Containers[0].Lifecycle = &hook.lifecycle }))
			c.awaitPod(t, "hook-"+name, "is ready", isReady)
			c.awaitLog(t, "hook-"+name, "up")
			require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "hook-"+name, metav1.DeleteOptions{}))
			c.awaitGone(t, "hook-"+name)
			p := c.runPod(t, podOf("reads-"+name, "cat /v/log", mounted(claim)))
			require.Equal(t, corev1.PodSucceeded, p.Status.Phase)
			require.Equal(t, hook.want, c.log(t, "reads-"+name, "main"))
			c.awaitEvent(t, "hook-"+name, "Killing", "Stopping container main")
		})
	}
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		c.createPod(t, podOf("hook-http", "exec "+c.podserver(t), func(s *corev1.PodSpec) {
			// The server needs a moment; a container beside it, which is started by its own hook's success, need not.
			s.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/bye", Port: intstr.FromInt32(8080)}}}
		}))
		c.awaitLog(t, "hook-http", "listening")
		stream, err := c.kube.CoreV1().Pods(c.namespace).GetLogs("hook-http", &corev1.PodLogOptions{Follow: true}).Stream(t.Context())
		require.NoError(t, err)
		defer stream.Close()
		require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "hook-http", metav1.DeleteOptions{GracePeriodSeconds: ptr(int64(60))}))
		var b strings.Builder
		buf := make([]byte, 4096)
		for !strings.Contains(b.String(), "GET /bye") {
			n, err := stream.Read(buf)
			b.Write(buf[:n])
			require.NoError(t, err, b.String())
		}
		require.Contains(t, b.String(), "agent=kube-lifecycle/1.34")
	})
	t.Run("a failing postStart ends the container", func(t *testing.T) {
		t.Parallel()
		p := c.runPod(t, podOf("hook-fails", "trap 'exit 5' TERM; while :; do sleep 0.02; done", func(s *corev1.PodSpec) {
			s.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: run("echo no good; exit 2")}
		}))
		require.Equal(t, corev1.PodFailed, p.Status.Phase)
		c.awaitEvent(t, "hook-fails", "FailedPostStartHook", "PostStartHook failed")
	})
	t.Run("a preStop that takes too long is given up", func(t *testing.T) {
		t.Parallel()
		c.createPod(t, podOf("hook-slow", "echo up; sleep 1000", func(s *corev1.PodSpec) { s.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: run("sleep 1000")} }))
		c.awaitLog(t, "hook-slow", "up")
		require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "hook-slow", metav1.DeleteOptions{GracePeriodSeconds: ptr(int64(1))}))
		c.awaitGone(t, "hook-slow")
		c.awaitEvent(t, "hook-slow", "FailedPreStopHook", "PreStopHook failed")
	})
}
