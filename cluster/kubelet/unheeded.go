package kubelet

import (
	"fmt"
	"runtime"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// unheeded is a part of a pod's description that is not carried out as it says, or not at all. A pod that has it is told so
// by an event: nobody is to look for a cause in silence.
type unheeded struct {
	field  string // a type of k8s.io/api/core/v1 and its field
	reason string
	// of says what is unheeded of a pod, or of one of its containers; "" where it is not used.
	ofPod       func(*corev1.Pod) string
	ofContainer func(*corev1.Pod, *corev1.Container) string
}

var unheededFields = []unheeded{
	{field: "PodSpec.HostPID", reason: "HostNamespacesIgnored", ofPod: func(o *corev1.Pod) string {
		return when(o.Spec.HostPID, "The pod has processes of its own: hostPID would show it all other pods and the kubelet")
	}},
	{field: "PodSpec.HostIPC", reason: "HostNamespacesIgnored", ofPod: func(o *corev1.Pod) string {
		return when(o.Spec.HostIPC, "The pod has shared memory of its own: hostIPC would show it all other pods'")
	}},
	{field: "PodSpec.HostNetwork", reason: "HostNetworkIsLimited", ofPod: func(o *corev1.Pod) string {
		return when(o.Spec.HostNetwork, "The pod has the network of the node's sandbox, not this machine's: other pods reach its ports at %s, the machine only by kubectl port-forward", hostIP)
	}},
	{field: "PodSpec.HostUsers", reason: "UserNamespaceIgnored", ofPod: func(o *corev1.Pod) string {
		return when(o.Spec.HostUsers != nil && !*o.Spec.HostUsers, "The pod shares the user ids of the node's sandbox with other pods: hostUsers: false gives it none of its own here")
	}},
	{field: "PodSpec.RuntimeClassName", reason: "RuntimeClassIgnored", ofPod: func(o *corev1.Pod) string {
		name := o.Spec.RuntimeClassName
		return when(name != nil && *name != "", "The embedded cluster runs all pods the same way: runtimeClassName %s changes nothing", deref(name))
	}},
	{field: "PodSpec.Resources", reason: "PodLimitsIgnored", ofPod: func(o *corev1.Pod) string {
		return when(o.Spec.Resources != nil && len(o.Spec.Resources.Limits) > 0, "The limits of the pod as a whole count where it is placed, and bound nothing: set limits of its containers")
	}},
	{field: "PodSecurityContext.SELinuxOptions", reason: "SELinuxIgnored", ofPod: func(o *corev1.Pod) string {
		s := o.Spec.SecurityContext
		return when(s != nil && s.SELinuxOptions != nil, noSELinux)
	}},
	{field: "SecurityContext.SELinuxOptions", reason: "SELinuxIgnored", ofContainer: func(_ *corev1.Pod, c *corev1.Container) string {
		return when(c.SecurityContext != nil && c.SecurityContext.SELinuxOptions != nil, noSELinux)
	}},
	{field: "SecurityContext.AppArmorProfile", reason: "AppArmorIgnored", ofContainer: func(o *corev1.Pod, c *corev1.Container) string {
		own, _ := contextsOf(o, c)
		return when(own.AppArmorProfile != nil && own.AppArmorProfile.Type == corev1.AppArmorProfileTypeRuntimeDefault,
			"Container %s has no AppArmor profile: the embedded cluster loads none", c.Name)
	}},
	{field: "ContainerPort.HostPort", reason: "HostPortIgnored", ofContainer: func(o *corev1.Pod, c *corev1.Container) string {
		i := slices.IndexFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort != 0 })
		if i < 0 || o.Spec.HostNetwork {
			return ""
		}
		return fmt.Sprintf("Container %s: nothing listens on hostPort %d: reach the pod with kubectl port-forward, and from pods by a Service", c.Name, c.Ports[i].HostPort)
	}},
	{field: "VolumeMount.MountPropagation", reason: "MountPropagationIgnored", ofContainer: func(_ *corev1.Pod, c *corev1.Container) string {
		i := slices.IndexFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
			return m.MountPropagation != nil && *m.MountPropagation != corev1.MountPropagationNone
		})
		if i < 0 {
			return ""
		}
		return fmt.Sprintf("Container %s: what is mounted below %s while it runs is not seen on the other side: mount propagation is always None here",
			c.Name, c.VolumeMounts[i].MountPath)
	}},
}

const noSELinux = "SELinux options are not applied: the embedded cluster labels nothing"

// when formats the text where the condition holds.
func when(holds bool, format string, args ...any) string {
	if !holds {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// tellUnheeded tells of what of the pod is not carried out.
func (p *pod) tellUnheeded() {
	for _, u := range unheededFields {
		if u.ofPod != nil {
			p.tellOfUse(u, u.ofPod(p.obj))
			continue
		}
		for _, list := range [][]corev1.Container{p.obj.Spec.InitContainers, p.obj.Spec.Containers} {
			for i := range list {
				p.tellOfUse(u, u.ofContainer(p.obj, &list[i]))
			}
		}
	}
}

func (p *pod) tellOfUse(u unheeded, text string) {
	if text != "" {
		p.warnOnce(u.reason, "%s", text)
	}
}

// refuse fails a pod that cannot be what it is without something that the embedded cluster does not have.
func (p *pod) refuse() error {
	s := &p.obj.Spec
	switch {
	case s.OS != nil && s.OS.Name != "" && string(s.OS.Name) != runtime.GOOS:
		return p.refuseFor("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS")
	case len(s.ResourceClaims) > 0:
		return p.refuseFor("ResourceClaimsNotSupported", "The embedded cluster has no resource claims: ask for devices as resources, "+string(gpuResource)+" for instance")
	}
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			if len(list[i].VolumeDevices) > 0 {
				return p.refuseFor("BlockVolumesNotSupported",
					fmt.Sprintf("Container %s: the embedded cluster has no block volumes: mount the claim as a folder (volumeMounts, volumeMode Filesystem)", list[i].Name))
			}
		}
	}
	return nil
}

func (p *pod) refuseFor(reason, message string) error {
	p.event(corev1.EventTypeWarning, reason, "%s", message)
	return p.fail(reason, message)
}
