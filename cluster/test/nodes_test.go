package test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const gpu = corev1.ResourceName("nvidia.com/gpu")

// Three nodes with two pretended GPUs each, on one machine.
func TestNodes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := up(t, dir, "--nodes", "3", "--gpus", "2")
	t.Run("share the machine", c.testShares)
	t.Run("serve their pods' logs and commands", c.testEachNode)
	t.Run("spread", c.testSpread)
	t.Run("attract and repel", c.testAffinity)
	t.Run("are tainted", c.testTaints)
	t.Run("are drained", c.testDrain)
	t.Run("hand out GPUs", c.testGPUs)
	t.Run("remember GPUs when the kubelet dies", c.testGPUsKept)
	t.Run("make room for what is more important", c.testPreemption)
	c.stop(t)

	c = up(t, dir)
	eventually(t, "there is one node again", func(ctx context.Context) bool { return slices.Equal(c.nodeNames(ctx, t), []string{"local"}) })
}

func (c *cluster) nodeNames(ctx context.Context, t *testing.T) (names []string) {
	t.Helper()
	nodes, err := c.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	for _, n := range nodes.Items {
		names = append(names, n.Name)
	}
	return names
}

func (c *cluster) testShares(t *testing.T) {
	require.Equal(t, []string{"local-1", "local-2", "local-3"}, c.nodeNames(t.Context(), t))
	nodes, err := c.kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, n := range nodes.Items {
		require.Equal(t, n.Name, n.Labels[corev1.LabelHostname])
		require.Regexp(t, `^\d+\.\d+`, n.Status.NodeInfo.KernelVersion)
		require.Equal(t, nodes.Items[0].Status.Allocatable, n.Status.Allocatable)
		require.Equal(t, int64(2), n.Status.Allocatable.Name(gpu, resource.DecimalSI).Value())
		lease, err := c.kube.CoordinationV1().Leases("kube-node-lease").Get(t.Context(), n.Name, metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, n.Name, *lease.Spec.HolderIdentity)
	}
}

func onNode(name string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{corev1.LabelHostname: name} }
}

func (c *cluster) testEachNode(t *testing.T) {
	for _, node := range []string{"local-1", "local-2", "local-3"} {
		pod := podOf("on-"+node, "echo here is $NODE; sleep 1000", onNode(node))
		pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "NODE", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"},
		}}}
		c.createPod(t, pod)
		c.awaitLog(t, pod.Name, "here is "+node)
		code, out, _ := c.exec(t, pod.Name, nil, "sh", "-c", "echo $NODE")
		require.Zero(t, code)
		require.Equal(t, node+"\n", out)
		c.deletePod(t, pod.Name)
	}
}

func (c *cluster) deletePod(t *testing.T, name string) {
	t.Helper()
	err := c.kube.CoreV1().Pods(c.namespace).Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: ptr(int64(0))})
	require.NoError(t, err)
}

// started waits until the pod runs and returns its node.
func (c *cluster) started(t *testing.T, name string) string {
	t.Helper()
	return c.awaitPod(t, name, "runs", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }).Spec.NodeName
}

func (c *cluster) testSpread(t *testing.T) {
	var used []string
	for i := range 3 {
		pod := podOf(fmt.Sprintf("spread-%d", i), "sleep 1000", func(s *corev1.PodSpec) {
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "spread"}},
			}}
		})
		pod.Labels = map[string]string{"app": "spread"}
		c.createPod(t, pod)
		used = append(used, c.started(t, pod.Name))
	}
	slices.Sort(used)
	require.Equal(t, []string{"local-1", "local-2", "local-3"}, used)
	for i := range 3 {
		c.deletePod(t, fmt.Sprintf("spread-%d", i))
	}
}

func (c *cluster) testAffinity(t *testing.T) {
	term := []corev1.PodAffinityTerm{{
		TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "leader"}},
	}}
	leader := podOf("leader", "sleep 1000", onNode("local-2"))
	leader.Labels = map[string]string{"app": "leader"}
	c.createPod(t, leader)
	require.Equal(t, "local-2", c.started(t, "leader"))
	c.createPod(t, podOf("friend", "sleep 1000", func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}}
	}))
	require.Equal(t, "local-2", c.started(t, "friend"))
	c.createPod(t, podOf("loner", "sleep 1000", func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term}}
	}))
	require.NotEqual(t, "local-2", c.started(t, "loner"))
	for _, name := range []string{"leader", "friend", "loner"} {
		c.deletePod(t, name)
	}
}

