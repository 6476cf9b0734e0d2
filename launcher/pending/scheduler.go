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

// Gang returns the size of a gang that the scheduler holds back because it is incomplete; 0 for other messages.
func Gang(message string) int {
	if match := gang.FindStringSubmatch(message); match != nil {
		n, _ := strconv.Atoi(match[1]) // digits, or the pattern would not match
		return n
	}
	return 0
}

// Causes translates the part of a scheduler's message about nodes into plain words; empty if the message has none.
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
func unscheduled(pod *corev1.Pod, c corev1.PodCondition) Verdict {
	message := strings.Join(strings.Fields(c.Message), " ")
	if c.Reason == corev1.PodReasonSchedulingGated {
		return gated(pod)
	}
	if node := pod.Status.NominatedNodeName; node != "" {
		return Verdict{Cause: Preempting, Text: fmt.Sprintf("pods of lower priority make room for it on node %s", node), Lacking: Lacking(message)}
	}
	if n := Gang(message); n > 0 {
		return noRoom(n, Lacking(message))
	}
	match := verdict.FindStringSubmatch(message)
	if match == nil {
		return Verdict{Cause: ofPod(message), Text: missing(pod, cmp.Or(message, "no node has been found for it"))}
	}
	if match[1] == "0" {
		return Verdict{Cause: NoNodes, Text: "the cluster has no node"}
	}
	causes := parts(match[2])
	if len(causes) == 1 && !part.MatchString(causes[0]) { // of the pod, not of nodes
		return Verdict{Cause: ofPod(causes[0]), Text: missing(pod, causes[0])}
	}
	lead, names := "no node takes it", Lacking(match[2])
	if len(names) > 0 {
		lead = fmt.Sprintf("no node has %s free", wants(pod, names))
	}
	return Verdict{Cause: ofNodes(pod, causes), Text: fmt.Sprintf("%s (%s)", lead, Causes(message)), Lacking: names}
}

// words are schedulers' for causes, the surer before the vaguer.
type words []struct {
	word  string
	cause Cause
}

// ofPods are of the pod itself, ofEach of nodes.
var (
	ofPods = words{
		{"is being deleted", ClaimDeleted},
		{"bound to non-existent persistentvolume", ClaimLost},
		{"persistentvolumeclaim", ClaimMissing},
		{"unbound immediate PersistentVolumeClaims", ClaimUnbound},
		{"resourceclaim", DeviceClaim},
		{"deviceclass", DeviceClaim},
	}
	ofEach = words{
		{"Insufficient ", InsufficientResources},
		{"Too many pods", TooManyPods},
		{"node affinity/selector", NodeAffinity},
		{"node selector", NodeAffinity},
		{"node.kubernetes.io/not-ready", NodeNotReady},
		{"node.kubernetes.io/unreachable", NodeNotReady},
		{"network-unavailable", NodeNotReady},
		{"cloudprovider.kubernetes.io/uninitialized", NodeNotReady},
		{"unknown conditions", NodeNotReady},
		{"-pressure", NodePressure},
		{"node.kubernetes.io/unschedulable", NodeCordoned},
		{"were unschedulable", NodeCordoned},
		{"taint", Taint},
		{"anti-affinity rules", PodAntiAffinity},
		{"pod affinity rules", PodAffinity},
		{"topology spread", TopologySpread},
		{"free ports", HostPort},
		{"requested node name", NodeName},
		{"cannot allocate all claims", DeviceClaim},
		{"max volume count", VolumeLimit},
		{"non-existent pv", ClaimLost},
		{"ReadWriteOncePod", ClaimInUse},
		{"no available disk", ClaimInUse},
		{"volume node affinity conflict", VolumeElsewhere},
		{"PersistentVolume's node affinity", VolumeElsewhere},
		{"no available volume zone", VolumeElsewhere},
		{"available persistent volumes to bind", NoVolume},
		{"enough free storage", NoVolume},
	}
)

func (w words) cause(message string) Cause {
	for _, known := range w {
		if strings.Contains(message, known.word) {
			return known.cause
		}
	}
	return Unschedulable
}

func ofPod(message string) Cause { return ofPods.cause(message) }

// ofNodes is the cause that keeps the most nodes from taking a pod. Too little room goes before all others: the sentence begins with it.
func ofNodes(pod *corev1.Pod, causes []string) Cause {
	best, most := Unschedulable, 0
	for _, text := range causes {
		m := part.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		cause, n := ofEach.cause(m[2]), 0
		n, _ = strconv.Atoi(m[1]) // digits, or the pattern would not match
		if cause == InsufficientResources {
			return cause
		}
		if n > most {
			best, most = cause, n
		}
	}
	if best == NodeAffinity && len(pod.Spec.NodeSelector) > 0 && (pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil) {
		return NodeSelector
	}
	return best
}

// gated names who holds a pod back; the server's own gate, which asks the cache, passes unnoticed.
func gated(pod *corev1.Pod) Verdict {
	var names []string
	for _, g := range pod.Spec.SchedulingGates {
		if !strings.HasPrefix(g.Name, "argosy.dev/") {
			names = append(names, g.Name)
		}
	}
	if len(names) == 0 {
		return Verdict{}
	}
	return Verdict{Cause: SchedulingGate, Text: "held back until the scheduling gate " + strings.Join(names, ", ") + " is lifted"}
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

// Amount formats an amount of a resource: 2 CPUs, 4Gi of memory, 1 nvidia.com/gpu. Zero, for an unknown amount, is "enough NAME".
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
