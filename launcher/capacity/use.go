package capacity

import corev1 "k8s.io/api/core/v1"

// Requests is what the scheduler reserves for a pod: CPUs in cores, all else in its own unit, and the pod itself as one of pods.
func Requests(pod *corev1.PodSpec) map[string]float64 { return inUnits(requests(pod)) }

// Amounts reads a list of resources in the units of Requests.
func Amounts(list corev1.ResourceList) map[string]float64 {
	all := amounts{}
	for name, q := range list {
		all[name] = amountOf(name, q)
	}
	return inUnits(all)
}

func inUnits(a amounts) map[string]float64 {
	all := map[string]float64{}
	for name, n := range a {
		if name == corev1.ResourceCPU {
			n /= 1000
		}
		all[string(name)] = n
	}
	return all
}