func (c *cluster) patchNode(t *testing.T, node, patch string) {
	t.Helper()
	_, err := c.kube.CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(t, err)
}

// createRepelled creates a pod that a node which was just changed must refuse, for the reason why. The scheduler receives nodes and pods
// over two watches: a pod that it received first is placed on the node, and another one is created.
func (c *cluster) createRepelled(t *testing.T, name, why string, change func(*corev1.PodSpec)) string {
	t.Helper()
	for i := range 10 {
		pod := podOf(fmt.Sprint(name, "-", i), "true", change)
		c.createPod(t, pod)
		p := c.awaitPod(t, pod.Name, "is looked at", func(p *corev1.Pod) bool {
			return p.Spec.NodeName != "" || slices.ContainsFunc(p.Status.Conditions, func(cond corev1.PodCondition) bool { return cond.Type == corev1.PodScheduled })
		})
		if p.Spec.NodeName == "" {
			c.awaitUnschedulable(t, pod.Name, why)
			return pod.Name
		}
	}
	t.Fatalf("the node goes on taking pods like %s", name)
	return ""
}

func (c *cluster) testTaints(t *testing.T) {
	c.patchNode(t, "local-1", `{"spec":{"taints":[{"key":"dedicated","value":"team","effect":"NoSchedule"}]}}`)
	stranger := c.createRepelled(t, "stranger", "had untolerated taint", onNode("local-1"))
	c.createPod(t, podOf("tolerant", "true", onNode("local-1"), func(s *corev1.PodSpec) {
		s.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "team", Effect: corev1.TaintEffectNoSchedule}}
	}))
	require.Equal(t, corev1.PodSucceeded, c.awaitPod(t, "tolerant", "ends", ended).Status.Phase)
	c.patchNode(t, "local-1", `{"spec":{"taints":null}}`)
	require.Equal(t, corev1.PodSucceeded, c.awaitPod(t, stranger, "ends", ended).Status.Phase)
}

// What `kubectl drain` does: no more pods, and those that are there are asked to go, as far as their budget allows.
func (c *cluster) testDrain(t *testing.T) {
	pod := podOf("guarded", "sleep 1000", onNode("local-3"))
	pod.Labels = map[string]string{"app": "guarded"}
	c.createPod(t, pod)
	c.started(t, "guarded")
	budget, err := c.kube.PolicyV1().PodDisruptionBudgets(c.namespace).Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "guarded"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: pod.Labels}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, "the budget is counted", func(ctx context.Context) bool {
		budget, err = c.kube.PolicyV1().PodDisruptionBudgets(c.namespace).Get(ctx, "guarded", metav1.GetOptions{})
		require.NoError(t, err)
		return budget.Status.CurrentHealthy == 1
	})
	c.patchNode(t, "local-3", `{"spec":{"unschedulable":true}}`)
	evict := func() error {
		return c.kube.CoreV1().Pods(c.namespace).EvictV1(t.Context(), &policyv1.Eviction{
			ObjectMeta: metav1.ObjectMeta{Name: "guarded"}, DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: ptr(int64(0))},
		})
	}
	require.True(t, apierrors.IsTooManyRequests(evict()), "the budget keeps it")
	require.NoError(t, c.kube.PolicyV1().PodDisruptionBudgets(c.namespace).Delete(t.Context(), "guarded", metav1.DeleteOptions{}))
	eventually(t, "the pod goes", func(context.Context) bool {
		err := evict()
		return err == nil || apierrors.IsNotFound(err)
	})
	late := c.createRepelled(t, "too-late", "were unschedulable", onNode("local-3"))
	c.patchNode(t, "local-3", `{"spec":{"unschedulable":null}}`)
	require.Equal(t, corev1.PodSucceeded, c.awaitPod(t, late, "ends", ended).Status.Phase)
}

func wantsGPUs(n string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Containers[0].Resources.Limits = corev1.ResourceList{gpu: resource.MustParse(n)}
	}
}

