package decompile

import (
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// resource raises a template that makes, changes or deletes an object of Kubernetes.
func (r steps) resource(n graph.Node, t *object, s *scope, out outputs) {
	o := t.object("resource")
	here := s.within(o)
	here.env = map[string]bool{} // Argo's executor reads it
	to := &graph.Resource{
		Action:           o.word("action", "create", "apply", "replace", "patch", "delete", "get"),
		Manifest:         r.text(here, o.text("manifest")),
		SuccessCondition: r.optional(here, o, "successCondition"),
		FailureCondition: r.optional(here, o, "failureCondition"),
		MergeStrategy:    o.word("mergeStrategy", "strategic", "merge", "json"),
		Owned:            o.text("setOwnerReference") == "true",
	}
	for _, flag := range o.texts("flags") {
		to.Flags = append(to.Flags, r.text(here, flag))
	}
	if !o.has("manifest") {
		o.fault("without a manifest it cannot be expressed in the DSL")
	}
	o.finish()
	n.Container.Resource = to
	r.fields(n, t, out)
	pods(r).pod(n, t, s, nil)
	t.fits(n)
	if len(n.Pod.Sidecars)+len(n.Pod.InitContainers)+len(n.Pod.Patch) > 0 {
		t.fault("containers beside a step that manages an object of Kubernetes cannot be expressed in the DSL")
	}
	t.get("volumes") // of a pod that mounts none
	t.finish()
}

// fields reads the outputs of a template that manages an object.
func (r steps) fields(n graph.Node, t *object, out outputs) {
	o := t.object("outputs")
	if o == nil {
		return
	}
	for _, p := range o.list("parameters") {
		g := graph.Output{Name: p.text("name"), Type: graph.String}
		from := p.object("valueFrom")
		if from == nil || !from.has("jsonPath") {
			p.fault("an output of an object of Kubernetes must have a jsonPath in the DSL")
			continue
		}
		g.JSONPath = from.text("jsonPath")
		from.finish()
		p.finish()
		n.Container.Outputs = append(n.Container.Outputs, g)
		out.params[g.Name] = refText(graph.Ref{Step: n.Name, Output: g.Name})
	}
	o.finish()
}
