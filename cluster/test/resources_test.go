package test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func limited(list corev1.ResourceList) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) { s.Containers[0].Resources = corev1.ResourceRequirements{Limits: list} }
}

// The node offers what the machine has; a pod that asks for more waits and says so, also as a step of a workflow.
func TestTooBigForTheMachine(t *testing.T) {
	t.Parallel()
	c := shared(t)
	node, err := c.kube.CoreV1().Nodes().Get(t.Context(), "local", metav1.GetOptions{})
	require.NoError(t, err)
	require.Less(t, node.Status.Allocatable.Memory().Value(), node.Status.Capacity.Memory().Value())
	require.Positive(t, node.Status.Allocatable.Cpu().MilliValue())

	c.createPod(t, podOf("huge", "true", limited(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100000")})))
	c.awaitUnschedulable(t, "huge", "Insufficient cpu")

	c.create(t, workflows, `{"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "greedy-step"}, "spec": {
		"entrypoint": "main", "templates": [{"name": "main", "container": {"image": "host", "command": ["true"],
			"resources": {"requests": {"memory": "1000Ti"}}}}]}}`)
	c.await(t, workflows, "greedy-step", func(w map[string]any) bool {
		nodes, _, _ := unstructured.NestedMap(w, "status", "nodes")
		for _, n := range nodes {
			message, _, _ := unstructured.NestedString(n.(map[string]any), "message")
			return strings.Contains(message, "Insufficient memory")
		}
		return false
	})
}

// A container that uses more memory than its limit is killed, and told so.
func (c *cluster) testMemoryLimit(t *testing.T) {
	const greedy = `x=$(head -c 200000000 /dev/zero | tr '\0' a); echo ${#x}; sleep 1000`
	limit := func(memory string) func(*corev1.PodSpec) {
		return limited(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)})
	}
	p := c.runPod(t, podOf("greedy", greedy, limit("64Mi")))
	require.Equal(t, corev1.PodFailed, p.Status.Phase)
	end := p.Status.ContainerStatuses[0].State.Terminated
	require.Equal(t, "OOMKilled", end.Reason)
	require.Equal(t, int32(137), end.ExitCode)

	// Files in memory take of it too: each file system ends where it does, and all of them count together.
	for name, script := range map[string]string{
		"in-memory": `for d in /dev/shm /run /mem; do head -c 40000000 /dev/zero > $d/x; done; sleep 1000`,
		"one-only":  `head -c 200000000 /dev/zero > /dev/shm/x 2>/dev/null; head -c 200000000 /dev/zero > /mem/x 2>/dev/null; sleep 1000`,
	} {
		p = c.runPod(t, podOf(name, script, limit("64Mi"), mounted(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}),
			func(s *corev1.PodSpec) { s.Containers[0].VolumeMounts[0].MountPath = "/mem" }))
		require.Equal(t, "OOMKilled", p.Status.ContainerStatuses[0].State.Terminated.Reason, name)
	}

	// What a process began with as a copy of another's memory counts once. (The shell holds three copies while it reads.)
	const family = `x=$(head -c 30000000 /dev/zero | tr '\0' a); for i in 1 2 3 4 5 6 7; do (sleep 2; :) & done; wait`
	p = c.runPod(t, podOf("family", family, limit("128Mi")))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase, "%+v", p.Status.ContainerStatuses)
}

func (c *cluster) testCPULimit(t *testing.T) {
	node, err := c.kube.CoreV1().Nodes().Get(t.Context(), "local", metav1.GetOptions{})
	require.NoError(t, err)
	how := node.Annotations["argosy.dev/limits"]
	script, want := "nproc", "1\n"
	if !strings.HasPrefix(how, "no control groups") {
		script, want = "cat /sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)/cpu.max", "20000 100000\n"
	}
	p := c.runPod(t, podOf("limited", script, limited(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m")})))
	require.Equal(t, corev1.PodSucceeded, p.Status.Phase)
	require.Equal(t, want, c.log(t, "limited", "main"))
	_, out := exitCode(t, "status", "--home", string(c.home))
	require.Contains(t, out, how, "the status says how limits are enforced")
}

// Quotas and defaults of a namespace are applied when a pod is made.
func TestNamespaceRules(t *testing.T) {
	t.Parallel()
	c := shared(t)
	_, err := c.kube.CoreV1().LimitRanges(c.namespace).Create(t.Context(), &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "defaults"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, DefaultRequest: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("10Mi")},
		}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = c.kube.CoreV1().ResourceQuotas(c.namespace).Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "small"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"requests.memory": resource.MustParse("15Mi")}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, "the quota is counted", func(ctx context.Context) bool {
		q, err := c.kube.CoreV1().ResourceQuotas(c.namespace).Get(ctx, "small", metav1.GetOptions{})
		require.NoError(t, err)
		return len(q.Status.Hard) > 0
	})
	// The apiserver receives each rule over a watch: until then it admits pods without counting them.
	tried := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	eventually(t, "the quota is known", func(ctx context.Context) bool {
		large := podOf("large", "true")
		large.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("20Mi")}
		_, err := c.kube.CoreV1().Pods(c.namespace).Create(ctx, large, tried)
		return apierrors.IsForbidden(err)
	})
	eventually(t, "the defaults are known", func(ctx context.Context) bool {
		p, err := c.kube.CoreV1().Pods(c.namespace).Create(ctx, podOf("first", "true"), tried)
		return err == nil && p.Spec.Containers[0].Resources.Requests.Memory().String() == "10Mi"
	})
	_, err = c.kube.CoreV1().Pods(c.namespace).Create(t.Context(), podOf("first", "sleep 1000"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = c.kube.CoreV1().Pods(c.namespace).Create(t.Context(), podOf("second", "true"), metav1.CreateOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	require.ErrorContains(t, err, "exceeded quota: small")
}

// Deployments, StatefulSets with claims, and DaemonSets: what kubectl is used for every day.
func TestControllers(t *testing.T) {
	t.Parallel()
	c := shared(t)
	labels := map[string]string{"app": "daily"}
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: ptr(int64(0)),
			Containers:                    []corev1.Container{{Name: "main", Image: "host", Command: []string{"sleep", "1000"}}},
		},
	}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	_, err := c.kube.AppsV1().Deployments(c.namespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.DeploymentSpec{Replicas: ptr(int32(2)), Selector: selector, Template: template},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = c.kube.AppsV1().DaemonSets(c.namespace).Create(t.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "agent"}, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	_, err = c.kube.AppsV1().StatefulSets(c.namespace).Create(t.Context(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr(int32(2)), Selector: selector, Template: template,
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{*claimOf("data", corev1.ReadWriteOnce)},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, "all are there", func(ctx context.Context) bool {
		d, err1 := c.kube.AppsV1().Deployments(c.namespace).Get(ctx, "web", metav1.GetOptions{})
		a, err2 := c.kube.AppsV1().DaemonSets(c.namespace).Get(ctx, "agent", metav1.GetOptions{})
		s, err3 := c.kube.AppsV1().StatefulSets(c.namespace).Get(ctx, "db", metav1.GetOptions{})
		return err1 == nil && err2 == nil && err3 == nil &&
			d.Status.ReadyReplicas == 2 && a.Status.NumberReady == 1 && s.Status.ReadyReplicas == 2
	})
}
