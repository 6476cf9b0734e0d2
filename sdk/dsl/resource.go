package dsl

import (
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Resource describes an operation on a Kubernetes object.
type Resource struct {
	// Action is create, apply, replace, patch, delete or get.
	Action string
	// Manifest is the object as YAML or JSON.
	Manifest Value[string]
	// SuccessCondition and FailureCondition say when the step has ended, as in status.succeeded > 0. Without them it has ended
	// once the action is done.
	SuccessCondition, FailureCondition Value[string]
	// MergeStrategy is that of a patch: strategic, merge or json.
	MergeStrategy string
	// Flags are additional flags of kubectl.
	Flags []Value[string]
	// Owned has Kubernetes delete the object together with the run's workflow.
	Owned bool
}

var actions = []string{"create", "apply", "replace", "patch", "delete", "get"}

// Manage adds a step that creates, changes or deletes a Kubernetes object. It runs no container of yours, so options for containers do not
// apply. FieldOutput returns fields of the object.
func Manage(p *Pipeline, name string, r Resource, opts ...StepOption) *Step {
	if p == nil {
		return &Step{}
	}
	s := p.begin(name, "Resource")
	if !slices.Contains(actions, r.Action) {
		s.Fault("Action is %q: it must be one of %s", r.Action, strings.Join(actions, ", "))
	}
	if !slices.Contains([]string{"", "strategic", "merge", "json"}, r.MergeStrategy) {
		s.Fault("MergeStrategy is %q: it must be strategic, merge or json", r.MergeStrategy)
	}
	out := &graph.Resource{
		Action:           r.Action,
		Manifest:         s.text("Manifest", r.Manifest),
		SuccessCondition: p.use(s.node, "SuccessCondition", r.SuccessCondition),
		FailureCondition: p.use(s.node, "FailureCondition", r.FailureCondition),
		MergeStrategy:    r.MergeStrategy,
		Owned:            r.Owned,
	}
	for _, flag := range r.Flags {
		out.Flags = append(out.Flags, s.text("Flags", flag))
	}
	s.box.Resource = out
	s.apply(p.defaults)
	s.apply(opts)
	c := s.box
	if len(c.Env)+len(c.EnvFrom)+len(c.Mounts)+len(c.Requests)+len(c.Limits)+len(c.Files) > 0 {
		s.Fault("it manages an object of Kubernetes and has no container: variables, mounts, files and resources do not fit")
	}
	return s
}

// FieldOutput returns a field of the object of a Manage step, by its path in kubectl's notation: {.metadata.name}. The path {} is the whole
// object.
func FieldOutput[T any](s *Step, name, jsonPath string) Value[T] {
	if s == nil || s.node == nil || s.box.Resource == nil {
		return valueOf[T](faulty(caller(), "FieldOutput %s: only a step of dsl.Manage has fields", name))
	}
	s.checkName("output", name)
	if jsonPath == "" || strings.Contains(jsonPath, "{{") || checkText(jsonPath) != nil {
		s.Fault("output %s: %q is not a path of a field such as {.metadata.name}", name, jsonPath)
	}
	s.declareOutput(graph.Output{Name: name, Type: typeOf[T](), JSONPath: jsonPath})
	if err := travels[T](); err != nil {
		s.Fault("output %s: %v", name, err)
	}
	return valueOf[T](s.output(name))
}
