package job

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/launcher/pending"
)

// describe says what the job waits for, empty when it runs or has ended.
func describe(s state, spec *Spec) string {
	switch {
	case s.job == nil || s.status.over():
		return ""
	case !s.status.seen:
		return fmt.Sprintf("waiting for %s to take the job up", s.kind.operator)
	case s.status.suspended:
		return "the job is suspended: waiting until it is resumed"
	case s.kind.waits != nil:
		return s.kind.waits(s, spec)
	}
	begun := 0
	for _, p := range s.pods {
		if !beganAt(p, s.kind.container).IsZero() {
			begun++
		}
	}
	want := spec.Pods()
	if begun >= want {
		return ""
	}
	text := fmt.Sprintf("waiting for %d %s: %d running", want, plural(want, "pod"), begun)
	if missing := want - len(s.pods); missing > 0 {
		text += fmt.Sprintf(", %d not created yet", missing)
	}
	return text + problems(s.pods)
}

// stuck is the first pod that is there and does not run yet, nil when there is none.
func stuck(s state) *corev1.Pod {
	for _, p := range s.pods {
		if p.Status.Phase == corev1.PodPending {
			return p
		}
	}
	return nil
}

func countPhase(pods []*corev1.Pod, phase corev1.PodPhase) int {
	n := 0
	for _, p := range pods {
		if p.Status.Phase == phase {
			n++
		}
	}
	return n
}

// problems says why pods do not run yet, pods with the same reason together.
func problems(pods []*corev1.Pod) string {
	const most = 3
	var reasons []string
	first := map[string]string{}
	count := map[string]int{}
	for _, pod := range pods {
		why := problem(pod)
		if why == "" {
			continue
		}
		if count[why]++; count[why] == 1 {
			reasons = append(reasons, why)
			first[why] = pod.Name
		}
	}
	var b strings.Builder
	for i, why := range reasons {
		if i == most {
			fmt.Fprintf(&b, "; and %d more reasons", len(reasons)-most)
			break
		}
		who := "pod " + first[why]
		if n := count[why]; n > 1 {
			who += fmt.Sprintf(" and %d more", n-1)
		}
		fmt.Fprintf(&b, "; %s: %s", who, why)
	}
	return b.String()
}

// problem says why a pod does not run, empty when it does.
func problem(pod *corev1.Pod) string {
	switch pod.Status.Phase {
	case corev1.PodRunning, corev1.PodSucceeded:
		return ""
	case corev1.PodFailed:
		return "failed" + because(pod.Status.Reason, pod.Status.Message)
	}
	for _, c := range pod.Status.InitContainerStatuses {
		if c.State.Running != nil {
			return "its init container " + c.Name + " is at work"
		}
	}
	return cmp.Or(pending.Why(pod, ""), "starting")
}

// because is ": reason: message", empty when there is neither.
func because(reason, message string) string {
	if text := summary(reason, message); text != "" {
		return ": " + text
	}
	return ""
}

func summary(reason, message string) string {
	text := strings.Trim(reason+": "+strings.TrimSpace(message), ": ")
	const most = 300
	if len(text) > most {
		text = text[:most] + "..."
	}
	return text
}

// failedContainer is the container that made a pod fail.
func failedContainer(pod *corev1.Pod) (name string, why *corev1.ContainerStateTerminated) {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
			return c.Name, t
		}
	}
	return "", nil
}

// ending says in words how a container ended.
func ending(t *corev1.ContainerStateTerminated) string {
	var text string
	switch {
	case t.Reason == "OOMKilled":
		text = fmt.Sprintf("was killed for using more memory than its limit (exit code %d)", t.ExitCode)
	case t.ExitCode == 127:
		text = "exited with code 127: a program was not found"
	case t.ExitCode > 128 && t.ExitCode < 160:
		text = fmt.Sprintf("exited with code %d, as after signal %d", t.ExitCode, t.ExitCode-128)
	default:
		text = fmt.Sprintf("exited with code %d", t.ExitCode)
	}
	if t.Message != "" {
		text += because("", t.Message)
	}
	return text
}
