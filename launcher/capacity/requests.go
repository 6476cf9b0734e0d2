package capacity

import (
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// amounts are quantities of resources: CPUs in thousandths, all else in its own unit. None is zero.
type amounts map[corev1.ResourceName]float64

// names gives the resources, those that people think of first.
func (a amounts) names() []corev1.ResourceName {
	order := []corev1.ResourceName{corev1.ResourcePods, corev1.ResourceEphemeralStorage, corev1.ResourceMemory, corev1.ResourceCPU}
	return slices.SortedFunc(maps.Keys(a), func(x, y corev1.ResourceName) int {
		if c := slices.Index(order, y) - slices.Index(order, x); c != 0 {
			return c
		}
		return strings.Compare(string(x), string(y))
	})
}

func amountOf(name corev1.ResourceName, q resource.Quantity) float64 {
	if name == corev1.ResourceCPU {
		return float64(q.MilliValue())
	}
	return float64(q.Value())
}

// offers is what a node has for pods. Devices whose driver is just starting, or that are unhealthy, are not allocatable, but
// come back.
func offers(node *corev1.Node, name corev1.ResourceName) float64 {
	q, known := node.Status.Allocatable[name]
	if name == corev1.ResourcePods && !known {
		return math.Inf(1)
	}
	amount := amountOf(name, q)
	if strings.Contains(string(name), "/") {
		amount = max(amount, amountOf(name, node.Status.Capacity[name]))
	}
	return amount
}

// requests is what the scheduler reserves for a pod: for its containers and those init containers that go on beside them, or for
// the largest of the other init containers, and the overhead of its runtime class.
// https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers
func requests(pod *corev1.PodSpec) amounts {
	all, beside, largest := amounts{}, amounts{}, amounts{}
	for i := range pod.Containers {
		all.add(asked(pod.Containers[i].Resources))
	}
	for i := range pod.InitContainers {
		c := &pod.InitContainers[i]
		own := asked(c.Resources)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			all.add(own)
			beside.add(own)
			continue
		}
		own.add(beside)
		largest.raise(own)
	}
	all.raise(largest)
	if pod.Resources != nil {
		maps.Copy(all, asked(*pod.Resources))
	}
	for name, q := range pod.Overhead {
		all[name] += amountOf(name, q)
	}
	all[corev1.ResourcePods] = 1
	maps.DeleteFunc(all, func(_ corev1.ResourceName, q float64) bool { return q <= 0 })
	return all
}

// asked is what a container requests: its limit, where it sets nothing else.
func asked(r corev1.ResourceRequirements) amounts {
	a := amounts{}
	for _, list := range []corev1.ResourceList{r.Limits, r.Requests} {
		for name, q := range list {
			a[name] = amountOf(name, q)
		}
	}
	return a
}

func (a amounts) add(more amounts) {
	for name, q := range more {
		a[name] += q
	}
}

func (a amounts) raise(to amounts) {
	for name, q := range to {
		a[name] = max(a[name], q)
	}
}
