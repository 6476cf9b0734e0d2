package volumes

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

// MemoryLimit returns how much memory the pod's containers may use together, or 0 if one of them has no limit.
func (p *Pod) MemoryLimit() int64 {
	for i := range p.Obj.Spec.Containers {
		if c := &p.Obj.Spec.Containers[i]; c.Resources.Limits.Memory().IsZero() && !p.Played(c) {
			return 0
		}
	}
	limit := resourcehelper.PodLimits(p.Obj, resourcehelper.PodResourcesOptions{})[corev1.ResourceMemory]
	return limit.Value()
}

// inMemory returns how large an emptyDir in memory may become: no larger than its pod's memory, as in Kubernetes. 0 means no limit.
func (p *Pod) inMemory(v *corev1.EmptyDirVolumeSource) int64 {
	limit := p.MemoryLimit()
	if size := v.SizeLimit; size != nil && !size.IsZero() && (limit == 0 || size.Value() < limit) {
		limit = size.Value()
	}
	return limit
}

// CommonMemory returns the file systems in memory that a container shares with others. What lies there counts for none of them.
func (p *Pod) CommonMemory(c *corev1.Container) (folders []string) {
	others := slices.DeleteFunc(slices.Concat(p.Obj.Spec.InitContainers, p.Obj.Spec.Containers), func(o corev1.Container) bool {
		return o.Name == c.Name || p.Played(&o)
	})
	if len(others) == 0 {
		return nil
	}
	folders = []string{p.Shm}
	for _, v := range p.Obj.Spec.Volumes {
		shared := slices.ContainsFunc(others, func(o corev1.Container) bool {
			return slices.ContainsFunc(o.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name })
		})
		if v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory && shared {
			folders = append(folders, p.Folder(v))
		}
	}
	return folders
}
