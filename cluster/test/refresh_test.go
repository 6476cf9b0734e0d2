package test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// What volumes are made from may change while a pod runs, and come after it.
func TestVolumesFollowTheirSources(t *testing.T) {
	t.Parallel()
	c := shared(t)
	core := c.kube.CoreV1()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm"}, Data: map[string]string{"a": "old", "b": "old"}}
	_, err := core.ConfigMaps(c.namespace).Create(t.Context(), cm, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = core.Secrets(c.namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"k": "old"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	named := corev1.LocalObjectReference{Name: "cm"}
	pod := podOf("follows", "echo up; sleep 1000", func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{
			{Name: "cm", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named}}},
			{Name: "s", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}},
			{Name: "p", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "late"}, Optional: ptr(true)}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}}}}},
			}}}},
		}
		for _, v := range s.Volumes {
			s.Containers[0].VolumeMounts = append(s.Containers[0].VolumeMounts, corev1.VolumeMount{Name: v.Name, MountPath: "/" + v.Name})
		}
		s.Containers[0].VolumeMounts = append(s.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "cm", MountPath: "/sub", SubPath: "a"})
	})
	pod.Labels = map[string]string{"stage": "old"}
	c.createPod(t, pod)
	c.awaitLog(t, "follows", "up")
	look := func() string {
		_, out, _ := c.exec(t, "follows", nil, "sh", "-c", "(cd /cm/..data && cat a b) 2>/dev/null; echo; cat /s/k /p/labels /p/late 2>/dev/null; readlink /cm/..data; cat /sub")
		return out
	}
	first := look()
	require.True(t, strings.HasPrefix(first, "oldold\noldstage=\"old\""), first)

	cm.Data = map[string]string{"a": "new", "b": "new"}
	_, err = core.ConfigMaps(c.namespace).Update(t.Context(), cm, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = core.ConfigMaps(c.namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late"}, Data: map[string]string{"late": "+"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = core.Secrets(c.namespace).Patch(t.Context(), "s", types.MergePatchType, []byte(`{"stringData":{"k":"new"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	_, err = core.Pods(c.namespace).Patch(t.Context(), "follows", types.MergePatchType, []byte(`{"metadata":{"labels":{"stage":"new"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	eventually(t, "the pod sees what is new", func(context.Context) bool {
		now := look()
		files, _, _ := strings.Cut(now, "\n") // of one look at the volume; the older ones may be gone by then
		require.Contains(t, []string{"oldold", "old", "", "newnew"}, files, "both files of a volume change at the same moment")
		return strings.HasPrefix(now, "newnew\nnewstage=\"new\"+..") && strings.HasSuffix(now, "\nold")
	})
	require.NoError(t, core.ConfigMaps(c.namespace).Delete(t.Context(), "cm", metav1.DeleteOptions{}))
	require.NoError(t, core.Pods(c.namespace).Delete(t.Context(), "follows", metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
}

func TestPodsWaitForWhatTheyNeed(t *testing.T) {
	t.Parallel()
	c := shared(t)
	_, err := c.kube.CoreV1().ConfigMaps(c.namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cm"}, Data: map[string]string{"a": "A"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	cm := func(name string, keys ...corev1.KeyToPath) corev1.VolumeSource {
		return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Items: keys}}
	}
	env := func(from corev1.EnvVarSource) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) { s.Containers[0].Env = []corev1.EnvVar{{Name: "X", ValueFrom: &from}} }
	}
	for name, w := range map[string]struct {
		change        func(*corev1.PodSpec)
		reason, event string
	}{
		"volume":     {mounted(cm("none")), "FailedMount", `MountVolume.SetUp failed for volume "v" : configmap "none" not found`},
		"volume-key": {mounted(cm("cm", corev1.KeyToPath{Key: "z", Path: "z"})), "FailedMount", `MountVolume.SetUp failed for volume "v" : configmap references non-existent config key: z`},
		"secret":     {mounted(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "none"}}), "FailedMount", `secret "none" not found`},
		"host-path":  {mounted(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: hostFolder, Type: ptr(corev1.HostPathFile)}}), "FailedMount", "hostPath type check failed: " + hostFolder + " is not a file"},
		"env-object": {env(corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "none"}, Key: "k"}}), "Failed", `Error: secret "none" not found`},
		"env-key":    {env(corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}, Key: "k"}}), "Failed", fmt.Sprintf("Error: couldn't find key k in ConfigMap %s/cm", c.namespace)},
		"invalid-cap": {func(s *corev1.PodSpec) {
			s.Containers[0].SecurityContext = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NO_SUCH"}}}
		}, "Failed", `invalid capability: "CAP_NO_SUCH"`},
		"no-program": {func(s *corev1.PodSpec) { s.Containers[0].Command = []string{"no-such-program"} }, "Failed", "executable file not found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.createPod(t, podOf(name, "true", w.change))
			c.awaitEvent(t, name, w.reason, w.event)
		})
	}
	t.Run("and run when it comes", func(t *testing.T) {
		t.Parallel()
		c.createPod(t, podOf("later", "cat /v/x", mounted(cm("later"))))
		c.awaitEvent(t, "later", "FailedMount", `configmap "later" not found`)
		p := c.awaitPod(t, "later", "waits", func(p *corev1.Pod) bool { return len(p.Status.ContainerStatuses) > 0 })
		require.Equal(t, corev1.PodPending, p.Status.Phase)
		require.Equal(t, "ContainerCreating", p.Status.ContainerStatuses[0].State.Waiting.Reason)
		_, err := c.kube.CoreV1().ConfigMaps(c.namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "later"}, Data: map[string]string{"x": "here"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		p = c.awaitPod(t, "later", "ends", ended)
		require.Equal(t, corev1.PodSucceeded, p.Status.Phase)
		require.Equal(t, "here", c.log(t, "later", "main"))
	})
}

