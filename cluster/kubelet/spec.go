package kubelet

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/container"
	"github.com/argosy-ml/argosy/cluster/emissary"
)

// etcFolder is where a container finds the files that change while it runs. A
// link leads there, and not a mount of the file itself: a file can then be
// replaced at one stroke, and no reader ever sees half of it.
const etcFolder = "/run/argosy"

// containerSpec describes a container to argosy-podinit.
func (p *pod) containerSpec(c *corev1.Container) (*container.Spec, error) {
	env, err := p.environmentOf(c)
	if err != nil {
		return nil, err
	}
	spec := p.k.base.spec
	spec.Process = container.Process{Env: env.list(), Dir: env.expand(c.WorkingDir), FakeOwners: p.k.base.single}
	spec.Scratch, spec.Shm, spec.Devices = p.path("containers", c.Name), p.path(shmPart), p.devicesOf(c)
	if img := p.imageOf(c.Name); img != nil {
		own, err := p.ownFiles()
		if err != nil {
			return nil, err
		}
		img.use(&spec, own)
	}
	if err := p.command(c, env, &spec); err != nil {
		return nil, err
	}
	if err := p.secure(c, &spec); err != nil {
		return nil, err
	}
	if spec.Mounts, err = p.mounts(c, env); err != nil {
		return nil, err
	}
	return &spec, nil
}

// command finds what the container runs.
func (p *pod) command(c *corev1.Container, env environment, spec *container.Spec) error {
	for _, a := range slices.Concat(c.Command, c.Args) {
		spec.Args = append(spec.Args, env.expand(a))
	}
	if img := p.imageOf(c.Name); img != nil {
		spec.Args = img.args(spec.Args[:len(c.Command)], spec.Args[len(c.Command):])
		if len(spec.Args) == 0 {
			return unusable("container %s has no command, and neither has image %s: set `command`", c.Name, c.Image)
		}
	} else if err := hostCommand(c, spec); err != nil {
		return err
	}
	p.argo.quick(c, spec.Args)
	if p.argo.plainEmissary(c) {
		// What Argo wraps around the command is played by argosy-podinit itself.
		spec.Args[0], spec.SelfExec = "argosy-podinit", true
		if p.argo.wait {
			spec.Args = slices.Insert(spec.Args, 2, emissary.Alone)
		}
		if p.argo.plain(c) {
			spec.Args = slices.Insert(spec.Args, 2, emissary.Plain)
		}
	}
	return nil
}

// hostCommand finds the command of a container on this machine's files.
func hostCommand(c *corev1.Container, spec *container.Spec) error {
	program := programOf(c.Image)
	if len(c.Command) == 0 && program != "" {
		spec.Args = slices.Insert(spec.Args, 0, program)
	}
	if len(c.Command) == 0 && program == "" {
		return fmt.Errorf("container %s has no command: image %s stands for this machine, which has no entry point; set `command`", c.Name, c.Image)
	}
	return nil
}

// mounts are the volumes of a container and what every container is given.
func (p *pod) mounts(c *corev1.Container, env environment) ([]container.Mount, error) {
	mounts := []container.Mount{{Source: p.path(etcPart), Target: etcFolder}}
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
		file := p.path(messageFolder, c.Name)
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
		var err error
		if sub, err = env.mustExpand(m.SubPathExpr); err != nil {
			return container.Mount{}, unusable("failed to expand subPathExpr of volume %q: %v", m.Name, err)
		}
	}
	return container.Mount{
		Source: source, SubPath: sub, Target: filepath.Clean("/" + m.MountPath), ReadOnly: m.ReadOnly || p.isReadOnly(m.Name), Host: p.isOfHost(m.Name),
	}, nil
}

// isOfHost says whether somebody chose where on this machine a volume lies: the pod's author, or that of a persistent volume.
func (p *pod) isOfHost(name string) bool {
	return slices.ContainsFunc(p.obj.Spec.Volumes, func(v corev1.Volume) bool {
		claimed := v.PersistentVolumeClaim != nil || v.Ephemeral != nil
		return v.Name == name && (v.HostPath != nil || claimed && !p.k.ownVolume(p.volumes[name]))
	})
}

// isReadOnly says whether no container may write a volume: those made from objects of the API, and claims used so.
func (p *pod) isReadOnly(name string) bool {
	return slices.ContainsFunc(p.obj.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Name == name && (isProjected(v) || v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ReadOnly)
	})
}

// Limits of a termination message, of which the end is kept.
const (
	maxMessage       = 4096
	maxFallback      = 2048
	maxFallbackLines = 80
)

// terminationMessage is what a container left to say.
func (p *pod) terminationMessage(c *corev1.Container, restarts int32, code int) string {
	if c.TerminationMessagePath != "" {
		b, err := endInside(p.path(messageFolder), c.Name, maxMessage)
		if err != nil {
			p.log.Warn("termination message not read", "container", c.Name, "err", err)
		}
		if len(b) > 0 {
			return string(b)
		}
	}
	if code == 0 || c.TerminationMessagePolicy != corev1.TerminationMessageFallbackToLogsOnError {
		return ""
	}
	tail, err := tailOf(p.life(c.Name, restarts), maxFallbackLines, maxFallback)
	if err != nil {
		p.log.Warn("log not read", "container", c.Name, "err", err)
	}
	return tail
}
