package kubelet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/container"
)

// contextsOf are the security contexts of a container and of its pod, empty where there is none.
func contextsOf(obj *corev1.Pod, c *corev1.Container) (own corev1.SecurityContext, pod corev1.PodSecurityContext) {
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

// secure applies what the security contexts say.
func (p *pod) secure(c *corev1.Container, spec *container.Spec) error {
	own, pod := contextsOf(p.obj, c)
	if err := p.identity(c, own, pod, &spec.Process); err != nil {
		return err
	}
	if s := own.SeccompProfile; s != nil && s.Type == corev1.SeccompProfileTypeLocalhost {
		return unusable("seccomp profiles of type Localhost are not known to the embedded cluster: use RuntimeDefault or Unconfined")
	}
	if a := own.AppArmorProfile; a != nil && a.Type == corev1.AppArmorProfileTypeLocalhost {
		return unusable("AppArmor profiles of type Localhost are not known to the embedded cluster: use RuntimeDefault or Unconfined")
	}
	spec.ReadOnlyRoot = isTrue(own.ReadOnlyRootFilesystem)
	spec.NoNewPrivileges = own.AllowPrivilegeEscalation != nil && !*own.AllowPrivilegeEscalation
	spec.Privileged = isTrue(own.Privileged)
	spec.Seccomp = !spec.Privileged && own.SeccompProfile != nil && own.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault
	spec.UnmaskedProc = spec.Privileged || own.ProcMount != nil && *own.ProcMount == corev1.UnmaskedProcMount
	if spec.Privileged {
		p.warnOnce("PrivilegedIsLimited", "Container %s is privileged in the node's sandbox only: it has every capability there, but sees neither the "+
			"machine's devices (but for accelerators) nor its network", c.Name)
	}
	var add, drop []string
	if own.Capabilities != nil {
		add, drop = names(own.Capabilities.Add), names(own.Capabilities.Drop)
	}
	if isTrue(p.obj.Spec.ShareProcessNamespace) {
		// Who may look into every process of the pod could look into one that is still on its way into a container.
		drop = append(drop, "SYS_PTRACE")
	}
	var err error
	if spec.Capabilities, err = container.Capabilities(add, drop); err != nil {
		return unusable("%v", err)
	}
	return nil
}

func names(list []corev1.Capability) (out []string) {
	for _, c := range list {
		out = append(out, string(c))
	}
	return out
}

func isTrue(b *bool) bool { return b != nil && *b }

// identity finds the user and groups of a container.
func (p *pod) identity(c *corev1.Container, own corev1.SecurityContext, pod corev1.PodSecurityContext, proc *container.Process) error {
	imageUser := ""
	if img := p.imageOf(c.Name); img != nil && own.RunAsUser == nil {
		imageUser = img.config.User
	}
	if isTrue(own.RunAsNonRoot) {
		if err := p.checkNonRoot(c, own.RunAsUser, imageUser); err != nil {
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
	if own.RunAsUser == nil && own.RunAsGroup == nil && len(groups) == 0 && imageUser == "" || programOf(c.Image) == "argoexec" {
		return nil // Argo's executor moves files of every user about, and on this machine it is trusted
	}
	if p.k.base.single {
		p.warnOnce("RunAsUserIgnored",
			"Container %s runs as root of its own: this machine gives the cluster one user id only (ranges in /etc/subuid and /etc/subgid would help)", c.Name)
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

// checkNonRoot refuses a container that is not to run as root, and would or might. What the image says counts where the pod says nothing.
func (p *pod) checkNonRoot(c *corev1.Container, user *int64, imageUser string) error {
	who := fmt.Sprintf("(pod: %q, container: %s)", fmt.Sprintf("%s_%s(%s)", p.obj.Name, p.obj.Namespace, p.obj.UID), c.Name)
	if user != nil {
		if *user == 0 {
			return unusable("container's runAsUser breaks non-root policy %s", who)
		}
		return nil
	}
	name, _, _ := strings.Cut(imageUser, ":")
	uid, err := strconv.ParseUint(name, 10, 32)
	switch {
	case name == "" || err == nil && uid == 0:
		return unusable("container has runAsNonRoot and image will run as root %s", who)
	case err != nil:
		return unusable("container has runAsNonRoot and image has non-numeric user (%s), cannot verify user is non-root %s", name, who)
	}
	return nil
}

// isRoot says whether an image's USER is what a container runs as anyway.
func isRoot(user string) bool {
	return slices.Contains([]string{"0", "root", "0:0", "root:root"}, user)
}

// unusableError says that a container cannot be made as it is described. Like Kubernetes, the kubelet waits for what
// would change that.
type unusableError struct{ what string }

func (e *unusableError) Error() string { return e.what }

func unusable(format string, args ...any) error { return &unusableError{fmt.Sprintf(format, args...)} }
