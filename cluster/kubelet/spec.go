package kubelet

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/container"
	"github.com/argosy-ml/argosy/cluster/podnet"
)

// etcFolder is where a container finds the files that change while it runs. A
// link leads there, and not a mount of the file itself: a file can then be
// replaced at one stroke, and no reader ever sees half of it.
const etcFolder = "/run/argosy"

var gatewayAddr = podnet.Gateway

// containerSpec describes a container to argosy-podinit.
func (p *pod) containerSpec(c *corev1.Container) (*container.Spec, error) {
	env, err := p.environmentOf(c)
	if err != nil {
		return nil, err
	}
	base := p.k.base
	spec := &container.Spec{
		Process: container.Process{Env: env.list(), Dir: env.expand(c.WorkingDir), FakeOwners: base.single},
		Scratch: p.path("containers", c.Name),
		Layers:  base.layers,
		Hidden:  base.hidden,
		Private: []string{sshFolder},
		Files:   slices.Concat(base.files, p.ownFiles()),
		Shm:     p.path("shm"),
	}
	if err := p.command(c, env, spec); err != nil {
		return nil, err
	}
	p.identity(c, &spec.Process)
	if spec.Mounts, err = p.mounts(c, env); err != nil {
		return nil, err
	}
	return spec, nil
}

// command finds what the container runs.
func (p *pod) command(c *corev1.Container, env environment, spec *container.Spec) error {
	for _, a := range slices.Concat(c.Command, c.Args) {
		spec.Args = append(spec.Args, env.expand(a))
	}
	program := programOf(c.Image)
	if len(c.Command) == 0 && program != "" {
		spec.Args = slices.Insert(spec.Args, 0, program)
	}
	if len(c.Command) == 0 && program == "" {
		return fmt.Errorf("container %s has no command: every image stands for this machine, which has no entry point; set `command`", c.Name)
	}
	if p.argo.plainEmissary(c) {
		// What Argo wraps around the command is played by argosy-podinit itself.
		spec.Args[0], spec.SelfExec = "argosy-podinit", true
	}
	return nil
}

// identity applies what the security contexts say about users and privilege.
func (p *pod) identity(c *corev1.Container, proc *container.Process) {
	pod, own := p.obj.Spec.SecurityContext, c.SecurityContext
	if pod == nil {
		pod = &corev1.PodSecurityContext{}
	}
	if own == nil {
		own = &corev1.SecurityContext{}
	}
	proc.Privileged = own.Privileged != nil && *own.Privileged
	uid, gid := pod.RunAsUser, pod.RunAsGroup
	if own.RunAsUser != nil {
		uid = own.RunAsUser
	}
	if own.RunAsGroup != nil {
		gid = own.RunAsGroup
	}
	if uid == nil && gid == nil || programOf(c.Image) == "argoexec" {
		return // Argo's executor moves files of every user about, and on this machine it is trusted
	}
	if p.k.base.single {
		p.event(corev1.EventTypeWarning, "RunAsUserIgnored",
			"Container %s runs as root of its own: this machine gives the cluster one user id only (ranges in /etc/subuid and /etc/subgid would help)", c.Name)
		return
	}
	user := &container.User{}
	if uid != nil {
		user.UID = uint32(*uid)
	}
	if gid != nil {
		user.GID = uint32(*gid)
	}
	for _, g := range pod.SupplementalGroups {
		user.Groups = append(user.Groups, uint32(g))
	}
	if pod.FSGroup != nil {
		user.Groups = append(user.Groups, uint32(*pod.FSGroup))
	}
	proc.User = user
}

// ownFiles are the files of the pod in its containers' /etc.
func (p *pod) ownFiles() []container.File {
	return []container.File{
		{Path: "/etc/hosts", Link: etcFolder + "/hosts"},
		{Path: "/etc/hostname", Mode: 0o644, Data: []byte(hostnameOf(p.obj) + "\n")},
		{Path: "/etc/resolv.conf", Mode: 0o644, Data: p.resolvConf()},
	}
}

