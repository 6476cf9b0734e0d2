package capacity_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/argosy-ml/argosy/launcher/capacity"
)

// resources reads pairs of a resource and its quantity.
func resources(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

func node(name string, pairs ...string) corev1.Node {
	offered := resources(pairs...)
	return corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name}},
		Status:     corev1.NodeStatus{Allocatable: offered, Capacity: offered},
	}
}

// small is a laptop: two CPUs and no GPU.
func small() corev1.Node {
	return node("small", "cpu", "2", "memory", "8125000Ki", "ephemeral-storage", "50Gi", "pods", "110")
}

func tainted(n corev1.Node, taints ...corev1.Taint) corev1.Node {
	n.Spec.Taints = taints
	return n
}

// group is a number of pods with limits.
func group(name string, replicas int, pairs ...string) capacity.Group {
	return capacity.Group{Name: name, Replicas: replicas, Pod: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "main", Resources: corev1.ResourceRequirements{Limits: resources(pairs...)}},
	}}}
}

func with(g capacity.Group, change func(*corev1.PodSpec)) capacity.Group {
	change(&g.Pod)
	return g
}

func job(groups ...capacity.Group) capacity.Demand {
	return capacity.Demand{Groups: groups, Together: true}
}

func claim(class, size string) capacity.Demand {
	spec := corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{Requests: resources("storage", size)}}
	if class != "" {
		spec.StorageClassName = &class
	}
	return capacity.Demand{Claims: []capacity.Claim{{Name: "data", Spec: spec}}}
}

