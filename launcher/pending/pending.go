// Package pending says in one sentence why a pod has not started. Schedulers and kubelets say it in several places and in
// words that repeat themselves; the launcher and the server show people the same sentence.
package pending

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Annotation of a step's own pod says what the program in it waits for. The launcher writes it until its job runs, and empties
// it then.
const Annotation = "argosy.dev/waiting"

// longest is where a sentence is cut: a registry's answer can be a page.
const longest = 400

// Of says what the pod of a step waits for: what the program in it states, which may be nothing any more, or else Why.
func Of(pod *corev1.Pod, main string) (why string, stated bool) {
	if over(pod) {
		return "", false
	}
	if said, stated := pod.Annotations[Annotation]; stated {
		return cut(strings.Join(strings.Fields(said), " ")), true
	}
	return Why(pod, main), false
}

// over tells pods that wait for nothing any more.
func over(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.DeletionTimestamp != nil
}

// Why says what a pod waits for before it starts; empty when it has started, or is about to. The word of the container named
// main goes before that of others.
func Why(pod *corev1.Pod, main string) string {
	if over(pod) {
		return ""
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return cut(unscheduled(pod, c))
		}
	}
	for _, c := range pod.Status.InitContainerStatuses {
		if why := container(pod, c); why != "" {
			return cut(why)
		}
	}
	own := slices.Clone(pod.Status.ContainerStatuses)
	slices.SortStableFunc(own, func(a, b corev1.ContainerStatus) int {
		return cmp.Compare(btoi(b.Name == main), btoi(a.Name == main))
	})
	for _, c := range own {
		if c.RestartCount > 0 || c.LastTerminationState.Terminated != nil {
			continue // it has started, and will again
		}
		if why := container(pod, c); why != "" {
			return cut(why)
		}
	}
	return ""
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func cut(s string) string {
	if runes := []rune(s); len(runes) > longest {
		return strings.TrimSpace(string(runes[:longest])) + "…"
	}
	return s
}

// container says what a container waits for.
func container(pod *corev1.Pod, c corev1.ContainerStatus) string {
	w := c.State.Waiting
	if w == nil {
		return ""
	}
	message := strings.Join(strings.Fields(w.Message), " ")
	switch w.Reason {
	case "", "PodInitializing", "ContainerCreating":
		return missing(pod, volume(message))
	case "ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", "ImageInspectError":
		return image(c.Image, message)
	case "InvalidImageName":
		return fmt.Sprintf("%q is not the name of an image: correct it in the step", c.Image)
	case "ErrImageNeverPull":
		return fmt.Sprintf("image %s is not on the node and its pull policy is Never: load it there, or change the policy", c.Image)
	case "CreateContainerConfigError":
		return missing(pod, message)
	case "CrashLoopBackOff":
		return fmt.Sprintf("container %s keeps failing and is started again after a pause: see its log", c.Name)
	}
	return cmp.Or(message, w.Reason)
}

// missing adds to what was not found who can mend it.
func missing(pod *corev1.Pod, message string) string {
	gone := strings.HasSuffix(message, " not found") || strings.HasSuffix(message, " does not exist") || strings.HasPrefix(message, "couldn't find key ")
	if !gone {
		return message
	}
	return fmt.Sprintf("%s: create it in namespace %s, and the step goes on", message, pod.Namespace)
}

// volume leaves of a kubelet's word on a volume what is wrong with it.
func volume(message string) string {
	const before, after = "MountVolume.SetUp failed for volume ", " : "
	if rest, ok := strings.CutPrefix(message, before); ok {
		name, cause, ok := strings.Cut(rest, after)
		if ok && strings.HasSuffix(cause, " not found") { // the claim's or secret's own name is the better one
			return cause
		}
		if ok {
			return fmt.Sprintf("volume %s cannot be mounted: %s", strings.Trim(name, `"`), cause)
		}
	}
	return message
}

// image says why an image does not come. The reasons ErrImagePull and ImagePullBackOff take turns, with the same cause.
func image(name, message string) string {
	for _, before := range []string{"ErrImagePull: ", " desc = ", `": `} {
		if i := strings.LastIndex(message, before); i >= 0 {
			message = message[i+len(before):]
		}
	}
	name = strings.TrimSpace("image " + name)
	if message == "" || strings.HasPrefix(message, "Back-off pulling image") {
		return fmt.Sprintf("%s cannot be pulled yet: check its name and the registry; it is tried again", name)
	}
	return fmt.Sprintf("%s cannot be pulled: %s; it is tried again", name, strings.TrimSuffix(message, "."))
}