// resolvConf names the gateway, where nobody answers: a name that is not in the
// hosts file is refused at once.
func (p *pod) resolvConf() []byte {
	ns := p.obj.Namespace
	search := []string{ns + ".svc.cluster.local", "svc.cluster.local", "cluster.local"}
	options := []string{"ndots:5"}
	if d := p.obj.Spec.DNSConfig; d != nil {
		search = append(search, d.Searches...)
		for _, o := range d.Options {
			if o.Value != nil {
				options = append(options, o.Name+":"+*o.Value)
			} else {
				options = append(options, o.Name)
			}
		}
	}
	return fmt.Appendf(nil, "nameserver %s\nsearch %s\noptions %s\n", gatewayAddr, strings.Join(search, " "), strings.Join(options, " "))
}

// mounts are the volumes of a container and what every container is given.
func (p *pod) mounts(c *corev1.Container, env environment) ([]container.Mount, error) {
	mounts := []container.Mount{{Source: p.path("etc"), Target: etcFolder}}
	for _, shared := range both(filepath.Join(p.k.cfg.Home, "shared")) {
		mounts = append(mounts, container.Mount{Source: shared, Target: shared, ReadOnly: true, Optional: true})
	}
	if program := programOf(c.Image); program != "" {
		mounts = append(mounts, container.Mount{Source: p.k.helper(program), Target: bundled[program], ReadOnly: true})
	}
	for _, m := range c.VolumeMounts {
		mount, err := p.volumeMount(m, env)
		if err != nil {
			return nil, err
		}
		mounts = append(mounts, mount)
	}
	mounts = append(mounts, p.argo.mounts(p)...)
	if c.TerminationMessagePath != "" {
		file := p.messagePath(c.Name)
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			return nil, err
		}
		if err := os.Chmod(file, 0o666); err != nil {
			return nil, err
		}
		mounts = append(mounts, container.Mount{Source: file, Target: c.TerminationMessagePath})
	}
	return mounts, nil
}

func (p *pod) volumeMount(m corev1.VolumeMount, env environment) (container.Mount, error) {
	source, ok := p.volumes[m.Name]
	if !ok {
		return container.Mount{}, fmt.Errorf("volume %q is mounted but not defined", m.Name)
	}
	sub := m.SubPath
	if m.SubPathExpr != "" {
		sub = env.expand(m.SubPathExpr)
	}
	if sub != "" {
		source = subPath(source, sub)
		if _, err := os.Stat(source); err != nil {
			if err := makeFolder(source, 0o777); err != nil {
				return container.Mount{}, fmt.Errorf("subPath of volume %q: %w", m.Name, err)
			}
		}
	}
	return container.Mount{Source: source, Target: filepath.Clean("/" + m.MountPath), ReadOnly: m.ReadOnly || p.isProjected(m.Name)}, nil
}

// isProjected says whether a volume is made from objects of the API; those are never written by pods.
func (p *pod) isProjected(name string) bool {
	return slices.ContainsFunc(p.obj.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Name == name && (v.ConfigMap != nil || v.Secret != nil || v.Projected != nil || v.DownwardAPI != nil)
	})
}

func (p *pod) messagePath(container string) string { return p.path("messages", container) }

// Limits of a termination message.
const (
	maxMessage         = 4096
	maxFallback        = 2048
	maxFallbackLines   = 80
	terminationLogHint = corev1.TerminationMessageFallbackToLogsOnError
)

// terminationMessage is what a container left to say.
func (p *pod) terminationMessage(c *corev1.Container, restarts int32, proc *process) string {
	if c.TerminationMessagePath != "" {
		b, err := os.ReadFile(p.messagePath(c.Name))
		if err != nil {
			p.log.Warn("termination message not read", "container", c.Name, "err", err)
		}
		if len(b) > 0 {
			return string(b[:min(len(b), maxMessage)])
		}
	}
	if proc.code == 0 || c.TerminationMessagePolicy != terminationLogHint {
		return ""
	}
	tail, err := tailOf(p.logPath(c.Name, restarts), maxFallbackLines, maxFallback)
	if err != nil {
		p.log.Warn("log not read", "container", c.Name, "err", err)
	}
	return tail
}
