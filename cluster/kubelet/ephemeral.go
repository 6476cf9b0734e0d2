package kubelet

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// ephemerals are the containers that are added to a pod while it runs, as `kubectl debug` does. They run once, hold nothing up,
// and end with the pod. The zero value starts none.
type ephemerals struct {
	list    []corev1.EphemeralContainer // those that were seen; guarded by the pod's lock, as the rest
	started int                         // of the list
	open    bool                        // the pod is set up, and its other containers are not over
	stop    chan struct{}               // closed when they are to end
	work    sync.WaitGroup
}

// seeEphemeral takes note of containers that were added, anywhere in the pod's list, and starts them if the time is right. News
// may be stale: none is ever taken away.
func (p *pod) seeEphemeral(obj *corev1.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range obj.Spec.EphemeralContainers {
		if slices.ContainsFunc(p.ephemerals.list, func(seen corev1.EphemeralContainer) bool { return seen.Name == c.Name }) {
			continue
		}
		p.ephemerals.list = append(p.ephemerals.list, c)
		if statusOf(p.status.EphemeralContainerStatuses, c.Name) == nil {
			p.status.EphemeralContainerStatuses = append(p.status.EphemeralContainerStatuses, waitingStatus(c.Name, c.Image, "ContainerCreating"))
		}
	}
	p.startEphemeral()
}

// openEphemeral starts the containers that were added before the pod was set up.
func (p *pod) openEphemeral() {
	p.mu.Lock()
	p.ephemerals.open, p.ephemerals.stop = true, make(chan struct{})
	p.mu.Unlock()
	p.seeEphemeral(p.obj)
}

// startEphemeral starts those that are new, when the time is right. The lock is held.
func (p *pod) startEphemeral() {
	e := &p.ephemerals
	for ; e.open && e.started < len(e.list); e.started++ {
		c := e.list[e.started]
		e.work.Go(func() {
			if c.TargetContainerName != "" && !isTrue(p.obj.Spec.ShareProcessNamespace) {
				// Its processes could look into this one while it still sees the node's files.
				p.warnOnce("TargetContainerIgnored", "Container %s does not see the processes of %s: those of each container are its own; a pod with "+
					"shareProcessNamespace, such as a copy (kubectl debug --copy-to=NAME --share-processes), has them in common", c.Name, c.TargetContainerName)
			}
			own := corev1.Container(c.EphemeralContainerCommon)
			p.keep(&own, slot{p: p, kind: ephemeralContainer, name: c.Name, stop: e.stop}, corev1.RestartPolicyNever)
		})
	}
}

// statusOf finds a container's status; nil where there is none.
func statusOf(list []corev1.ContainerStatus, name string) *corev1.ContainerStatus {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// closeEphemeral has them end: the other containers are over.
func (p *pod) closeEphemeral() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ephemerals.open = false
	close(p.ephemerals.stop)
}

// ephemeralContainers are those there are, as containers.
func (p *pod) ephemeralContainers() (list []corev1.Container) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.ephemerals.list {
		list = append(list, corev1.Container(c.EphemeralContainerCommon))
	}
	return list
}
