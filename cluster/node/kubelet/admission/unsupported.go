package admission

import (
	"fmt"
	"runtime"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/net/podnet"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
)

// unsupportedField is a field of a pod's spec that the kubelet ignores or carries out only in part. The pod gets an event about it, so
// that its author need not search for the cause.
type unsupportedField struct {
	field  string // type and field of k8s.io/api/core/v1
	reason string // of the event
	// These return the event's message, or "" for a pod or a container that does not use the field. One of them is set.
	ofPod       func(*corev1.Pod) string
	ofContainer func(*corev1.Pod, *corev1.Container) string
}

var unsupportedFields = []unsupportedField{
	{field: "PodSpec.HostPID", reason: "HostNamespacesIgnored", ofPod: func(o *corev1.Pod) string {
		return when(o.Spec.HostPID, "The pod has processes of its own: hostPID would show it all other pods and the kubelet")
	}},
	{field: "PodSpec.HostIPC", reason: "HostNamespacesIgnored", ofPod: func(o *corev1.Pod) string {
		return when(o.Spec.HostIPC, "The pod has shared memory of its own: hostIPC would show it all other pods'")
	}},
	{field: "PodSpec.HostNetwork", reason: "HostNetworkIsLimited", ofPod: func(o *corev1.Pod) string {
		return when(o.Spec.HostNetwork, "The pod has the network that all pods with hostNetwork share, not this machine's, and no CAP_NET_RAW there: other pods reach its ports at %s, the machine only by kubectl port-forward", podnet.Node)
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
		own, _ := podspec.SecurityContexts(o, c)
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

// when formats a message if the condition holds.
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

// warning is an event about a field that is not carried out.
type Warning struct{ Reason, Message string }

// warnings returns a warning for each part of a pod's spec that the kubelet ignores, or carries out in another way.
func Warnings(o *corev1.Pod) (all []Warning) {
	add := func(f unsupportedField, message string) {
		if message != "" {
			all = append(all, Warning{f.reason, message})
		}
	}
	for _, f := range unsupportedFields {
		if f.ofPod != nil {
			add(f, f.ofPod(o))
			continue
		}
		for _, list := range [][]corev1.Container{o.Spec.InitContainers, o.Spec.Containers} {
			for i := range list {
				add(f, f.ofContainer(o, &list[i]))
			}
		}
	}
	return all
}

// refuse returns an error for a pod that cannot run without something that the embedded cluster does not have.
func Refuse(o *corev1.Pod) error {
	s := &o.Spec
	switch {
	case s.OS != nil && s.OS.Name != "" && string(s.OS.Name) != runtime.GOOS:
		return &podspec.RefusedError{Reason: "PodOSNotSupported", Message: "Failed to admit pod as the OS field doesn't match node OS"}
	case len(s.ResourceClaims) > 0:
		return &podspec.RefusedError{Reason: "ResourceClaimsNotSupported", Message: "The embedded cluster has no resource claims: ask for devices as resources, " + string(GPU) + " for instance"}
	}
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			if len(list[i].VolumeDevices) > 0 {
				return &podspec.RefusedError{
					Reason:  "BlockVolumesNotSupported",
					Message: fmt.Sprintf("Container %s: the embedded cluster has no block volumes: mount the claim as a folder (volumeMounts, volumeMode Filesystem)", list[i].Name),
				}
			}
		}
	}
	return nil
}
