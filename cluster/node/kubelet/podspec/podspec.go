// Package podspec answers questions about a pod's spec, and holds the errors for specs that cannot be carried out.
package podspec

import (
	"cmp"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// findContainer returns the container with that name, or nil.
func FindContainer(list []corev1.Container, name string) *corev1.Container {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// isSidecar says whether an init container runs beside the main containers.
func IsSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// contextsOf returns the security contexts of a container and of its pod. The container inherits what only the pod sets.
func SecurityContexts(obj *corev1.Pod, c *corev1.Container) (own corev1.SecurityContext, pod corev1.PodSecurityContext) {
	if obj.Spec.SecurityContext != nil {
		pod = *obj.Spec.SecurityContext
	}
	if c.SecurityContext != nil {
		own = *c.SecurityContext
	}
	if own.RunAsUser == nil {
		own.RunAsUser = pod.RunAsUser
	}
	if own.RunAsGroup == nil {
		own.RunAsGroup = pod.RunAsGroup
	}
	if own.RunAsNonRoot == nil {
		own.RunAsNonRoot = pod.RunAsNonRoot
	}
	if own.SeccompProfile == nil {
		own.SeccompProfile = pod.SeccompProfile
	}
	if own.AppArmorProfile == nil {
		own.AppArmorProfile = pod.AppArmorProfile
	}
	return own, pod
}

// isTrue says whether an optional field is set to true.
func IsTrue(b *bool) bool { return b != nil && *b }

// bundled maps the last part of an image's name to the place of its program in a container. These programs come with argosy-cluster.
var Programs = map[string]string{
	"argosy-launcher": "/usr/local/bin/argosy-launcher",
	"argoexec":        "/usr/local/bin/argoexec",
}

// programOf returns the bundled program that an image stands for, or "".
func Program(image string) string {
	name := path.Base(image)
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	if _, ok := Programs[name]; ok {
		return name
	}
	return ""
}

// accountOf returns the name of a pod's service account.
func ServiceAccount(pod *corev1.Pod) string { return cmp.Or(pod.Spec.ServiceAccountName, "default") }

// finished says whether a pod has succeeded or failed.
func Finished(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}
