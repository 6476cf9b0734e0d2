// Package pending says in one sentence why a pod has not started. Schedulers and kubelets report it in several places and repeat
// themselves; the launcher and the server show the same sentence.
package pending

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Annotation is set on a step's own pod to what its program waits for. The launcher updates it until its job runs, then empties it.
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

// Why returns what a pod waits for before it starts; empty if it has started or is about to. The reason of the container named main takes
// precedence.
func Why(pod *corev1.Pod, main string) string { return Judge(pod, main).Text }

// Judge says what a pod waits for, by its status alone.
func Judge(pod *corev1.Pod, main string) Verdict {
	if over(pod) {
		return Verdict{}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			v := unscheduled(pod, c)
			v.Since = c.LastTransitionTime.Time
			return v.cut()
		}
	}
	for _, c := range pod.Status.InitContainerStatuses {
		if v := container(pod, c); v.Text != "" {
			if v.Cause == CrashLoop {
				v.Cause = InitFailing
			}
			return v.cut()
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
		if v := container(pod, c); v.Text != "" {
			return v.cut()
		}
	}
	return Verdict{}
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
func container(pod *corev1.Pod, c corev1.ContainerStatus) Verdict {
	w := c.State.Waiting
	if w == nil {
		return Verdict{}
	}
	message := strings.Join(strings.Fields(w.Message), " ")
	switch w.Reason {
	case "", "PodInitializing", "ContainerCreating":
		if message == "" {
			return Verdict{}
		}
		return mount(pod, message)
	case "ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", "ImageInspectError":
		return image(c.Image, message)
	case "InvalidImageName":
		return Verdict{Cause: ImageName, Text: fmt.Sprintf("%q is not the name of an image: correct it in the step", c.Image)}
	case "ErrImageNeverPull":
		return Verdict{Cause: ImageNever, Text: fmt.Sprintf("image %s is not on the node and its pull policy is Never: load it there, or change the policy", c.Image)}
	case "CreateContainerConfigError":
		return Verdict{Cause: absent(message, ContainerConfig), Text: missing(pod, message)}
	case "CreateContainerError", "RunContainerError", "StartError", "PreCreateHookError", "PreStartHookError", "PostStartHookError":
		return Verdict{Cause: ContainerCreate, Text: cmp.Or(message, w.Reason)}
	case "CrashLoopBackOff":
		return Verdict{Cause: CrashLoop, Text: fmt.Sprintf("container %s keeps failing and is started again after a pause: see its log", c.Name)}
	}
	cause := ContainerWaiting
	if strings.HasPrefix(w.Reason, "OutOf") || w.Reason == "UnexpectedAdmissionError" {
		cause = NodeRefuses
	}
	return Verdict{Cause: cause, Text: cmp.Or(message, w.Reason)}
}

// mount says why a volume is not there on the node.
func mount(pod *corev1.Pod, message string) Verdict {
	text := volume(message)
	return Verdict{Cause: absent(text, VolumeMount), Text: missing(pod, text)}
}

// absent is the cause when something that a pod names was not found, or another cause.
func absent(message string, otherwise Cause) Cause {
	gone := isGone(message)
	switch {
	case strings.HasPrefix(message, "couldn't find key "), strings.Contains(message, "references non-existent secret key"), strings.Contains(message, "references non-existent config key"):
		return KeyMissing
	case gone && strings.Contains(message, "secret "):
		return SecretMissing
	case gone && strings.Contains(message, "configmap "):
		return ConfigMapMissing
	case gone && strings.Contains(message, "persistentvolumeclaim "):
		return ClaimMissing
	}
	return otherwise
}

func isGone(message string) bool {
	return strings.HasSuffix(message, " not found") || strings.HasSuffix(message, " does not exist") || strings.HasPrefix(message, "couldn't find key ")
}

// missing adds to what was not found who can mend it.
func missing(pod *corev1.Pod, message string) string {
	if !isGone(message) {
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
func image(name, message string) Verdict {
	cause := pull(message)
	for _, before := range []string{"ErrImagePull: ", " desc = ", `": `} {
		if i := strings.LastIndex(message, before); i >= 0 {
			message = message[i+len(before):]
		}
	}
	name = strings.TrimSpace("image " + name)
	if message == "" || strings.HasPrefix(message, "Back-off pulling image") {
		return Verdict{Cause: ImagePull, Text: fmt.Sprintf("%s cannot be pulled yet: check its name and the registry; it is tried again", name)}
	}
	return Verdict{Cause: cause, Text: fmt.Sprintf("%s cannot be pulled: %s; it is tried again", name, strings.TrimSuffix(message, "."))}
}

// pulls are the words of registries and runtimes, the surer before the vaguer.
var pulls = []struct {
	word  string
	cause Cause
}{
	{"toomanyrequests", ImageRateLimited},
	{"429 too many requests", ImageRateLimited},
	{"no match for platform", ImageWrongPlatform},
	{"no matching manifest for", ImageWrongPlatform},
	{"no such host", RegistryUnreachable},
	{"connection refused", RegistryUnreachable},
	{"i/o timeout", RegistryUnreachable},
	{"network is unreachable", RegistryUnreachable},
	{"deadline exceeded", RegistryUnreachable},
	{"x509:", RegistryUnreachable},
	{"tls handshake", RegistryUnreachable},
	{"unauthorized", ImageDenied},
	{"access denied", ImageDenied},
	{"authorization failed", ImageDenied},
	{"403 forbidden", ImageDenied},
	{"no basic auth credentials", ImageDenied},
	{": denied", ImageDenied},
	{"not found", ImageNotFound},
	{"manifest unknown", ImageNotFound},
	{"name unknown", ImageNotFound},
}

// pull is what kind of trouble a registry or runtime has.
func pull(message string) Cause {
	message = strings.ToLower(message)
	for _, p := range pulls {
		if strings.Contains(message, p.word) {
			return p.cause
		}
	}
	return ImagePull
}
