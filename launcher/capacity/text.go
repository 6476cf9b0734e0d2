package capacity

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Shortage is what a cluster can never hold, in words. It is an error of the step that asks for it.
type Shortage struct {
	Asks, Has, Change string
	Parameters        []string // of the pipeline, to lower; those that are known
}

// Error is the sentence, without its subject: "asks 2 workers x 2 CPUs = 4; this cluster has 2: lower cpu_limit, or add nodes".
func (s *Shortage) Error() string { return fmt.Sprintf("asks %s; %s: %s", s.Asks, s.Has, s.Change) }

// lack is a resource that is asked for and not there.
type lack struct {
	name      corev1.ResourceName
	need, has float64
}

// speaker puts shortages into words.
type speaker struct {
	parameters map[corev1.ResourceName]string
	nodes      int // of the cluster
}

// perPod is about pods that fit on none of the nodes that they may run on.
func (s speaker) perPod(g *Group, lacks []lack, eligible int) *Shortage {
	asks, has := describe(lacks)
	if g.Name != "" {
		asks += " for each " + g.Name
	}
	where := "this cluster has "
	switch {
	case eligible < s.nodes:
		where = fmt.Sprintf("the largest of the %s that it may run on has ", counted(eligible, "node"))
	case s.nodes > 1:
		where = "the largest node of this cluster has "
	}
	add := "add a larger node"
	if lacks[0].has == 0 {
		add = "add nodes that have " + plainName(lacks[0].name)
	}
	return &Shortage{Asks: asks, Has: where + has, Change: "lower " + s.setters([]Group{*g}, lacks) + ", or " + add, Parameters: s.named(lacks)}
}

// noneHasAll is about pods for which there is enough of each resource, but not on one node.
func (s speaker) noneHasAll(g *Group, need amounts) *Shortage {
	asks, lacks := everything(need)
	if g.Name != "" {
		asks += " for each " + g.Name
	}
	return &Shortage{
		Asks: asks, Has: fmt.Sprintf("none of the %s of this cluster has all of it", counted(s.nodes, "node")),
		Change: "lower " + s.setters([]Group{*g}, lacks) + ", or add a larger node", Parameters: s.named(lacks),
	}
}

// total compares what groups ask for with what nodes have, nil when that is enough.
func (s speaker) total(groups []Group, nodes []corev1.Node) *Shortage {
	lacks, asks := beyond(groups, func(name corev1.ResourceName) (has float64) {
		for i := range nodes {
			has += offers(&nodes[i], name)
		}
		return has
	})
	if len(lacks) == 0 {
		return nil
	}
	_, has := describe(lacks)
	where := "this cluster has "
	if len(nodes) < s.nodes {
		where = fmt.Sprintf("the %s that they may run on have ", counted(len(nodes), "node"))
		if len(nodes) == 1 {
			where = "the 1 node that they may run on has "
		}
	}
	return &Shortage{Asks: asks, Has: where + has, Change: "lower " + s.setters(groups, lacks) + ", or add nodes", Parameters: s.named(lacks)}
}

// beyond compares what all pods of groups ask for together with what there is. It returns what is lacking, and how the sum comes about.
func beyond(groups []Group, has func(corev1.ResourceName) float64) (lacks []lack, asks string) {
	sum := amounts{}
	needs := make([]amounts, len(groups))
	for i := range groups {
		needs[i] = requests(&groups[i].Pod)
		for name, q := range needs[i] {
			sum[name] += q * float64(groups[i].Replicas)
		}
	}
	var sums []string
	for _, name := range sum.names() {
		there := has(name)
		if sum[name] <= there {
			continue
		}
		var terms []string
		for i := range groups {
			if q := needs[i][name]; q > 0 && groups[i].Replicas > 0 {
				terms = append(terms, fmt.Sprintf("%s x %s", groups[i].counted(), amount(name, q, true)))
			}
		}
		sums = append(sums, fmt.Sprintf("%s = %s", strings.Join(terms, " + "), number(name, sum[name], true)))
		lacks = append(lacks, lack{name, sum[name], there})
	}
	return lacks, list(sums, "and")
}

// fragmented describes pods that fit on a node one by one, but not all on the nodes of the cluster.
func (s speaker) fragmented(g *Group, need amounts, room int) *Shortage {
	each, lacks := everything(need)
	return &Shortage{
		Asks: fmt.Sprintf("%s with %s each", g.counted(), each), Has: fmt.Sprintf("the %s of this cluster hold %d of them", counted(s.nodes, "node"), room),
		Change: "lower " + s.setters([]Group{*g}, lacks) + ", or add nodes", Parameters: s.named(lacks),
	}
}

func (g *Group) counted() string {
	if g.Name == "" {
		return counted(g.Replicas, "pod")
	}
	return counted(g.Replicas, g.Name)
}

