package dsl

import (
	"slices"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// PodSpecPatch merges JSON into the spec of the step's pods, for fields without an option. The step's own container is called main.
func PodSpecPatch(patch Value[string]) StepOption {
	return podOption("PodSpecPatch", func(s *Step, pod *graph.Pod) { pod.Patch = s.text("PodSpecPatch", patch) })
}

// checkPatch refuses a patch that is not a JSON object. A patch that is only known at run time cannot be parsed. That matters only
// if the compiler must add to it: Argo takes resources that are values only from a patch.
func (s *Step) checkPatch() {
	if s.node.Pod == nil || len(s.node.Pod.Patch) == 0 {
		return
	}
	patch := s.node.Pod.Patch
	_, err := patch.Object()
	switch {
	case err == nil:
	case !slices.ContainsFunc(patch, func(p graph.Part) bool { return p.Ref == nil }):
		if s.node.lateResources() {
			s.Fault("PodSpecPatch is a value as a whole, and so cannot be merged with Requests or Limits that are values: write its braces and keys in the pipeline")
		}
	default:
		s.Fault("PodSpecPatch is not a JSON object: %v", err)
	}
}

// lateResources says whether a container's resources are known only when the pipeline runs.
func (n *node) lateResources() bool {
	late := func(c graph.Container) bool {
		return slices.ContainsFunc(slices.Concat(c.Requests, c.Limits), func(p graph.Pair) bool { return len(p.Value.Refs()) > 0 })
	}
	inSidecar := func(s graph.Sidecar) bool { return late(s.Container) }
	return late(*n.Container) || slices.ContainsFunc(n.Pod.Sidecars, inSidecar) || slices.ContainsFunc(n.Pod.InitContainers, inSidecar)
}
