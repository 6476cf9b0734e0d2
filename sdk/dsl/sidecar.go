package dsl

import (
	"slices"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Sidecar runs a second container during the step and ends it with the step. It sees the step's volumes. Options are those of containers:
// Requests, Limits, GPUs, Variables, Mount and so on.
func Sidecar(name string, c Container, opts ...StepOption) StepOption {
	return podOption("Sidecar", func(s *Step, pod *graph.Pod) {
		pod.Sidecars = append(pod.Sidecars, s.sidecar(name, c, opts))
	})
}

// InitContainer runs a container to its successful end before the step starts. It sees the step's volumes.
func InitContainer(name string, c Container, opts ...StepOption) StepOption {
	return podOption("InitContainer", func(s *Step, pod *graph.Pod) {
		pod.InitContainers = append(pod.InitContainers, s.sidecar(name, c, opts))
	})
}

// OwnMounts hides the volumes of the step's own container from a sidecar or init container, which then sees only volumes that it mounts
// itself.
func OwnMounts() StepOption {
	return stepOption(func(s *Step) {
		if s.beside == "" {
			s.Fault("OwnMounts is an option of Sidecar and InitContainer only")
			return
		}
		s.ownMounts = true
	})
}

// reserved are Argo's own containers in a step's pod.
var reserved = []string{"main", "init", "wait"}

func (s *Step) sidecar(name string, c Container, opts []StepOption) graph.Sidecar {
	if !stepName.MatchString(name) || len(name) > stepNameMax || slices.Contains(reserved, name) {
		s.Fault("container %q: the name must hold only lower-case letters, digits and -, begin with a letter, and not be main, init or wait", name)
	}
	for _, other := range slices.Concat(s.node.Pod.Sidecars, s.node.Pod.InitContainers) {
		if other.Name == name {
			s.Fault("container %s: the name is used twice", name)
		}
	}
	if len(c.Artifacts) > 0 || c.Kind != "" {
		s.Fault("container %s: only the step's own container has Artifacts and a Kind", name)
	}
	out := graph.Sidecar{Name: name}
	beside := &Step{pipeline: s.pipeline, node: s.node, box: &out.Container, beside: name}
	beside.contain(c)
	beside.apply(opts)
	out.OwnMounts = beside.ownMounts
	return out
}

func (s *Step) apply(opts []StepOption) {
	for _, opt := range opts {
		if opt != nil {
			opt.ofStep(s)
		}
	}
}
