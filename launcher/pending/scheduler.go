package pending

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

var (
	// lacks is a resource that schedulers find too little of: kube-scheduler's "Insufficient cpu", Volcano's "overused cpu".
	lacks = regexp.MustCompile(`(?:[Ii]nsufficient|overused) ([\w.-]*\w(?:/[\w.-]*\w)?)`)
	// verdict is the first sentence of "0/3 nodes are available: 1 Insufficient cpu, 2 Too many pods. preemption: ...".
	verdict = regexp.MustCompile(`^\d+/(\d+) nodes are (?:un)?available: (.*?)\.?(?: (?:preemption|no new claims)\b.*)?$`)
	// gang is Volcano's word for all pods of a job that wait for one another.
	gang = regexp.MustCompile(`pod group is not ready, .*?(\d+) minAvailable`)
	part = regexp.MustCompile(`^(\d+) (?:node\(s\) )?(.*)$`)
)

// Lacking finds the resources that a scheduler says there is too little of, each once.
func Lacking(message string) (names []string) {
	for _, match := range lacks.FindAllStringSubmatch(message, -1) {
		if !slices.Contains(names, match[1]) {
			names = append(names, match[1])
		}
	}
	return names
}

// Gang gives the size of the gang that a scheduler holds back because it is not whole; 0 when the message is about something else.
func Gang(message string) int {
	if match := gang.FindStringSubmatch(message); match != nil {
		n, _ := strconv.Atoi(match[1]) // digits, or the pattern would not match
		return n
	}
	return 0
}

// Causes says in common words what keeps nodes from taking a pod, as a scheduler's message has it; empty when it has nothing of nodes.
func Causes(message string) string {
	match := verdict.FindStringSubmatch(strings.Join(strings.Fields(message), " "))
	if match == nil {
		return ""
	}
	var said []string
	for _, cause := range parts(match[2]) {
		if m := part.FindStringSubmatch(cause); m != nil {
			cause = fmt.Sprintf("%s %s: %s", m[1], nodeWord(m[1]), plain(m[2]))
		}
		said = append(said, cause)
	}
	return strings.Join(said, ", ")
}

// unscheduled says why no node takes a pod.
func unscheduled(pod *corev1.Pod, c corev1.PodCondition) string {
	message := strings.Join(strings.Fields(c.Message), " ")
	if c.Reason == corev1.PodReasonSchedulingGated {
		return gated(pod)
	}
	if n := Gang(message); n > 0 {
		return fmt.Sprintf("needs room for %d pods at once", n)
	}
	match := verdict.FindStringSubmatch(message)
	if match == nil {
		return missing(pod, cmp.Or(message, "no node has been found for it"))
	}
	if match[1] == "0" {
		return "the cluster has no node"
	}
	if causes := parts(match[2]); len(causes) == 1 && !part.MatchString(causes[0]) { // of the pod, not of nodes
		return missing(pod, causes[0])
	}
	lead := "no node takes it"
	if names := Lacking(match[2]); len(names) > 0 {
		lead = fmt.Sprintf("no node has %s free", wants(pod, names))
	}
	return fmt.Sprintf("%s (%s)", lead, Causes(message))
}

// gated names who holds a pod back; the server's own gate, which asks the cache, passes unnoticed.
func gated(pod *corev1.Pod) string {
	var names []string
	for _, g := range pod.Spec.SchedulingGates {
		if !strings.HasPrefix(g.Name, "argosy.dev/") {
			names = append(names, g.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "held back until the scheduling gate " + strings.Join(names, ", ") + " is lifted"
}

// parts splits "1 Insufficient cpu, 2 node(s) had untolerated taint {a: b}" at the commas that a number follows.
func parts(text string) (causes []string) {
	for _, piece := range strings.Split(text, ", ") {
		if n := len(causes); n > 0 && !part.MatchString(piece) {
			causes[n-1] += ", " + piece
			continue
		}
		causes = append(causes, piece)
	}
	return causes
}

// plain says in common words what keeps nodes from taking a pod.
func plain(cause string) string {
	switch {
	case strings.HasPrefix(cause, "Insufficient "):
		return "too little " + strings.TrimPrefix(cause, "Insufficient ")
	case strings.HasPrefix(cause, "had untolerated taint"), strings.HasPrefix(cause, "had taint"):
		return "has the taint " + strings.Trim(cause[strings.Index(cause, "taint")+len("taint"):], " {}:") + " that the step does not tolerate"
	case strings.Contains(cause, "node affinity/selector"), strings.Contains(cause, "node selector"):
		return "does not match the step's node selector"
	case cause == "Too many pods":
		return "runs as many pods as it may"
	case cause == "were unschedulable":
		return "takes no new pods"
	}
	return cause
}

// wants says how much of these resources a pod asks for.
func wants(pod *corev1.Pod, names []string) string {
	var amounts []string
	for _, name := range names {
		sum := resource.Quantity{}
		for _, c := range pod.Spec.Containers {
			sum.Add(c.Resources.Requests[corev1.ResourceName(name)])
		}
		amounts = append(amounts, Amount(name, sum))
	}
	return strings.Join(amounts, " and ")
}

// Amount says how much of a resource something is: 2 CPUs, 4Gi of memory, 1 nvidia.com/gpu. Of nothing it is only the name.
func Amount(name string, q resource.Quantity) string {
	switch {
	case q.IsZero():
		return "enough " + name
	case name == string(corev1.ResourceCPU) && q.CmpInt64(1) == 0:
		return "1 CPU"
	case name == string(corev1.ResourceCPU):
		return strconv.FormatFloat(float64(q.MilliValue())/1000, 'f', -1, 64) + " CPUs"
	case name == string(corev1.ResourceMemory), name == string(corev1.ResourceEphemeralStorage):
		return q.String() + " of " + name
	}
	return q.String() + " " + name
}

func nodeWord(n string) string {
	if n == "1" {
		return "node"
	}
	return "nodes"
}
