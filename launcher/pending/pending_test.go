package pending_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/launcher/pending"
)

// stepPod is a pod of Argo's that asks for 4 CPUs and 8Gi.
func stepPod(change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "kubeflow"}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	p.Spec.Containers = []corev1.Container{{Name: "wait"}, {Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), "nvidia.com/gpu": resource.MustParse("1"),
	}}}}
	for _, c := range change {
		c(p)
	}
	return p
}

func unscheduled(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message}}
	}
}

func gates(names ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		for _, name := range names {
			p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: name})
		}
	}
}

func waits(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

// inMain has the main container wait beside an executor's that runs.
func inMain(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: "wait", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
			{Name: "main", Image: "nope:1", State: waits(reason, message)},
		}
	}
}

func inInit(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", Image: "nope:1", State: waits(reason, message)}}
		inMain("PodInitializing", "")(p)
	}
}

// The messages are those of kube-scheduler 1.3x, Volcano 1.12, kubelets with containerd and CRI-O, and of the embedded cluster.
func TestWhy(t *testing.T) {
	t.Parallel()
	translated, err := os.ReadFile("../../frontend/src/waiting/sentences.txt")
	require.NoError(t, err)
	const unschedulable = corev1.PodReasonUnschedulable
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"cpu": {
			stepPod(unscheduled(unschedulable, "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.")),
			"no node has 4 CPUs free (1 node: too little cpu)",
		},
		"several nodes": {
			stepPod(unscheduled(unschedulable, "0/5 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient cpu, 4 Insufficient memory. no new claims to deallocate, preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.")),
			"no node has 4 CPUs and 8Gi of memory free (1 node: has the taint node-role.kubernetes.io/control-plane that the step does not tolerate, 2 nodes: too little cpu, 4 nodes: too little memory)",
		},
		"gpu": {
			stepPod(unscheduled(unschedulable, "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.")),
			"no node has 1 nvidia.com/gpu free (3 nodes: too little nvidia.com/gpu)",
		},
		"selector": {
			stepPod(unscheduled(unschedulable, "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")),
			"no node takes it (2 nodes: does not match the step's node selector)",
		},
		"claim": {
			stepPod(unscheduled(unschedulable, `0/1 nodes are available: persistentvolumeclaim "data" not found. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.`)),
			`persistentvolumeclaim "data" not found: create it in namespace kubeflow, and the step goes on`,
		},
		"unbound claim": {
			stepPod(unscheduled(unschedulable, "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.")),
			"pod has unbound immediate PersistentVolumeClaims",
		},
		"no nodes": {stepPod(unscheduled(unschedulable, "0/0 nodes are available: .")), "the cluster has no node"},
		"preempting": {
			stepPod(unscheduled(unschedulable, "0/1 nodes are available: 1 Insufficient cpu."), func(p *corev1.Pod) { p.Status.NominatedNodeName = "big" }),
			"pods of lower priority make room for it on node big",
		},
		"gang":       {stepPod(unscheduled(unschedulable, "3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable; Pending: 3 Unschedulable")), "needs room for 3 pods at once"},
		"one by one": {stepPod(unscheduled(unschedulable, "pod group is not ready, 1 minAvailable, 2 Pending; Pending: 2 Unschedulable")), "no node takes it yet"},
		"no answer":  {stepPod(unscheduled(unschedulable, "")), "no node has been found for it"},
		"own gate":   {stepPod(unscheduled(corev1.PodReasonSchedulingGated, "Scheduling is blocked due to non-empty scheduling gates"), gates("argosy.dev/cache")), ""},
		"gate": {
			stepPod(unscheduled(corev1.PodReasonSchedulingGated, "Scheduling is blocked due to non-empty scheduling gates"), gates("argosy.dev/cache", "kueue.x-k8s.io/admission")),
			"held back until the scheduling gate kueue.x-k8s.io/admission is lifted",
		},
		"secret":     {stepPod(inMain("CreateContainerConfigError", `secret "newcomer-secret" not found`)), `secret "newcomer-secret" not found: create it in namespace kubeflow, and the step goes on`},
		"config map": {stepPod(inMain("CreateContainerConfigError", `configmap "settings" not found`)), `configmap "settings" not found: create it in namespace kubeflow, and the step goes on`},
		"key":        {stepPod(inMain("CreateContainerConfigError", "couldn't find key token in Secret kubeflow/s")), "couldn't find key token in Secret kubeflow/s: create it in namespace kubeflow, and the step goes on"},
		"root":       {stepPod(inMain("CreateContainerConfigError", "container has runAsNonRoot and image will run as root")), "container has runAsNonRoot and image will run as root"},
		"image, containerd": {
			stepPod(inMain("ErrImagePull", `rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/library/nope:1": failed to resolve reference "docker.io/library/nope:1": docker.io/library/nope:1: not found`)),
			"image nope:1 cannot be pulled: docker.io/library/nope:1: not found; it is tried again",
		},
		"image, backing off": {
			stepPod(inMain("ImagePullBackOff", `Back-off pulling image "nope:1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/library/nope:1": failed to resolve reference "docker.io/library/nope:1": docker.io/library/nope:1: not found`)),
			"image nope:1 cannot be pulled: docker.io/library/nope:1: not found; it is tried again",
		},
		"image, old kubelet": {stepPod(inInit("ImagePullBackOff", `Back-off pulling image "nope:1"`)), "image nope:1 cannot be pulled yet: check its name and the registry; it is tried again"},
		"image name":         {stepPod(inMain("InvalidImageName", "couldn't parse image name")), `"nope:1" is not the name of an image: correct it in the step`},
		"image never":        {stepPod(inMain("ErrImageNeverPull", "")), "image nope:1 is not on the node and its pull policy is Never: load it there, or change the policy"},
		"volume":             {stepPod(inInit("PodInitializing", `MountVolume.SetUp failed for volume "v" : secret "key" not found`)), `secret "key" not found: create it in namespace kubeflow, and the step goes on`},
		"mount":              {stepPod(inMain("ContainerCreating", `MountVolume.SetUp failed for volume "nfs" : mount failed: exit status 32`)), "volume nfs cannot be mounted: mount failed: exit status 32"},
		"init crashes":       {stepPod(inInit("CrashLoopBackOff", "back-off 10s restarting failed container")), "container init keeps failing and is started again after a pause: see its log"},
		"node is full":       {stepPod(inMain("OutOfcpu", "the node has too little cpu left")), "the node has too little cpu left"},
		"on its way":         {stepPod(inInit("PodInitializing", "")), ""},
		"runs":               {stepPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }), ""},
		"restarts":           {stepPod(inMain("CrashLoopBackOff", "back-off"), func(p *corev1.Pod) { p.Status.ContainerStatuses[1].RestartCount = 2 }), ""},
		"over":               {stepPod(inMain("ErrImagePull", "x"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), ""},
		"goes":               {stepPod(inMain("ErrImagePull", "x"), func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, pending.Why(tc.pod, "main"))
			require.Contains(t, string(translated), tc.want+"\n", "the UI has each sentence in Chinese: add it to the file, and its phrases to chinese.ts beside it")
		})
	}
}

