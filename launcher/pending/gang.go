package pending

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Group is a gang, as Volcano's PodGroup has it.
type Group struct {
	Phase     string
	Queue     string
	MinMember int
	Message   string // of its condition Unschedulable
	Since     time.Time
	Events    []corev1.Event // of the PodGroup
	// QueueState is empty where queues are not known, and Missing where there is none of that name.
	QueueState string
}

// Missing is the state of a queue that is not there.
const Missing = "Missing"

// Queue says why a queue takes no gangs; the zero verdict when it does.
func Queue(name, state string) Verdict {
	switch state {
	case Missing:
		return Verdict{Cause: QueueMissing, Text: noQueue(name)}
	case "Closed", "Closing":
		return Verdict{Cause: QueueClosed, Text: closed(name, state)}
	}
	return Verdict{}
}

// Judge says what the gang waits for; the zero verdict when it has its place.
func (g Group) Judge() Verdict {
	v := g.judge()
	if v.Cause != "" && v.Since.IsZero() {
		v.Since = g.Since
	}
	return v.cut()
}

func (g Group) judge() Verdict {
	if g.Phase != "" && g.Phase != "Pending" && g.Phase != "Inqueue" {
		return Verdict{}
	}
	if v := Queue(g.Queue, g.QueueState); v.Cause == QueueMissing || v.Cause == QueueClosed && g.Phase != "Inqueue" { // those that are in stay in
		return v
	}
	var said []string
	for _, e := range slices.Backward(byTime(g.Events)) {
		if e.Reason == "Unschedulable" {
			said = append(said, strings.Join(strings.Fields(e.Message), " "))
		}
	}
	if g.Message != "" {
		said = append(said, g.Message)
	}
	for _, message := range said { // the newest first
		switch lacking := Lacking(message); {
		case strings.HasPrefix(message, "queue resource quota insufficient"):
			return Verdict{Cause: QueueFull, Text: fmt.Sprintf("queue %s has no room for it%s", g.Queue, tooLittle(lacking)), Lacking: lacking}
		case strings.HasPrefix(message, "resource in cluster is overused"):
			return Verdict{Cause: InsufficientResources, Text: "the cluster has no room for the gang" + tooLittle(lacking), Lacking: lacking}
		case strings.HasPrefix(message, "resource quota insufficient"):
			_, numbers, _ := strings.Cut(message, ", ")
			return Verdict{Cause: Quota, Text: "the namespace's quota has no room for the gang: " + numbers}
		case Gang(message) > 0:
			return noRoom(Gang(message), lacking)
		}
	}
	if g.Phase == "Inqueue" {
		return Verdict{}
	}
	return Verdict{Cause: QueueTurn, Text: fmt.Sprintf("waits for its turn in queue %s", g.Queue)}
}

// noRoom says that a gang of so many pods has no room. Volcano calls pods that are placed one by one gangs of one.
func noRoom(pods int, lacking []string) Verdict {
	if pods == 1 {
		return Verdict{Cause: Unschedulable, Text: "no node takes it yet", Lacking: lacking}
	}
	return Verdict{Cause: GangIncomplete, Text: fmt.Sprintf("needs room for %d pods at once", pods), Lacking: lacking}
}

func tooLittle(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ": too little " + strings.Join(names, " and ")
}

// byTime sorts events, the oldest first.
func byTime(events []corev1.Event) []corev1.Event {
	return slices.SortedStableFunc(slices.Values(events), func(a, b corev1.Event) int { return lastOf(a).Compare(lastOf(b)) })
}

// lastOf returns the time at which an event was last seen.
func lastOf(e corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	}
	return e.CreationTimestamp.Time
}
