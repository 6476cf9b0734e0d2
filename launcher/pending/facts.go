package pending

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// noticed is how long schedulers and kubelets take at most until they say something of a pod.
const noticed = 15 * time.Second

// Facts are all that the cluster tells of a pod that waits: more than its own status.
type Facts struct {
	Pod    *corev1.Pod
	Main   string         // the container whose word goes first
	Events []corev1.Event // of the pod and of its claims
	Ready  bool           // the node that it has is ready, as far as is known
	Now    time.Time
}

var (
	runtimeHandler = regexp.MustCompile(`(?:RuntimeHandler|no runtime for) "([^"]+)"`)
	multiAttach    = regexp.MustCompile(`Multi-Attach error for volume "([^"]+)"`)
	classMissing   = regexp.MustCompile(`storageclass\.storage\.k8s\.io "([^"]+)" not found`)
	attachFailed   = regexp.MustCompile(`AttachVolume\.Attach failed for volume "([^"]+)" ?: (.*)`)
)

// Judge says what the pod waits for; the zero verdict when it waits for nothing.
func (f Facts) Judge() Verdict {
	if over(f.Pod) || f.Pod.Status.Phase == corev1.PodRunning {
		return Verdict{}
	}
	v := Judge(f.Pod, f.Main)
	switch v.Cause {
	case "":
		v = f.more()
	case ClaimUnbound, NoVolume:
		if more := f.claim(); more.Cause != "" {
			more.Since = v.Since
			v = more
		}
	}
	if v.Cause != "" && v.Since.IsZero() {
		v.Since = f.Pod.CreationTimestamp.Time
	}
	return v.cut()
}

// more judges by what the pod's status does not tell.
func (f Facts) more() Verdict {
	p, age := f.Pod, f.Now.Sub(f.Pod.CreationTimestamp.Time)
	if p.Spec.NodeName == "" && len(p.Spec.SchedulingGates) > 0 {
		return Verdict{} // the server's own
	}
	events := f.of("Pod")
	if p.Spec.NodeName == "" {
		if e := last(events, "FailedScheduling"); e != nil {
			return unscheduled(p, corev1.PodCondition{Message: e.Message})
		}
		if len(events) == 0 && age > noticed {
			name := p.Spec.SchedulerName
			if name == "" {
				name = corev1.DefaultSchedulerName
			}
			return Verdict{Cause: SchedulerMissing, Text: fmt.Sprintf("no scheduler looks for a node: is the scheduler %s installed and running?", name)}
		}
		return Verdict{Cause: Starting, Text: "it is about to be placed"}
	}
	for _, e := range slices.Backward(events) { // the newest word counts
		if v := told(p, e); v.Cause != "" {
			return v
		}
		if e.Reason == "Pulled" || e.Reason == "Started" || e.Reason == "Created" || e.Reason == "SuccessfulAttachVolume" {
			break
		}
	}
	for _, c := range p.Status.InitContainerStatuses {
		if c.State.Running != nil && (c.Started == nil || !*c.Started || !sidecar(p, c.Name)) {
			return Verdict{Cause: InitRunning, Text: fmt.Sprintf("its init container %s is at work", c.Name), Since: c.State.Running.StartedAt.Time}
		}
	}
	if !f.Ready {
		return Verdict{Cause: NodeNotReady, Text: fmt.Sprintf("its node %s is not ready", p.Spec.NodeName)}
	}
	if len(p.Status.ContainerStatuses) == 0 && age > noticed && last(events, "Pulling") == nil {
		return Verdict{Cause: NodeSilent, Text: fmt.Sprintf("its node %s has not taken it up: does the kubelet there run?", p.Spec.NodeName)}
	}
	return Verdict{Cause: Starting, Text: "it is starting"}
}

// told reads an event of a pod that has a node.
func told(p *corev1.Pod, e corev1.Event) Verdict {
	message := strings.Join(strings.Fields(e.Message), " ")
	switch e.Reason {
	case "FailedAttachVolume":
		if m := multiAttach.FindStringSubmatch(message); m != nil {
			return Verdict{Cause: ClaimInUse, Text: fmt.Sprintf("volume %s is in use on another node: it can be on one alone", m[1])}
		}
		if m := attachFailed.FindStringSubmatch(message); m != nil {
			return Verdict{Cause: VolumeAttach, Text: fmt.Sprintf("volume %s cannot be attached: %s", m[1], m[2])}
		}
		return Verdict{Cause: VolumeAttach, Text: message}
	case "FailedMount", "FailedMapVolume":
		return mount(p, message)
	case "FailedCreatePodSandBox", "FailedCreatePodSandbox", "NetworkNotReady":
		if m := runtimeHandler.FindStringSubmatch(message); m != nil {
			return Verdict{Cause: RuntimeClass, Text: fmt.Sprintf("its node has no runtime %s, which its RuntimeClass asks for", m[1])}
		}
		return Verdict{Cause: Sandbox, Text: "its node cannot set up its network: " + message}
	case "Pulling":
		_, image, _ := strings.Cut(message, `"`)
		return Verdict{Cause: ImagePulling, Text: fmt.Sprintf("image %s is being pulled", strings.Trim(image, `"`)), Since: lastOf(e)}
	case "FailedCreate":
		return Refused(message)
	}
	return Verdict{}
}

// claim says why a claim of the pod has no volume.
func (f Facts) claim() Verdict {
	for _, e := range slices.Backward(f.of("PersistentVolumeClaim")) {
		name, message := e.InvolvedObject.Name, strings.Join(strings.Fields(e.Message), " ")
		switch e.Reason {
		case "ProvisioningFailed":
			if m := classMissing.FindStringSubmatch(message); m != nil {
				return Verdict{Cause: StorageClassMissing, Text: fmt.Sprintf("claim %s asks for the storage class %s, which is not there: create it, or name another", name, m[1])}
			}
			return Verdict{Cause: VolumeProvisioning, Text: fmt.Sprintf("no volume can be made for claim %s: %s", name, message)}
		case "FailedBinding":
			return Verdict{Cause: NoVolume, Text: fmt.Sprintf("claim %s has no volume: %s", name, message)}
		case "ExternalProvisioning", "Provisioning":
			return Verdict{Cause: VolumeProvisioning, Text: fmt.Sprintf("a volume is being made for claim %s", name)}
		}
	}
	return Verdict{}
}

// of gives the events of objects of a kind, the oldest first.
func (f Facts) of(kind string) []corev1.Event {
	return byTime(slices.DeleteFunc(slices.Clone(f.Events), func(e corev1.Event) bool { return e.InvolvedObject.Kind != kind }))
}

func last(events []corev1.Event, reason string) *corev1.Event {
	for i, e := range slices.Backward(events) {
		if e.Reason == reason {
			return &events[i]
		}
	}
	return nil
}

func sidecar(p *corev1.Pod, name string) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}