// What the program in the pod says goes before what its pod says, as long as there is a pod.
func TestOf(t *testing.T) {
	t.Parallel()
	says := func(text string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Annotations = map[string]string{pending.Annotation: text} }
	}
	why, stated := pending.Of(stepPod(inMain("ErrImagePull", "denied"), says(" needs\n2 workers ")), "main")
	require.True(t, stated)
	require.Equal(t, "needs 2 workers", why)
	why, stated = pending.Of(stepPod(inMain("ErrImagePull", "denied"), says("")), "main")
	require.True(t, stated)
	require.Empty(t, why, "its job runs")
	why, stated = pending.Of(stepPod(inMain("ErrImagePull", "denied")), "main")
	require.False(t, stated)
	require.Equal(t, "image nope:1 cannot be pulled: denied; it is tried again", why)
	why, stated = pending.Of(stepPod(says("x"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), "main")
	require.False(t, stated)
	require.Empty(t, why)
	why, _ = pending.Of(stepPod(says(strings.Repeat("ü", 5000))), "main")
	require.Len(t, []rune(why), 401)
}

func TestAmount(t *testing.T) {
	t.Parallel()
	for want, amount := range map[string][2]string{
		"1 CPU": {"cpu", "1000m"}, "0.7 CPUs": {"cpu", "700m"}, "10000 CPUs": {"cpu", "10k"}, "8Gi of memory": {"memory", "8Gi"},
		"2 nvidia.com/gpu": {"nvidia.com/gpu", "2"}, "enough cpu": {"cpu", "0"},
	} {
		require.Equal(t, want, pending.Amount(amount[0], resource.MustParse(amount[1])))
	}
}

func TestLacking(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"cpu", "memory"}, pending.Lacking("0/3 nodes are unavailable: 2 Insufficient cpu, 1 Insufficient memory, 1 Insufficient cpu."))
	require.Equal(t, []string{"cpu"}, pending.Lacking("resource in cluster is overused: overused cpu"))
	require.Equal(t, []string{"nvidia.com/gpu"}, pending.Lacking("3 Insufficient nvidia.com/gpu."))
	require.Empty(t, pending.Lacking("2 node(s) didn't match Pod's node affinity/selector"))
}