// What is said of a pod is what Kubernetes' kubelet would say.
func TestStatusOfPods(t *testing.T) {
	t.Parallel()
	c := shared(t)
	p := podOf("told", "echo up; sleep 1000", func(s *corev1.PodSpec) {
		s.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}
		s.InitContainers = []corev1.Container{{Name: "init", Image: "host", Command: []string{"sh", "-c", "until test -e /v/go; do sleep 0.05; done"}}}
		mounted(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})(s)
		s.InitContainers[0].VolumeMounts = s.Containers[0].VolumeMounts
	})
	c.createPod(t, p)
	p = c.awaitPod(t, "told", "initializes", func(p *corev1.Pod) bool {
		return len(p.Status.InitContainerStatuses) > 0 && p.Status.InitContainerStatuses[0].State.Running != nil
	})
	require.Equal(t, corev1.PodPending, p.Status.Phase)
	require.Equal(t, corev1.ConditionTrue, condition(p, corev1.PodScheduled).Status)
	require.Equal(t, corev1.ConditionTrue, condition(p, corev1.PodReadyToStartContainers).Status)
	require.Equal(t, "containers with incomplete status: [init]", condition(p, corev1.PodInitialized).Message)
	require.Equal(t, "PodInitializing", p.Status.ContainerStatuses[0].State.Waiting.Reason)
	require.Equal(t, corev1.PodQOSBurstable, p.Status.QOSClass)
	require.NotNil(t, p.Status.StartTime)
	require.Equal(t, []corev1.PodIP{{IP: p.Status.PodIP}}, p.Status.PodIPs)
	require.Equal(t, []corev1.HostIP{{IP: p.Status.HostIP}}, p.Status.HostIPs)
	c.execIn(t, "told", "init", nil, "touch", "/v/go")
	p = c.awaitPod(t, "told", "is ready", isReady)
	require.Equal(t, corev1.PodRunning, p.Status.Phase)
	for _, kind := range []corev1.PodConditionType{corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		require.Equal(t, corev1.ConditionTrue, condition(p, kind).Status, kind)
		require.Empty(t, condition(p, kind).Reason+condition(p, kind).Message, "what was wrong is forgotten")
	}
	init, main := p.Status.InitContainerStatuses[0], p.Status.ContainerStatuses[0]
	require.True(t, init.Ready)
	require.Equal(t, "Completed", init.State.Terminated.Reason)
	require.True(t, *main.Started)
	require.NotEmpty(t, main.ContainerID)
	require.NotEmpty(t, main.ImageID)
	require.Equal(t, "10m", main.AllocatedResources.Cpu().String())
	require.Equal(t, "10m", main.Resources.Requests.Cpu().String())
	for reason, text := range map[string]string{"Scheduled": "Successfully assigned", "Created": "Created container: main", "Started": "Started container main"} {
		c.awaitEvent(t, "told", reason, text)
	}
	require.NoError(t, c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), "told", metav1.DeleteOptions{GracePeriodSeconds: ptr(int64(1))}))
	c.awaitGone(t, "told")
	c.awaitEvent(t, "told", "Killing", "Stopping container main")
}
