package capacity

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// eligible are the nodes that the pods of a group may run on, at least one, or else why there is none.
func (c *Cluster) eligible(g *Group) ([]corev1.Node, *Shortage) {
	var selected, nodes []corev1.Node
	var taints []string
	for _, node := range c.Nodes {
		if !selects(&g.Pod, &node) {
			continue
		}
		selected = append(selected, node)
		refusing := untolerated(&g.Pod, &node)
		if len(refusing) == 0 {
			nodes = append(nodes, node)
		}
		for _, taint := range refusing {
			if !slices.Contains(taints, taint) {
				taints = append(taints, taint)
			}
		}
	}
	switch {
	case len(selected) == 0:
		return nil, &Shortage{
			Asks: "for a node with " + wanted(&g.Pod), Has: "this cluster has none", Change: "change the node selector of the step, or label a node",
		}
	case len(nodes) == 0:
		which := "every node of this cluster has "
		if len(selected) < len(c.Nodes) {
			which = "every node with " + wanted(&g.Pod) + " has "
		}
		without, has := "the taint ", "it"
		if len(taints) > 1 {
			without, has = "the taints ", "one of them"
		}
		return nil, &Shortage{
			Asks: "for a node without " + without + list(taints, "and"), Has: which + has, Change: "add a toleration to the step, or a node without a taint",
		}
	}
	return nodes, nil
}

// wanted says in words which nodes a pod wants.
func wanted(pod *corev1.PodSpec) string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(pod.NodeSelector)) {
		pairs = append(pairs, "the label "+key+"="+pod.NodeSelector[key])
	}
	if required(pod) != nil {
		pairs = append(pairs, "what its node affinity requires")
	}
	if pod.NodeName != "" {
		pairs = append(pairs, "the name "+pod.NodeName)
	}
	return list(pairs, "and")
}

func required(pod *corev1.PodSpec) *corev1.NodeSelector {
	if pod.Affinity == nil || pod.Affinity.NodeAffinity == nil {
		return nil
	}
	return pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// selects tells whether a pod wants to run on a node.
func selects(pod *corev1.PodSpec, node *corev1.Node) bool {
	if pod.NodeName != "" && pod.NodeName != node.Name {
		return false
	}
	if !labels.SelectorFromSet(pod.NodeSelector).Matches(labels.Set(node.Labels)) {
		return false
	}
	affinity := required(pod)
	return affinity == nil || slices.ContainsFunc(affinity.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		return len(t.MatchExpressions)+len(t.MatchFields) > 0 &&
			meets(t.MatchExpressions, node.Labels) && meets(t.MatchFields, labels.Set{"metadata.name": node.Name})
	})
}

var operators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn,
	corev1.NodeSelectorOpExists: selection.Exists, corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
}

func meets(all []corev1.NodeSelectorRequirement, set labels.Set) bool {
	return !slices.ContainsFunc(all, func(r corev1.NodeSelectorRequirement) bool {
		requirement, err := labels.NewRequirement(r.Key, operators[r.Operator], r.Values)
		return err == nil && !requirement.Matches(set)
	})
}

// passing are the taints of nodes that are starting, ill or being emptied: they go, or their node does.
var passing = []string{"node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler"}

// untolerated are the lasting taints of a node that keep a pod away.
func untolerated(pod *corev1.PodSpec, node *corev1.Node) (taints []string) {
	for i := range node.Spec.Taints {
		t := &node.Spec.Taints[i]
		if t.Effect == corev1.TaintEffectPreferNoSchedule || slices.ContainsFunc(passing, func(prefix string) bool { return strings.HasPrefix(t.Key, prefix) }) {
			continue
		}
		if !slices.ContainsFunc(pod.Tolerations, func(have corev1.Toleration) bool { return have.ToleratesTaint(t) }) {
			text := t.Key
			if t.Value != "" {
				text += "=" + t.Value
			}
			taints = append(taints, fmt.Sprintf("%s:%s", text, t.Effect))
		}
	}
	return taints
}
