package volumes

import (
	"fmt"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/argosy-ml/argosy/cluster/runtime/beneath"
	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

// OverLimit returns a message if the pod in a folder uses more of the disk than it may, and "" otherwise. It adds up only what has a limit.
// nameless returns the files that were removed while processes use them.
func (p *Pod) OverLimit(dir string, nameless func() []shim.Nameless) string {
	total := resourcehelper.PodLimits(p.Obj, resourcehelper.PodResourcesOptions{})[corev1.ResourceEphemeralStorage]
	var removed []shim.Nameless
	if !total.IsZero() || slices.ContainsFunc(p.Obj.Spec.Volumes, isLimited) {
		removed = nameless()
	}
	for _, v := range p.Obj.Spec.Volumes {
		if isLimited(v) && beneath.DiskUsage(filepath.Join(p.Disk, v.Name))+p.removedFrom(removed, v.Name) > v.EmptyDir.SizeLimit.Value() {
			return fmt.Sprintf("Usage of EmptyDir volume %q exceeds the limit %q. ", v.Name, v.EmptyDir.SizeLimit.String())
		}
	}
	if total.IsZero() {
		return ""
	}
	used := beneath.DiskUsage(p.Disk)
	for _, f := range removed {
		used += f.Bytes
	}
	for _, list := range [][]corev1.Container{p.Obj.Spec.InitContainers, p.Obj.Spec.Containers} {
		for i := range list {
			own := writtenBy(dir, list[i].Name)
			limit := list[i].Resources.Limits[corev1.ResourceEphemeralStorage]
			if !limit.IsZero() && own > limit.Value() {
				return fmt.Sprintf("Container %s exceeded its local ephemeral storage limit %q. ", list[i].Name, limit.String())
			}
			used += own
		}
	}
	if used > total.Value() {
		return fmt.Sprintf("Pod ephemeral local storage usage exceeds the total limit of containers %s. ", total.String())
	}
	return ""
}

// isLimited says whether a volume on the disk has a limit. The kernel enforces those of volumes in memory.
func isLimited(v corev1.Volume) bool {
	return v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumDefault && v.EmptyDir.SizeLimit != nil && !v.EmptyDir.SizeLimit.IsZero()
}

// removedFrom adds up the files that were removed from a volume.
func (p *Pod) removedFrom(all []shim.Nameless, volume string) (bytes int64) {
	var places []string
	for _, list := range [][]corev1.Container{p.Obj.Spec.InitContainers, p.Obj.Spec.Containers} {
		for _, c := range list {
			for _, m := range c.VolumeMounts {
				if m.Name == volume {
					places = append(places, filepath.Clean("/"+m.MountPath))
				}
			}
		}
	}
	for _, f := range all {
		if slices.ContainsFunc(places, func(place string) bool { return beneath.Within(f.Path, place) }) {
			bytes += f.Bytes
		}
	}
	return bytes
}

// writtenBy adds up what a container has on the disk beside its volumes: its own files and its log.
func writtenBy(dir, container string) int64 {
	return beneath.DiskUsage(filepath.Join(dir, "containers", container)) + beneath.DiskUsage(filepath.Join(dir, shim.LogFolder, container))
}