func TestShort(t *testing.T) {
	t.Parallel()
	translated, err := os.ReadFile("../../frontend/src/waiting/sentences.txt")
	require.NoError(t, err)
	local := []storagev1.StorageClass{{
		ObjectMeta: metav1.ObjectMeta{Name: "local", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}}, Provisioner: "argosy.dev/local",
	}}
	volume := func(class, size string) corev1.PersistentVolume {
		return corev1.PersistentVolume{
			Spec:   corev1.PersistentVolumeSpec{StorageClassName: class, Capacity: resources("storage", size)},
			Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable},
		}
	}
	named := func(d capacity.Demand, pairs ...string) capacity.Demand {
		d.Parameters = map[corev1.ResourceName]string{}
		for i := 0; i < len(pairs); i += 2 {
			d.Parameters[corev1.ResourceName(pairs[i])] = pairs[i+1]
		}
		return d
	}
	gpus := func(name string) corev1.Node {
		return node(name, "cpu", "32", "memory", "128Gi", "nvidia.com/gpu", "4")
	}
	train := corev1.Taint{Key: "dedicated", Value: "train", Effect: corev1.TaintEffectNoSchedule}
	affinity := func(operator corev1.NodeSelectorOperator, values ...string) func(*corev1.PodSpec) {
		return func(p *corev1.PodSpec) {
			p.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "kubernetes.io/hostname", Operator: operator, Values: values}}}},
			}}}
		}
	}
	for name, c := range map[string]struct {
		cluster capacity.Cluster
		demand  capacity.Demand
		says    string // empty: it may fit
	}{
		"the CPUs of a job": {
			capacity.Cluster{Nodes: []corev1.Node{small()}},
			named(job(group("worker", 2, "cpu", "2")), "cpu", "cpu_limit"),
			"asks 2 workers x 2 CPUs = 4; this cluster has 2: lower cpu_limit, or add nodes",
		},
		"the CPUs of a job that has a launcher": {
			capacity.Cluster{Nodes: []corev1.Node{small()}},
			job(group("launcher", 1), group("worker", 3, "cpu", "900m")),
			"asks 3 workers x 0.9 CPUs = 2.7; this cluster has 2: lower the CPU limit of the step, or add nodes",
		},
		"the memory of a job": {
			capacity.Cluster{Nodes: []corev1.Node{small()}},
			named(job(group("worker", 2, "cpu", "1", "memory", "5Gi")), "memory", "memory_limit"),
			"asks 2 workers x 5Gi of memory = 10Gi; this cluster has 7.7Gi: lower memory_limit, or add nodes",
		},
		"the GPUs of a job": {
			capacity.Cluster{Nodes: []corev1.Node{gpus("a"), gpus("b")}},
			named(job(group("worker", 3, "nvidia.com/gpu", "4")), "nvidia.com/gpu", "gpus"),
			"asks 3 workers x 4 GPUs = 12; this cluster has 8: lower gpus, or add nodes",
		},
		"two resources of a job": {
			capacity.Cluster{Nodes: []corev1.Node{small()}},
			job(group("worker", 2, "cpu", "2", "memory", "5Gi")),
			"asks 2 workers x 2 CPUs = 4 and 2 workers x 5Gi of memory = 10Gi; this cluster has 2 CPUs and 7.7Gi of memory: " +
				"lower the CPU limit of the step and the memory limit of the step, or add nodes",
		},
		"several roles": {
			capacity.Cluster{Nodes: []corev1.Node{small()}},
			job(group("worker", 1, "cpu", "1"), group("ps", 2, "cpu", "1")),
			"asks 1 worker x 1 CPU + 2 ps x 1 CPU = 3; this cluster has 2: lower the CPU limit of the step, or add nodes",
		},
		"a job whose pods do not go into the nodes' gaps": {
			capacity.Cluster{Nodes: []corev1.Node{node("a", "cpu", "5"), node("b", "cpu", "4")}},
			job(group("worker", 3, "cpu", "3")),
			"asks 3 workers with 3 CPUs each; the 2 nodes of this cluster hold 2 of them: lower the CPU limit of the step, or add nodes",
		},
		"more pods than nodes take": {
			capacity.Cluster{Nodes: []corev1.Node{small()}},
			job(group("worker", 111)),
			"asks 111 workers x 1 place on a node = 111; this cluster has 110: lower the number of pods of the step, or add nodes",
		},
		"the CPUs of a pod": {
			capacity.Cluster{Nodes: []corev1.Node{small(), node("b", "cpu", "4", "memory", "1Gi")}},
			job(group("", 1, "cpu", "6")),
			"asks 6 CPUs; the largest node of this cluster has 4: lower the CPU limit of the step, or add a larger node",
		},
		"the memory of a pod": {
			capacity.Cluster{Nodes: []corev1.Node{small()}},
			job(with(group("", 1), func(p *corev1.PodSpec) { p.Containers[0].Resources.Requests = resources("memory", "1000Ti") })),
			"asks 1000Ti of memory; this cluster has 7.7Gi: lower the memory request of the step, or add a larger node",
		},
		"a GPU of a pod": {
			capacity.Cluster{Nodes: []corev1.Node{small()}},
			named(job(group("worker", 1, "nvidia.com/gpu", "1", "cpu", "2")), "nvidia.com/gpu", "gpus"),
			"asks 1 GPU for each worker; this cluster has none: lower gpus, or add nodes that have GPUs",
		},
		"GPUs and CPUs of a pod": {
			capacity.Cluster{Nodes: []corev1.Node{small()}},
			named(job(group("worker", 1, "nvidia.com/gpu", "1", "cpu", "4")), "nvidia.com/gpu", "gpus", "cpu", "cpu_limit"),
			"asks 4 CPUs and 1 GPU for each worker; this cluster has 2 CPUs and no GPUs: lower cpu_limit and gpus, or add a larger node",
		},
		"another device": {
			capacity.Cluster{Nodes: []corev1.Node{small()}},
			job(group("", 1, "rdma/hca", "1")),
			"asks 1 rdma/hca; this cluster has none: lower the number of rdma/hca of the step, or add nodes that have rdma/hca",
		},
		"the disk of a pod": {
			capacity.Cluster{Nodes: []corev1.Node{small()}},
			job(group("", 1, "ephemeral-storage", "80Gi")),
			"asks 80Gi of disk; this cluster has 50Gi: lower the disk (ephemeral-storage) limit of the step, or add a larger node",
		},
		"huge pages": {
			capacity.Cluster{Nodes: []corev1.Node{small()}},
			job(group("", 1, "hugepages-2Mi", "64Mi")),
			"asks 64Mi of hugepages-2Mi; this cluster has none: lower the hugepages-2Mi limit of the step, or add nodes that have hugepages-2Mi",
		},
		"an init container, beside what goes on, and the overhead": {
			capacity.Cluster{Nodes: []corev1.Node{small()}},
			job(with(group("", 1, "cpu", "500m"), func(p *corev1.PodSpec) {
				side := corev1.Container{Resources: corev1.ResourceRequirements{Limits: resources("cpu", "500m")}, RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}
				p.InitContainers = []corev1.Container{side, {Resources: corev1.ResourceRequirements{Requests: resources("cpu", "1400m")}}}
				p.Overhead = resources("cpu", "200m")
			})),
			"asks 2.1 CPUs; this cluster has 2: lower the CPU limit of the step, or add a larger node",
		},
		"no node that has all": {
			capacity.Cluster{Nodes: []corev1.Node{node("a", "cpu", "8", "memory", "2Gi"), node("b", "cpu", "2", "memory", "16Gi")}},
			job(group("", 1, "cpu", "4", "memory", "8Gi")),
			"asks 4 CPUs and 8Gi of memory; none of the 2 nodes of this cluster has all of it: lower the CPU limit of the step and the memory limit of the step, or add a larger node",
		},
		"a node selector": {
			capacity.Cluster{Nodes: []corev1.Node{small()}},
			job(with(group("worker", 1), func(p *corev1.PodSpec) { p.NodeSelector = map[string]string{"gpu": "v100"} })),
			"asks for a node with the label gpu=v100; this cluster has none: change the node selector of the step, or label a node",
		},
		"a node affinity": {
			capacity.Cluster{Nodes: []corev1.Node{small()}},
			job(with(group("", 1), affinity(corev1.NodeSelectorOpNotIn, "small"))),
			"asks for a node with what its node affinity requires; this cluster has none: change the node selector of the step, or label a node",
		},
		"the nodes that a job may run on": {
			capacity.Cluster{Nodes: []corev1.Node{small(), node("b", "cpu", "64")}},
			job(with(group("worker", 2, "cpu", "2"), affinity(corev1.NodeSelectorOpIn, "small"))),
			"asks 2 workers x 2 CPUs = 4; the 1 node that they may run on has 2: lower the CPU limit of the step, or add nodes",
		},
		"a taint": {
			capacity.Cluster{Nodes: []corev1.Node{tainted(small(), train)}},
			job(group("", 1)),
			"asks for a node without the taint dedicated=train:NoSchedule; every node of this cluster has it: add a toleration to the step, or a node without a taint",
		},
		"the disk of the embedded cluster": {
			capacity.Cluster{Nodes: []corev1.Node{small()}, Classes: local},
			claim("", "100Ti"),
			"asks for a volume of 100Ti for data; the disk of this cluster has 50Gi: ask for a smaller volume",
		},
		"a storage class that is not there": {
			capacity.Cluster{Nodes: []corev1.Node{small()}, Classes: local},
			claim("fast", "1Gi"),
			"asks for a volume of the storage class fast for data; this cluster has local: name another class, or create it",
		},

		"fits to the last bit": {cluster: capacity.Cluster{Nodes: []corev1.Node{small()}}, demand: job(group("launcher", 1), group("worker", 2, "cpu", "1", "memory", "4062500Ki"))},
		"fits, one after the other": {
			cluster: capacity.Cluster{Nodes: []corev1.Node{small()}}, demand: capacity.Demand{Groups: []capacity.Group{group("worker", 2, "cpu", "2")}},
		},
		"fits on both nodes":  {cluster: capacity.Cluster{Nodes: []corev1.Node{node("a", "cpu", "5"), node("b", "cpu", "4")}}, demand: job(group("worker", 3, "cpu", "2"))},
		"a role without pods": {cluster: capacity.Cluster{Nodes: []corev1.Node{small()}}, demand: job(group("ps", 0, "cpu", "64"))},
		"requests below limits": {
			cluster: capacity.Cluster{Nodes: []corev1.Node{small()}},
			demand:  job(with(group("", 1, "cpu", "64"), func(p *corev1.PodSpec) { p.Containers[0].Resources.Requests = resources("cpu", "1") })),
		},
		"nodes that are cordoned or starting": {
			cluster: capacity.Cluster{Nodes: []corev1.Node{func() corev1.Node {
				n := tainted(small(), corev1.Taint{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoExecute})
				n.Spec.Unschedulable = true
				return n
			}()}}, demand: job(group("", 1, "cpu", "2")),
		},
		"a taint that is tolerated": {
			cluster: capacity.Cluster{Nodes: []corev1.Node{tainted(small(), train)}},
			demand: job(with(group("", 1), func(p *corev1.PodSpec) {
				p.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
			})),
		},
		"a GPU whose driver is starting": {
			cluster: capacity.Cluster{Nodes: []corev1.Node{func() corev1.Node {
				n := gpus("a")
				n.Status.Allocatable = resources("cpu", "32", "nvidia.com/gpu", "0")
				return n
			}()}}, demand: job(group("", 1, "nvidia.com/gpu", "1")),
		},
		"a cluster that has no nodes yet":  {demand: job(group("", 1, "cpu", "64"))},
		"a volume that the disk has":       {cluster: capacity.Cluster{Nodes: []corev1.Node{small()}, Classes: local}, demand: claim("local", "50Gi")},
		"a volume made by hand":            {cluster: capacity.Cluster{Nodes: []corev1.Node{small()}, Classes: local, Volumes: []corev1.PersistentVolume{volume("fast", "1Gi")}}, demand: claim("fast", "1Gi")},
		"a volume of another provisioner":  {cluster: capacity.Cluster{Nodes: []corev1.Node{small()}, Classes: []storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{Name: "cloud"}, Provisioner: "disk.csi"}}}, demand: claim("cloud", "100Ti")},
		"claims where classes are unknown": {cluster: capacity.Cluster{Nodes: []corev1.Node{small()}}, demand: claim("fast", "1Gi")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			short := c.cluster.Short(c.demand)
			if c.says == "" {
				require.Nil(t, short)
				return
			}
			require.EqualError(t, short, c.says)
			require.Contains(t, string(translated), c.says+"\n", "the UI has each sentence in Chinese: add it to the file, and its phrases to chinese.ts beside it")
		})
	}
}
