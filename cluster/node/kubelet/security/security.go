// Package security turns the security contexts of a pod and its containers into the rights that a container gets.
package security

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
)

// Container is a container whose rights are to be found.
type Container struct {
	Pod       *corev1.Pod
	Container *corev1.Container
	ImageUser string // USER of its image
	SingleID  bool   // there is one user id only
	Warn      func(reason, format string, args ...any)
}

// Apply sets the rights of a container in its spec.
func (c Container) Apply(spec *container.Spec) error {
	own, pod := podspec.SecurityContexts(c.Pod, c.Container)
	if err := c.identity(own, pod, &spec.Process); err != nil {
		return err
	}
	if s := own.SeccompProfile; s != nil && s.Type == corev1.SeccompProfileTypeLocalhost {
		return podspec.Unusable("seccomp profiles of type Localhost are not known to the embedded cluster: use RuntimeDefault or Unconfined")
	}
	if a := own.AppArmorProfile; a != nil && a.Type == corev1.AppArmorProfileTypeLocalhost {
		return podspec.Unusable("AppArmor profiles of type Localhost are not known to the embedded cluster: use RuntimeDefault or Unconfined")
	}
	spec.ReadOnlyRoot = podspec.IsTrue(own.ReadOnlyRootFilesystem)
	spec.NoNewPrivileges = own.AllowPrivilegeEscalation != nil && !*own.AllowPrivilegeEscalation
	spec.Privileged = podspec.IsTrue(own.Privileged)
	spec.Seccomp = !spec.Privileged && own.SeccompProfile != nil && own.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault
	spec.UnmaskedProc = spec.Privileged || own.ProcMount != nil && *own.ProcMount == corev1.UnmaskedProcMount
	if spec.Privileged {
		c.Warn("PrivilegedIsLimited", "Container %s is privileged in the node's sandbox only: it has every capability there but CAP_NET_ADMIN, and sees neither the "+
			"machine's devices (but for accelerators) nor its network", c.Container.Name)
	}
	var add, drop []string
	if own.Capabilities != nil {
		add, drop = names(own.Capabilities.Add), names(own.Capabilities.Drop)
	}
	if spec.Privileged {
		add, drop = []string{"ALL"}, nil
	}
	for _, w := range c.withheld() {
		add, drop = c.withhold(w, spec.Privileged, add, drop)
	}
	// With shared processes, the other rights of a privileged container would let it trace the others.
	spec.Privileged = spec.Privileged && !podspec.IsTrue(c.Pod.Spec.ShareProcessNamespace)
	var err error
	if spec.Capabilities, err = container.Capabilities(add, drop); err != nil {
		return podspec.Unusable("%v", err)
	}
	return nil
}

// withheld is a capability that reaches beyond the pod. No container gets it.
type withheld struct{ name, reason, why string }

func (c Container) withheld() []withheld {
	// Every network namespace of the sandbox belongs to its user namespace, and a link between two of them names the other one
	// (IFLA_LINK_NETNSID): with this capability a pod makes links to other pods' interfaces and reads along.
	list := []withheld{{"NET_ADMIN", "NetAdminRefused", "it would hold for the networks of all pods"}}
	if c.Pod.Spec.HostNetwork {
		list = append(list, withheld{"NET_RAW", "RawSocketsRefused", "it would show what other pods with hostNetwork send"})
	}
	if podspec.IsTrue(c.Pod.Spec.ShareProcessNamespace) {
		// The process that sets up another container has all capabilities and sees the machine's files, and the container could trace it.
		const why = "its processes are shared with other containers; it can trace what runs as the same user with the same capabilities"
		list = append(list, withheld{"SYS_PTRACE", "TracingRefused", why})
	}
	return list
}

// withhold removes a capability from those that a container asks for. It warns if the container asks for it by name or is privileged.
func (c Container) withhold(w withheld, privileged bool, add, drop []string) (added, dropped []string) {
	asked := privileged
	added = slices.DeleteFunc(add, func(name string) bool {
		is := strings.TrimPrefix(strings.ToUpper(name), "CAP_") == w.name
		asked = asked || is
		return is
	})
	if asked {
		c.Warn(w.reason, "Container %s does not get CAP_%s: %s", c.Container.Name, w.name, w.why)
	}
	return added, append(drop, w.name)
}

func names(list []corev1.Capability) (out []string) {
	for _, name := range list {
		out = append(out, string(name))
	}
	return out
}

// identity sets the user and the groups of a container.
func (c Container) identity(own corev1.SecurityContext, pod corev1.PodSecurityContext, proc *container.Process) error {
	imageUser := ""
	if own.RunAsUser == nil {
		imageUser = c.ImageUser
	}
	if podspec.IsTrue(own.RunAsNonRoot) {
		if err := c.checkNonRoot(own.RunAsUser, imageUser); err != nil {
			return err
		}
	}
	groups := slices.Clone(pod.SupplementalGroups)
	if pod.FSGroup != nil {
		groups = append(groups, *pod.FSGroup)
	}
	if isRoot(imageUser) {
		imageUser = ""
	}
	if own.RunAsUser == nil && own.RunAsGroup == nil && len(groups) == 0 && imageUser == "" {
		return nil
	}
	if c.SingleID {
		c.Warn("RunAsUserIgnored",
			"Container %s runs as root of its own: this machine gives the cluster one user id only (ranges in /etc/subuid and /etc/subgid would help)", c.Container.Name)
		return nil
	}
	user := &container.User{Merge: pod.SupplementalGroupsPolicy == nil || *pod.SupplementalGroupsPolicy == corev1.SupplementalGroupsPolicyMerge}
	user.Name = imageUser
	if own.RunAsUser != nil {
		user.UID = uint32(*own.RunAsUser)
	}
	if own.RunAsGroup != nil {
		gid := uint32(*own.RunAsGroup)
		user.GID = &gid
	}
	for _, g := range groups {
		user.Groups = append(user.Groups, uint32(g))
	}
	proc.User = user
	return nil
}

// checkNonRoot refuses a container that must not run as root but would, or could. The user of the image counts if the pod sets none.
func (c Container) checkNonRoot(user *int64, imageUser string) error {
	who := fmt.Sprintf("(pod: %q, container: %s)", fmt.Sprintf("%s_%s(%s)", c.Pod.Name, c.Pod.Namespace, c.Pod.UID), c.Container.Name)
	if user != nil {
		if *user == 0 {
			return podspec.Unusable("container's runAsUser breaks non-root policy %s", who)
		}
		return nil
	}
	name, _, _ := strings.Cut(imageUser, ":")
	uid, err := strconv.ParseUint(name, 10, 32)
	switch {
	case name == "" || err == nil && uid == 0:
		return podspec.Unusable("container has runAsNonRoot and image will run as root %s", who)
	case err != nil:
		return podspec.Unusable("container has runAsNonRoot and image has non-numeric user (%s), cannot verify user is non-root %s", name, who)
	}
	return nil
}

// isRoot says whether an image's USER is root, which is the default.
func isRoot(user string) bool {
	return slices.Contains([]string{"0", "root", "0:0", "root:root"}, user)
}
