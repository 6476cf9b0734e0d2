package volumes

import (
	"fmt"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/environment"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
)

// MountOf describes how a container mounts a volume. folders are those of all volumes, env is the container's environment.
func (p *Pod) MountOf(m corev1.VolumeMount, folders map[string]string, env environment.Variables) (container.Mount, error) {
	source, ok := folders[m.Name]
	if !ok {
		return container.Mount{}, fmt.Errorf("volume %q is mounted but not defined", m.Name)
	}
	sub := m.SubPath
	if m.SubPathExpr != "" {
		var err error
		if sub, err = env.MustExpand(m.SubPathExpr); err != nil {
			return container.Mount{}, podspec.Unusable("failed to expand subPathExpr of volume %q: %v", m.Name, err)
		}
	}
	mount := container.Mount{Source: source, SubPath: sub, Target: filepath.Clean("/" + m.MountPath), ReadOnly: m.ReadOnly || p.isReadOnly(m.Name)}
	if p.isOfHost(m.Name, source) {
		folder, place, _ := p.hostFolderOf(source) // or it would not be a volume
		mount.Source, mount.Place, mount.Host, mount.ReadOnly = folder.Path, place, true, mount.ReadOnly || folder.readOnly
	}
	return mount, nil
}

// isOfHost says whether the author of the pod, or of a persistent volume, chose the volume's place on this machine.
func (p *Pod) isOfHost(name, folder string) bool {
	return slices.ContainsFunc(p.Obj.Spec.Volumes, func(v corev1.Volume) bool {
		claimed := v.PersistentVolumeClaim != nil || v.Ephemeral != nil
		return v.Name == name && (v.HostPath != nil || claimed && !p.isLocal(folder))
	})
}

// isReadOnly says whether no container may write to a volume: one that is made from objects of the API, or a claim with readOnly.
func (p *Pod) isReadOnly(name string) bool {
	return slices.ContainsFunc(p.Obj.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Name == name && (isProjected(v) || v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ReadOnly)
	})
}