// everything lists all that a pod asks for, but for its own place on a node.
func everything(need amounts) (string, []lack) {
	var all []string
	var lacks []lack
	for _, name := range need.names() {
		if name != corev1.ResourcePods {
			all = append(all, amount(name, need[name], true))
			lacks = append(lacks, lack{name: name})
		}
	}
	return list(all, "and"), lacks
}

// describe lists what is asked for, and what is there; of one resource its name stands with what is asked for alone.
func describe(lacks []lack) (asks, has string) {
	var asked, there []string
	for _, l := range lacks {
		asked = append(asked, amount(l.name, l.need, true))
		switch {
		case l.has == 0 && len(lacks) == 1:
			there = append(there, "none")
		case l.has == 0:
			there = append(there, "no "+plainName(l.name))
		case len(lacks) == 1:
			there = append(there, number(l.name, l.has, false))
		default:
			there = append(there, amount(l.name, l.has, false))
		}
	}
	return list(asked, "and"), list(there, "and")
}

// setters names what to lower: the pipeline's parameters where they are known.
func (s speaker) setters(groups []Group, lacks []lack) string {
	var names []string
	for _, l := range lacks {
		if name := s.parameters[l.name]; name != "" {
			names = append(names, name)
			continue
		}
		switch {
		case l.name == corev1.ResourcePods:
			names = append(names, "the number of pods of the step")
		case strings.Contains(string(l.name), "/"):
			names = append(names, fmt.Sprintf("the number of %s of the step", plainName(l.name)))
		case slices.ContainsFunc(groups, func(g Group) bool { return limits(&g.Pod, l.name) }):
			names = append(names, fmt.Sprintf("the %s limit of the step", short(l.name)))
		default:
			names = append(names, fmt.Sprintf("the %s request of the step", short(l.name)))
		}
	}
	return list(names, "and")
}

// named are the pipeline's parameters that set what is lacking.
func (s speaker) named(lacks []lack) (names []string) {
	for _, l := range lacks {
		if name := s.parameters[l.name]; name != "" {
			names = append(names, name)
		}
	}
	return names
}

func limits(pod *corev1.PodSpec, name corev1.ResourceName) bool {
	for _, c := range pod.Containers {
		if _, ok := c.Resources.Limits[name]; ok {
			return true
		}
	}
	return false
}

// short is a resource in front of "limit".
func short(name corev1.ResourceName) string {
	switch name {
	case corev1.ResourceCPU:
		return "CPU"
	case corev1.ResourceEphemeralStorage:
		return "disk (ephemeral-storage)"
	}
	return string(name)
}

// gpu tells the devices that people call GPUs.
func gpu(name corev1.ResourceName) bool { return strings.HasSuffix(string(name), "/gpu") }

// plainName is a resource in the plural.
func plainName(name corev1.ResourceName) string {
	switch {
	case name == corev1.ResourceCPU:
		return "CPUs"
	case name == "nvidia.com/gpu":
		return "GPUs"
	case gpu(name):
		return fmt.Sprintf("GPUs (%s)", name)
	}
	return string(name)
}

// amount is a quantity with its unit: 2 CPUs, 10Gi of memory, 1 GPU.
func amount(name corev1.ResourceName, q float64, up bool) string {
	n := number(name, q, up)
	switch {
	case name == corev1.ResourceMemory:
		return n + " of memory"
	case name == corev1.ResourceEphemeralStorage:
		return n + " of disk"
	case inBytes(name):
		return fmt.Sprintf("%s of %s", n, name)
	case name == corev1.ResourcePods:
		return n + " place on a node"
	case n == "1" && (name == corev1.ResourceCPU || gpu(name)):
		return n + " " + strings.Replace(plainName(name), "s", "", 1)
	}
	return n + " " + plainName(name)
}

func inBytes(name corev1.ResourceName) bool {
	return name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || name == corev1.ResourceStorage ||
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// number rounds what is asked for up and what is there down, so that the one never looks like the other.
func number(name corev1.ResourceName, q float64, up bool) string {
	round := math.Floor
	if up {
		round = math.Ceil
	}
	switch {
	case name == corev1.ResourceCPU:
		return strconv.FormatFloat(q/1000, 'f', -1, 64)
	case !inBytes(name):
		return strconv.FormatFloat(q, 'f', -1, 64)
	}
	unit := 0
	for q >= 1024 && unit < 5 {
		q /= 1024
		unit++
	}
	return strconv.FormatFloat(round(q*10)/10, 'f', -1, 64) + []string{"", "Ki", "Mi", "Gi", "Ti", "Pi"}[unit]
}

// counted is a number with its noun, in the plural but for one; "ps" is both.
func counted(n int, noun string) string {
	if n != 1 && noun != "ps" {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// list joins words as people do: a, b and c.
func list(words []string, and string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + and + " " + words[len(words)-1]
}
