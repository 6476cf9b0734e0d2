package capacity

import (
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
)

// Queue is a queue of Volcano.
//
// The limits of its ancestors are left out: Volcano's plugin proportion, which is the default, never looks at them, and its plugin capacity
// does only with enableHierarchy, which nothing in the cluster tells.
type Queue struct {
	Name, State string
	Capability  corev1.ResourceList // at most this may be in use
}

// Short returns the part of a demand that the queue may never use, or nil, as of an unknown queue. A cluster that adds nodes makes no difference:
// they do not raise the limit.
func (q *Queue) Short(d Demand) *Shortage {
	if q == nil {
		return nil
	}
	if d.Together && pods(d.Groups) > 1 {
		return q.short(d, d.Groups, beyond)
	}
	for i := range d.Groups {
		if d.Groups[i].Replicas > 0 {
			if short := q.short(d, d.Groups[i:i+1], beyondEach); short != nil {
				return short
			}
		}
	}
	return nil
}

func (q *Queue) short(d Demand, groups []Group, compare func([]Group, func(corev1.ResourceName) float64) ([]lack, string)) *Shortage {
	counted := make([]Group, len(groups))
	for i, g := range groups {
		g.Pod.Resources = nil // Volcano 1.14 adds up what containers ask for
		counted[i] = g
	}
	lacks, asks := compare(counted, q.most)
	if len(lacks) == 0 {
		return nil
	}
	s := speaker{parameters: d.Parameters}
	_, has := describe(lacks)
	raise := "argosy queue set " + q.Name
	for _, l := range lacks {
		raise += fmt.Sprintf(" --capability %s=%s", l.name, number(l.name, l.need, true))
	}
	return &Shortage{
		Asks: asks, Has: fmt.Sprintf("queue %s may have %s", q.Name, has),
		Change:     fmt.Sprintf("lower %s, choose another queue, or raise its limit with %s", s.setters(groups, lacks), raise),
		Parameters: s.named(lacks),
	}
}

// most is how much of a resource the queue may use. Volcano takes no CPUs and no memory for no limit, and does not count pods.
func (q *Queue) most(name corev1.ResourceName) float64 {
	limit, set := q.Capability[name]
	native := name == corev1.ResourceCPU || name == corev1.ResourceMemory
	if !set || name == corev1.ResourcePods || native && limit.Sign() <= 0 {
		return math.Inf(1)
	}
	return amountOf(name, limit)
}

func pods(groups []Group) (n int) {
	for i := range groups {
		n += groups[i].Replicas
	}
	return n
}

// beyondEach compares what one pod of a group asks for with what there is.
func beyondEach(groups []Group, has func(corev1.ResourceName) float64) (lacks []lack, asks string) {
	need := requests(&groups[0].Pod)
	for _, name := range need.names() {
		if there := has(name); need[name] > there {
			lacks = append(lacks, lack{name, need[name], there})
		}
	}
	asks, _ = describe(lacks)
	if groups[0].Name != "" {
		asks += " for each " + groups[0].Name
	}
	return lacks, asks
}