func (c *cluster) testGPUs(t *testing.T) {
	show := `echo "cuda=$CUDA_VISIBLE_DEVICES nvidia=$NVIDIA_VISIBLE_DEVICES."; sleep 1000`
	var seen []string
	for _, name := range []string{"gpu-a", "gpu-b"} {
		c.createPod(t, podOf(name, show, onNode("local-1"), wantsGPUs("1")))
		c.awaitLog(t, name, "nvidia=")
		seen = append(seen, strings.TrimSpace(c.log(t, name, "main")))
	}
	slices.Sort(seen)
	require.Equal(t, []string{"cuda=0 nvidia=0.", "cuda=1 nvidia=1."}, seen, "each has one of its own")
	c.createPod(t, podOf("gpu-none", show, onNode("local-1")))
	c.awaitLog(t, "gpu-none", "cuda= nvidia=void.")

	c.createPod(t, podOf("gpu-late", show, onNode("local-1"), wantsGPUs("1")))
	c.awaitUnschedulable(t, "gpu-late", "Insufficient nvidia.com/gpu")
	free := strings.TrimSpace(c.log(t, "gpu-b", "main"))
	c.deletePod(t, "gpu-b")
	c.awaitLog(t, "gpu-late", "nvidia=")
	require.Equal(t, free, strings.TrimSpace(c.log(t, "gpu-late", "main")), "it gets the one that became free")

	// A pod that names its node has not been weighed by the scheduler, and is by the kubelet.
	direct := podOf("gpu-direct", show, wantsGPUs("1"))
	direct.Spec.NodeName = "local-1"
	c.createPod(t, direct)
	c.awaitPod(t, "gpu-direct", "waits for a GPU", func(p *corev1.Pod) bool {
		w := p.Status.ContainerStatuses
		return len(w) == 1 && w[0].State.Waiting != nil && w[0].State.Waiting.Reason == "OutOfnvidia.com/gpu"
	})
	c.deletePod(t, "gpu-a")
	c.awaitLog(t, "gpu-direct", "cuda=")
	never := podOf("gpu-never", show, wantsGPUs("3"))
	never.Spec.NodeName = "local-1"
	c.createPod(t, never)
	p := c.awaitPod(t, "gpu-never", "ends", ended)
	require.Equal(t, corev1.PodFailed, p.Status.Phase)
	require.Equal(t, "OutOfnvidia.com/gpu", p.Status.Reason)
	for _, name := range []string{"gpu-none", "gpu-late", "gpu-direct"} {
		c.deletePod(t, name)
	}
}

// A kubelet that takes over running pods knows which GPUs they have.
func (c *cluster) testGPUsKept(t *testing.T) {
	c.createPod(t, podOf("gpu-runs", "echo gpu $CUDA_VISIBLE_DEVICES.; sleep 1000", onNode("local-2"), wantsGPUs("1")))
	c.awaitLog(t, "gpu-runs", "gpu 0.")
	before := c.kubeletProcess(t)
	c.kill(t, before)
	c.createPod(t, podOf("gpu-next", "echo gpu $CUDA_VISIBLE_DEVICES.; sleep 1000", onNode("local-2"), wantsGPUs("1")))
	c.awaitLog(t, "gpu-next", "gpu 1.")
	p := c.awaitPod(t, "gpu-runs", "goes on", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	require.Zero(t, p.Status.ContainerStatuses[0].RestartCount)
	for _, name := range []string{"gpu-runs", "gpu-next"} {
		c.deletePod(t, name)
	}
}

// A pod of a higher priority class takes the place of a lower one.
func (c *cluster) testPreemption(t *testing.T) {
	class, err := c.kube.SchedulingV1().PriorityClasses().Create(t.Context(), &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000,
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	quick := func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = ptr(int64(0)) }
	c.createPod(t, podOf("whenever", "sleep 1000", onNode("local-3"), wantsGPUs("2"), quick))
	c.started(t, "whenever")
	c.createPod(t, podOf("urgent", "true", onNode("local-3"), wantsGPUs("1"), func(s *corev1.PodSpec) { s.PriorityClassName = class.Name }))
	require.Equal(t, corev1.PodSucceeded, c.awaitPod(t, "urgent", "ends", ended).Status.Phase)
	_, err = c.kube.CoreV1().Pods(c.namespace).Get(t.Context(), "whenever", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}
