package dsl

import (
	"maps"
	"slices"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Resources are amounts for a container in Kubernetes' notation: 500m, 2, 10Gi. Unset fields stay as they are.
type Resources struct {
	CPU, Memory, Storage Value[string] // Storage is of the node's disk
	Others               map[string]Value[string]
}

// Requests reserves resources for the step.
func Requests(r Resources) StepOption {
	return stepOption(func(s *Step) { s.box.Requests = s.resources("Requests", s.box.Requests, r) })
}

// Limits sets the most that the step may use.
func Limits(r Resources) StepOption {
	return stepOption(func(s *Step) { s.box.Limits = s.resources("Limits", s.box.Limits, r) })
}

// The resource names of vendors' device plugins for GPUs.
const (
	NVIDIA = "nvidia.com/gpu"
	AMD    = "amd.com/gpu"
	Intel  = "gpu.intel.com/i915"
)

// GPUs gives the step whole GPUs: NVIDIA's, or those of another vendor whose resource is named.
func GPUs(n Value[int], vendor ...string) StepOption {
	return stepOption(func(s *Step) {
		name := NVIDIA
		switch {
		case len(vendor) > 1:
			s.Fault("GPUs: a step has GPUs of one vendor at a time, and %d are named", len(vendor))
		case len(vendor) == 1:
			name = vendor[0]
		}
		checkKey("GPUs", name, s.Fault)
		checkQuantity("GPUs", n, s.Fault)
		s.box.Limits = put(s.box.Limits, name, s.text("GPUs", n))
	})
}

func (s *Step) resources(what string, pairs []graph.Pair, r Resources) []graph.Pair {
	all := maps.Clone(r.Others)
	if all == nil {
		all = map[string]Value[string]{}
	}
	for name, v := range map[string]Value[string]{"cpu": r.CPU, "memory": r.Memory, "ephemeral-storage": r.Storage} {
		if v.IsSet() {
			all[name] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		checkKey(what, name, s.Fault)
		checkQuantity(what+" "+name, all[name], s.Fault)
		pairs = put(pairs, name, s.text(what+" "+name, all[name]))
	}
	return pairs
}
