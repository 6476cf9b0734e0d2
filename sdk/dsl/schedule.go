package dsl

import (
	"maps"
	"slices"
	"time"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// NodeSelector runs the step on nodes with these labels.
func NodeSelector(labels map[string]Value[string]) StepOption {
	return podOption("NodeSelector", func(s *Step, pod *graph.Pod) {
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			checkLabel("NodeSelector", key, labels[key], s.Fault)
			pod.NodeSelector = put(pod.NodeSelector, key, s.text("NodeSelector "+key, labels[key]))
		}
	})
}

// Priority is the priority class of the step's pods.
func Priority(class Value[string]) StepOption {
	return podOption("Priority", func(s *Step, pod *graph.Pod) { pod.PriorityClass = s.object("Priority", class) })
}

// Scheduler is the name of the scheduler that places the step's pods.
func Scheduler(name Value[string]) StepOption {
	return podOption("Scheduler", func(s *Step, pod *graph.Pod) { pod.Scheduler = s.object("Scheduler", name) })
}

// Queue puts the step's pods in a Volcano queue, and Volcano schedules them. The pods of a distributed job are in the queue that its Queue
// field names.
func Queue(name Value[string]) StepOption {
	return podOption("Queue", func(s *Step, pod *graph.Pod) {
		pod.Scheduler = s.object("Queue", Lit("volcano"))
		pod.Annotations = put(pod.Annotations, "scheduling.volcano.sh/queue-name", s.object("Queue", name))
	})
}

// Toleration lets a step onto nodes with a taint.
type Toleration struct {
	// Key is the taint's key; empty matches all taints.
	Key string
	// Value is the taint's value. Default: any.
	Value Value[string]
	// Effect is NoSchedule, PreferNoSchedule or NoExecute. Default: all of them.
	Effect string
	// For is how long the step may stay on a node that gets the taint NoExecute. Default: for ever.
	For time.Duration
}

// Tolerate lets the step onto nodes with these taints.
func Tolerate(taints ...Toleration) StepOption {
	return podOption("Tolerate", func(s *Step, pod *graph.Pod) {
		for _, t := range taints {
			out := graph.Toleration{Key: t.Key, Operator: "Exists", Effect: t.Effect}
			switch {
			case t.Key == "" && t.Value.IsSet():
				s.Fault("Tolerate: a toleration has a Value and no Key")
			case t.Key != "":
				checkKey("Tolerate", t.Key, s.Fault)
			}
			if !slices.Contains([]string{"", "NoSchedule", "PreferNoSchedule", "NoExecute"}, t.Effect) {
				s.Fault("Tolerate: Effect is %q: it must be NoSchedule, PreferNoSchedule or NoExecute", t.Effect)
			}
			if t.For != 0 {
				if t.Effect != "NoExecute" {
					s.Fault("Tolerate: For is of use with Effect NoExecute only")
				}
				seconds := int64(t.For / time.Second)
				out.Seconds = &seconds
			}
			if t.Value.IsSet() {
				out.Operator, out.Value = "Equal", s.text("Tolerate "+t.Key, t.Value)
			}
			pod.Tolerations = append(pod.Tolerations, out)
		}
	})
}

// Affinity constrains where the step runs. The terms' Weight, 1 to 100, ranks preferences.
type Affinity struct {
	// Nodes are the nodes that will do, PreferNodes those that are better.
	Nodes, PreferNodes []NodeTerm
	// Pods are those the step must run beside, AvoidPods those it must not. PreferPods and ShunPods are wishes.
	Pods, PreferPods, AvoidPods, ShunPods []PodTerm
}

// NodeTerm selects nodes that match all of Labels.
type NodeTerm struct {
	Weight int
	Labels []Requirement
}

// PodTerm selects nodes by the pods on them, or by the pods in the same topology domain.
type PodTerm struct {
	Weight int
	Labels []Requirement
	// Topology is the node label whose value is the domain. Default: kubernetes.io/hostname.
	Topology string
}

// Requirement is a condition on a label.
type Requirement struct {
	Key string
	// Operator is In, NotIn, Exists, DoesNotExist, and for nodes Gt and Lt. Default: In, or Exists without Values.
	Operator string
	Values   []Value[string]
}

// Near sets the step's affinity and replaces an earlier one.
func Near(a Affinity) StepOption {
	return podOption("Near", func(s *Step, pod *graph.Pod) {
		pod.Affinity = &graph.Affinity{
			Nodes:       s.nodeTerms("Nodes", a.Nodes, false),
			PreferNodes: s.nodeTerms("PreferNodes", a.PreferNodes, true),
			Pods:        s.podTerms("Pods", a.Pods, false),
			PreferPods:  s.podTerms("PreferPods", a.PreferPods, true),
			AvoidPods:   s.podTerms("AvoidPods", a.AvoidPods, false),
			ShunPods:    s.podTerms("ShunPods", a.ShunPods, true),
		}
	})
}

func (s *Step) nodeTerms(what string, terms []NodeTerm, weighed bool) []graph.NodeTerm {
	var out []graph.NodeTerm
	for _, t := range terms {
		s.checkWeight(what, t.Weight, weighed)
		out = append(out, graph.NodeTerm{Weight: max(t.Weight, weight(weighed)), Labels: s.requirements(what, t.Labels)})
	}
	return out
}

func (s *Step) podTerms(what string, terms []PodTerm, weighed bool) []graph.PodTerm {
	var out []graph.PodTerm
	for _, t := range terms {
		s.checkWeight(what, t.Weight, weighed)
		if t.Topology == "" {
			t.Topology = "kubernetes.io/hostname"
		}
		checkKey("Near: "+what, t.Topology, s.Fault)
		out = append(out, graph.PodTerm{Weight: max(t.Weight, weight(weighed)), Labels: s.requirements(what, t.Labels), Topology: t.Topology})
	}
	return out
}

// weight is that of a wish whose weight is not set.
func weight(weighed bool) int {
	if weighed {
		return 1
	}
	return 0
}

func (s *Step) checkWeight(what string, weight int, weighed bool) {
	switch {
	case !weighed && weight != 0:
		s.Fault("Near: %s must hold, so they have no Weight", what)
	case weight < 0 || weight > 100:
		s.Fault("Near: %s: Weight is %d: it must be from 1 to 100", what, weight)
	}
}

func (s *Step) requirements(what string, rs []Requirement) []graph.Requirement {
	if len(rs) == 0 {
		s.Fault("Near: %s: a term has no Labels", what)
	}
	var out []graph.Requirement
	for _, r := range rs {
		switch {
		case r.Operator == "" && len(r.Values) > 0:
			r.Operator = "In"
		case r.Operator == "":
			r.Operator = "Exists"
		}
		checkKey("Near: "+what, r.Key, s.Fault)
		wants := slices.Contains([]string{"In", "NotIn", "Gt", "Lt"}, r.Operator)
		switch {
		case !wants && r.Operator != "Exists" && r.Operator != "DoesNotExist":
			s.Fault("Near: %s: Operator is %q: it must be In, NotIn, Exists, DoesNotExist, Gt or Lt", what, r.Operator)
		case wants != (len(r.Values) > 0):
			s.Fault("Near: %s: %s %s with %d values", what, r.Key, r.Operator, len(r.Values))
		}
		req := graph.Requirement{Key: r.Key, Operator: r.Operator}
		for _, v := range r.Values {
			req.Values = append(req.Values, s.text("Near: "+what+" "+r.Key, v))
		}
		out = append(out, req)
	}
	return out
}
