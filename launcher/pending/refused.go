package pending

import (
	"regexp"
	"strings"
)

var (
	perContainer = regexp.MustCompile(`(?:maximum|minimum) \S+ usage per (?:Container|Pod) is|maximum \S+ limit to request ratio per`)
	accountGone  = regexp.MustCompile(`(?i)(?:looking up )?service ?account "?(?:[\w.-]+/)?([\w.-]+)"?.*not found`)
	classGone    = regexp.MustCompile(`no PriorityClass with name (\S+) was found`)
	runtimeGone  = regexp.MustCompile(`RuntimeClass(?:\.node\.k8s\.io)? "([^"]+)" not found`)
	queueState   = regexp.MustCompile("queue `([^`]+)` status is `([^`]+)`")
	queueGone    = regexp.MustCompile(`unable to find (?:job )?queue:? .*?"?([\w.-]+)"? not found`)
	webhookNo    = regexp.MustCompile(`admission webhook "([^"]+)" denied the request: ?(.*)`)
	webhookAway  = regexp.MustCompile(`failed calling webhook "([^"]+)"`)
)

// Refused says why the API server does not take a pod or a job, as it tells operators and the workflow engine. Other text
// gives the zero verdict.
func Refused(message string) Verdict {
	message = strings.Join(strings.Fields(message), " ")
	_, quota, isQuota := strings.Cut(message, "exceeded quota: ")
	switch {
	case isQuota:
		return Verdict{Cause: Quota, Text: "the namespace's quota has no room for its pod: " + quota, Lacking: overQuota(quota)}.cut()
	case queueState.MatchString(message):
		m := queueState.FindStringSubmatch(message)
		return Verdict{Cause: QueueClosed, Text: closed(m[1], m[2])}
	case queueGone.MatchString(message):
		return Verdict{Cause: QueueMissing, Text: noQueue(queueGone.FindStringSubmatch(message)[1])}
	case perContainer.MatchString(message):
		return Verdict{Cause: LimitRange, Text: "the namespace's limits (LimitRange) forbid its pod: " + afterForbidden(message)}.cut()
	case strings.Contains(message, "violates PodSecurity"):
		return Verdict{Cause: PodSecurity, Text: "the namespace's pod security forbids its pod: " + afterForbidden(message)}.cut()
	case classGone.MatchString(message):
		return Verdict{Cause: PriorityClassMissing, Text: "there is no PriorityClass " + classGone.FindStringSubmatch(message)[1] + ": create it, or choose another priority"}
	case runtimeGone.MatchString(message):
		return Verdict{Cause: RuntimeClass, Text: "there is no RuntimeClass " + runtimeGone.FindStringSubmatch(message)[1] + ": create it, or choose another"}
	case webhookNo.MatchString(message):
		m := webhookNo.FindStringSubmatch(message)
		return Verdict{Cause: WebhookDenied, Text: "the cluster's admission webhook " + m[1] + " refuses it: " + m[2]}.cut()
	case webhookAway.MatchString(message):
		return Verdict{Cause: WebhookUnreachable, Text: "the cluster's admission webhook " + webhookAway.FindStringSubmatch(message)[1] + " does not answer, and nothing is created without it"}
	case accountGone.MatchString(message):
		return Verdict{Cause: ServiceAccountMissing, Text: "there is no service account " + accountGone.FindStringSubmatch(message)[1] + ": create it, or choose another"}
	case strings.Contains(message, "is forbidden: User ") && strings.Contains(message, " cannot "):
		return Verdict{Cause: RightsMissing, Text: "who creates it lacks the right: " + afterForbidden(message)}.cut()
	case strings.Contains(message, " is forbidden: ") || strings.Contains(message, " is invalid: "):
		return Verdict{Cause: Refusal, Text: "the cluster refuses it: " + afterForbidden(message)}.cut()
	}
	return Verdict{}
}

// overQuota finds the resources that a quota has too little of: "compute, requested: cpu=4,memory=1Gi, used: ...".
func overQuota(quota string) (names []string) {
	_, asked, _ := strings.Cut(quota, "requested: ")
	asked, _, _ = strings.Cut(asked, ", used: ")
	for pair := range strings.SplitSeq(asked, ",") {
		if name, _, ok := strings.Cut(strings.TrimSpace(pair), "="); ok {
			names = append(names, strings.TrimPrefix(strings.TrimPrefix(name, "requests."), "limits."))
		}
	}
	return names
}

// afterForbidden leaves out which request was refused.
func afterForbidden(message string) string {
	for _, before := range []string{" is forbidden: ", " is invalid: "} {
		if _, rest, ok := strings.Cut(message, before); ok {
			return rest
		}
	}
	return message
}

func closed(queue, state string) string {
	return "queue " + queue + " is " + strings.ToLower(state) + " and takes no gangs: open it, or choose another queue"
}

func noQueue(queue string) string {
	return "there is no queue " + queue + ": create it, or choose another"
}

const holdsLock = "another step or run holds the lock "

// Locked is the verdict on a step that waits for a lock.
func Locked(name string) Verdict { return Verdict{Cause: Lock, Text: holdsLock + name} }

// Step says what a step waits for that has no pod: by the sentence that people see, and by what the workflow engine says.
func Step(sentence, message string) Verdict {
	if v := Refused(message); v.Cause != "" {
		return v
	}
	switch {
	case strings.HasPrefix(sentence, holdsLock):
		return Verdict{Cause: Lock, Text: sentence}
	case strings.Contains(strings.ToLower(message), "postponed"), strings.Contains(message, "parallelism"):
		return Verdict{Cause: Parallelism, Text: "as many runs or steps are at work as may be at once"}
	case sentence != "":
		return Verdict{Cause: Other, Text: sentence}.cut()
	}
	return Verdict{Cause: StepStarting, Text: "its pod is about to be created"}
}
