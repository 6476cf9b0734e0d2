package admission

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/argosy-ml/argosy/cluster/runtime/machine"
)

const (
	// maxPods is how many pods the machine runs, on all its nodes together.
	maxPods = 1000
	// ownMemory is the memory that is kept for the cluster's own processes.
	ownMemory = 512 << 20

	GPU = corev1.ResourceName("nvidia.com/gpu")
)

// Node is one of the kubelet's nodes.
type Node struct {
	Name        string
	Capacity    corev1.ResourceList
	Allocatable corev1.ResourceList
	GPUs        []machine.GPU
}

// Nodes divides the machine among n nodes, which together promise no more than there is. Each gets that many pretended GPUs, or with gpus
// below 0 its part of the machine's.
func Nodes(m machine.Machine, n, gpus int) []Node {
	nodes := make([]Node, n)
	for i := range nodes {
		node := &nodes[i]
		node.Name = "local"
		if n > 1 {
			node.Name += "-" + strconv.Itoa(i+1)
		}
		if gpus >= 0 {
			node.GPUs = machine.Pretend(gpus)
		} else {
			node.GPUs = m.GPUs[i*len(m.GPUs)/n : (i+1)*len(m.GPUs)/n]
		}
		list := func(memory int64) corev1.ResourceList {
			return corev1.ResourceList{
				corev1.ResourceCPU:              *resource.NewMilliQuantity(m.MilliCPU/int64(n), resource.DecimalSI),
				corev1.ResourceMemory:           *resource.NewQuantity(memory/int64(n), resource.BinarySI),
				corev1.ResourceEphemeralStorage: *resource.NewQuantity(m.Disk/int64(n), resource.BinarySI),
				corev1.ResourcePods:             *resource.NewQuantity(int64(maxPods/n), resource.DecimalSI),
				GPU:                             *resource.NewQuantity(int64(len(node.GPUs)), resource.DecimalSI),
			}
		}
		node.Capacity, node.Allocatable = list(m.Memory), list(max(m.Memory-ownMemory, m.Memory/2))
	}
	return nodes
}
