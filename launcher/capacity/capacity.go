// Package capacity finds demands that a cluster can never hold: a pod that fits on no node, a group of pods that exceeds all nodes
// together, a volume without a storage class, and pods that exceed the limit of their queue. It compares with empty nodes and queues, so
// waiting cannot help: only a smaller demand or another cluster or queue does.
package capacity

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Group is a number of pods that are alike.
type Group struct {
	// Name is what one of them is called, such as worker; empty for the only pod of a step.
	Name     string
	Replicas int
	Pod      corev1.PodSpec
}

// Claim asks for a volume that is not there yet.
type Claim struct {
	Name string
	Spec corev1.PersistentVolumeClaimSpec
}

// Demand is what a step needs of a cluster.
type Demand struct {
	Groups []Group
	// Together tells that no pod is of use before all of them run.
	Together bool
	Claims   []Claim
	// Queue names the queue of Volcano that the pods are in; empty where they name none.
	Queue string
	// Parameters are the names of the pipeline's parameters that set a resource.
	Parameters map[corev1.ResourceName]string
}

// Cluster is what there is.
type Cluster struct {
	// Nodes may be cordoned or not ready: that passes, so they count.
	Nodes []corev1.Node
	// Classes and Volumes are nil where they are not known; then claims are not checked.
	Classes []storagev1.StorageClass
	Volumes []corev1.PersistentVolume
}

// Short returns the part of a demand that the cluster can never hold, or nil when it may hold all of it.
func (c *Cluster) Short(d Demand) *Shortage {
	if len(c.Nodes) == 0 { // a cluster that is just starting
		return nil
	}
	s := speaker{parameters: d.Parameters, nodes: len(c.Nodes)}
	for i := range d.Groups {
		if short := c.onOne(s, &d.Groups[i]); short != nil {
			return short
		}
	}
	if d.Together {
		if short := c.onAll(s, d.Groups); short != nil {
			return short
		}
	}
	for i := range d.Claims {
		if short := c.claim(&d.Claims[i]); short != nil {
			return short
		}
	}
	return nil
}

// onOne checks that each pod of a group fits on a node.
func (c *Cluster) onOne(s speaker, g *Group) *Shortage {
	if g.Replicas == 0 {
		return nil
	}
	nodes, short := c.eligible(g)
	if short != nil {
		return short
	}
	need := requests(&g.Pod)
	var lacks []lack
	for _, name := range need.names() {
		most := 0.0
		for i := range nodes {
			most = max(most, offers(&nodes[i], name))
		}
		if need[name] > most {
			lacks = append(lacks, lack{name, need[name], most})
		}
	}
	if len(lacks) > 0 {
		return s.perPod(g, lacks, len(nodes))
	}
	if !slices.ContainsFunc(nodes, func(n corev1.Node) bool { return fit(&n, need) > 0 }) {
		return s.noneHasAll(g, need)
	}
	return nil
}

// onAll checks that all pods fit at the same time. Within a group the check is exact; across groups it compares the sums of their
// requests.
func (c *Cluster) onAll(s speaker, groups []Group) *Shortage {
	for i := range groups {
		g := &groups[i]
		nodes, _ := c.eligible(g)
		if short := s.total(groups[i:i+1], nodes); short != nil {
			return short
		}
		room, need := 0.0, requests(&g.Pod)
		for j := range nodes {
			room += fit(&nodes[j], need)
		}
		if room < float64(g.Replicas) {
			return s.fragmented(g, need, int(room))
		}
	}
	var union []corev1.Node
	for i := range c.Nodes {
		if slices.ContainsFunc(groups, func(g Group) bool {
			return g.Replicas > 0 && selects(&g.Pod, &c.Nodes[i]) && len(untolerated(&g.Pod, &c.Nodes[i])) == 0
		}) {
			union = append(union, c.Nodes[i])
		}
	}
	return s.total(groups, union)
}

// fit is how many pods of one kind a node holds when it is empty.
func fit(node *corev1.Node, need amounts) float64 {
	room := math.Inf(1)
	for name, q := range need {
		room = min(room, math.Floor(offers(node, name)/q))
	}
	return room
}
