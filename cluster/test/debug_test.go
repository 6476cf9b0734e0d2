package test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// debug adds a container to a running pod, which mounts its volume v.
func (c *cluster) debug(t *testing.T, pod, name, script string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"spec": map[string]any{"ephemeralContainers": []corev1.EphemeralContainer{{
		TargetContainerName: "main",
		EphemeralContainerCommon: corev1.EphemeralContainerCommon{
			Name: name, Image: "host", Command: []string{"sh", "-c", script}, VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/v"}},
		},
	}}}})
	require.NoError(t, err)
	_, err = c.kube.CoreV1().Pods(c.namespace).Patch(t.Context(), pod, types.StrategicMergePatchType, body, metav1.PatchOptions{}, "ephemeralcontainers")
	require.NoError(t, err)
}

// stateOfAdded is the state of a container that was added to a pod.
func stateOfAdded(p *corev1.Pod, name string) corev1.ContainerState {
	for _, s := range p.Status.EphemeralContainerStatuses {
		if s.Name == name {
			return s.State
		}
	}
	return corev1.ContainerState{}
}

// A container that `kubectl debug` adds to a running pod shares its network, can be talked to, and ends with the pod.
func TestEphemeralContainers(t *testing.T) {
	t.Parallel()
	c := shared(t)
	c.createPod(t, podOf("debugged", "echo up; until test -e /v/over; do sleep 0.05; done", func(s *corev1.PodSpec) {
		s.TerminationGracePeriodSeconds = ptr(int64(1))
		mounted(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})(s)
	}))
	c.awaitLog(t, "debugged", "up")
	c.debug(t, "debugged", "looks", "hostname; hostname -i; exit 3")
	p := c.awaitPod(t, "debugged", "was looked at", func(p *corev1.Pod) bool { return stateOfAdded(p, "looks").Terminated != nil })
	require.EqualValues(t, 3, stateOfAdded(p, "looks").Terminated.ExitCode)
	require.Equal(t, "debugged\n"+p.Status.PodIP+"\n", c.log(t, "debugged", "looks"))
	require.Equal(t, corev1.PodRunning, p.Status.Phase)
	c.awaitEvent(t, "debugged", "TargetContainerIgnored", "does not see the processes of main")
	c.awaitEvent(t, "debugged", "Started", "Started container looks")

	c.debug(t, "debugged", "stays", "sleep 1000")
	c.awaitPod(t, "debugged", "is being debugged", func(p *corev1.Pod) bool { return stateOfAdded(p, "stays").Running != nil })
	code, out, _ := c.execIn(t, "debugged", "stays", nil, "echo", "done")
	require.Zero(t, code)
	require.Equal(t, "done\n", out)
	c.execIn(t, "debugged", "stays", nil, "touch", "/v/over") // the end of the pod may be its end too
	p = c.awaitPod(t, "debugged", "ends", ended)
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase, "who looks at a pod does not decide how it ends")
	require.NotNil(t, stateOfAdded(p, "stays").Terminated)
}

// The next kubelet knows of the containers that were added to a pod in the time of the last one.
func (c *cluster) testAddedGoesOn(t *testing.T) {
	wait, open := c.gate("added")
	c.createPod(t, podOf("added", "echo up; sleep 1000", func(s *corev1.PodSpec) {
		s.TerminationGracePeriodSeconds = ptr(int64(1))
		mounted(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})(s)
	}))
	c.awaitLog(t, "added", "up")
	c.debug(t, "added", "over", "exit 2")
	c.awaitPod(t, "added", "was looked at", func(p *corev1.Pod) bool { return stateOfAdded(p, "over").Terminated != nil })
	c.debug(t, "added", "stays", wait+"; exit 3")
	before := c.awaitPod(t, "added", "is looked at", func(p *corev1.Pod) bool { return stateOfAdded(p, "stays").Running != nil })
	c.kill(t, c.kubeletProcess(t))
	eventually(t, "commands can be run in it", func(context.Context) bool { return c.tryExec(t, "added", "true") == nil })
	open(t)
	p := c.awaitPod(t, "added", "was looked at", func(p *corev1.Pod) bool { return stateOfAdded(p, "stays").Terminated != nil })
	end := stateOfAdded(p, "stays").Terminated
	require.EqualValues(t, 3, end.ExitCode)
	require.Equal(t, stateOfAdded(before, "stays").Running.StartedAt, end.StartedAt, "it is the same life")
	require.Equal(t, stateOfAdded(before, "over"), stateOfAdded(p, "over"))
	require.Equal(t, corev1.PodRunning, p.Status.Phase)
	require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "added", metav1.DeleteOptions{}))
}

