package kubelet

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/argosy-ml/argosy/cluster/podholder"
)

// weighEvery is how often what pods have on the disk is added up, as in Kubernetes.
const weighEvery = 10 * time.Second

// blockSize is the unit in which stat(2) counts, whatever the file system's is.
const blockSize = 512

// keepStorage ends pods that have more on the disk than they may, and reports when the machine runs short of disk or memory or
// does no more, until the context ends.
func (k *Kubelet) keepStorage(ctx context.Context) {
	tick := time.NewTicker(weighEvery)
	defer tick.Stop()
	last := k.pressures(nil)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now := k.pressures(last); !slices.EqualFunc(now, last, func(a, b corev1.NodeCondition) bool { return a.Status == b.Status }) {
			last = now
			k.registerAll(ctx)
		}
		for _, p := range k.running() {
			if p.isEnding() {
				continue
			}
			if message := p.overStorage(); message != "" {
				p.event(corev1.EventTypeWarning, "Evicted", "%s", message)
				p.terminate(0, "Evicted", message)
			}
		}
	}
}

// overStorage says what of the pod has more on the disk than it may; "" where nothing has. Only what has a limit is added up.
func (p *pod) overStorage() string {
	for _, v := range p.obj.Spec.Volumes {
		if v.EmptyDir == nil || v.EmptyDir.Medium != corev1.StorageMediumDefault { // the kernel keeps those in memory
			continue
		}
		if size := v.EmptyDir.SizeLimit; size != nil && !size.IsZero() && diskUsage(p.path("volumes", v.Name)) > size.Value() {
			return fmt.Sprintf("Usage of EmptyDir volume %q exceeds the limit %q. ", v.Name, size.String())
		}
	}
	total := resourcehelper.PodLimits(p.obj, resourcehelper.PodResourcesOptions{})[corev1.ResourceEphemeralStorage]
	if total.IsZero() {
		return ""
	}
	used := diskUsage(p.path("volumes"))
	for _, list := range [][]corev1.Container{p.obj.Spec.InitContainers, p.obj.Spec.Containers} {
		for i := range list {
			own := p.writtenBy(list[i].Name)
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

// writtenBy is what a container has on the disk beside its volumes: its own files and its log.
func (p *pod) writtenBy(container string) int64 {
	return diskUsage(p.path("containers", container)) + diskUsage(p.path(podholder.LogFolder, container))
}

// diskUsage adds up the blocks of a folder's files. What disappears meanwhile, or cannot be read, does not count.
func diskUsage(folder string) (bytes int64) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		fi, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		st, ok := fi.Sys().(*syscall.Stat_t)
		switch {
		case !ok:
		case fi.IsDir():
			bytes += st.Blocks * blockSize
		case fi.Mode().IsRegular(): // it is met once for each of its names
			bytes += st.Blocks * blockSize / max(1, int64(st.Nlink))
		}
		return nil
	})
	return bytes
}