// What is changed in the description of a running pod is carried out, or the pod says that it is not.
func TestChangesOfRunningPods(t *testing.T) {
	t.Parallel()
	c := shared(t)
	c.createPod(t, podOf("changes", "echo up; sleep 1000", func(s *corev1.PodSpec) {
		s.TerminationGracePeriodSeconds = ptr(int64(1))
		s.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}
	}))
	c.awaitLog(t, "changes", "up")
	patch := func(body string, subresource ...string) {
		_, err := c.kube.CoreV1().Pods(c.namespace).Patch(t.Context(), "changes", types.StrategicMergePatchType, []byte(body), metav1.PatchOptions{}, subresource...)
		require.NoError(t, err)
	}
	resize := func(cpu string) {
		patch(`{"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "`+cpu+`"}}}]}}`, "resize")
	}
	resize("20m")
	p := c.awaitPod(t, "changes", "is not resized", func(p *corev1.Pod) bool {
		return condition(p, corev1.PodResizePending).Status == corev1.ConditionTrue
	})
	require.Equal(t, corev1.PodReasonInfeasible, condition(p, corev1.PodResizePending).Reason)
	require.Equal(t, "10m", p.Status.ContainerStatuses[0].Resources.Requests.Cpu().String())
	resize("10m")
	c.awaitPod(t, "changes", "is as it is wanted", func(p *corev1.Pod) bool {
		return condition(p, corev1.PodResizePending).Status == corev1.ConditionFalse
	})
	patch(`{"spec": {"containers": [{"name": "main", "image": "other/host"}]}}`)
	c.awaitEvent(t, "changes", "ImageChangeIgnored", "Container main goes on with image host")
	patch(`{"spec": {"activeDeadlineSeconds": 1}}`)
	p = c.awaitPod(t, "changes", "ends", ended)
	require.Equal(t, "DeadlineExceeded", p.Status.Reason)
}

// kubectl debug itself.
func TestKubectlDebug(t *testing.T) {
	t.Parallel()
	c := shared(t)
	kubectl := kubectlOf(t, c)
	debug := func(args ...string) {
		t.Helper()
		out, err := kubectl("", append([]string{"debug", "debug-me", "--image=host", "--container=looks"}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	c.createPod(t, podOf("debug-me", "echo up; sleep 1000"))
	c.awaitLog(t, "debug-me", "up")
	debug("--", "hostname")
	eventually(t, "the debugging container has spoken", func(ctx context.Context) bool {
		b, err := c.kube.CoreV1().Pods(c.namespace).GetLogs("debug-me", &corev1.PodLogOptions{Container: "looks"}).DoRaw(ctx)
		return err == nil && string(b) == "debug-me\n"
	})
	debug("--copy-to=copy", "--share-processes", "--", "sh", "-c", "until pgrep -f 'sleep 100[0]'; do sleep 0.05; done; echo seen; sleep 999")
	eventually(t, "the copy's processes are seen", func(ctx context.Context) bool {
		b, err := c.kube.CoreV1().Pods(c.namespace).GetLogs("copy", &corev1.PodLogOptions{Container: "looks"}).DoRaw(ctx)
		return err == nil && strings.Contains(string(b), "seen\n")
	})
}
