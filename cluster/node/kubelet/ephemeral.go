package kubelet

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podstatus"
)

// ephemerals are the containers that are added to a pod while it runs, as `kubectl debug` does. They run once, hold nothing up,
// and end with the pod. At first none is started.
type ephemerals struct {
	p       *pod
	list    []corev1.EphemeralContainer // those that were seen; guarded by the pod's lock, as the rest
	started int                         // of the list
	open    bool                        // the pod is set up, and its other containers are not over
	stop    chan struct{}               // closed when they are to end
	work    sync.WaitGroup
}

// see takes note of containers that were added, anywhere in the pod's list, and starts them if the time is right. News
// may be stale: none is ever taken away.
func (e *ephemerals) see(obj *corev1.Pod) {
	e.p.mu.Lock()
	defer e.p.mu.Unlock()
	for _, c := range obj.Spec.EphemeralContainers {
		if slices.ContainsFunc(e.list, func(seen corev1.EphemeralContainer) bool { return seen.Name == c.Name }) {
			continue
		}
		e.list = append(e.list, c)
		e.p.status.Change(func(s *corev1.PodStatus) {
			if podstatus.Find(s.EphemeralContainerStatuses, c.Name) == nil {
				s.EphemeralContainerStatuses = append(s.EphemeralContainerStatuses, podstatus.Waiting(c.Name, c.Image, "ContainerCreating"))
			}
		})
	}
	e.start()
}

// begin starts the containers that were added before the pod was set up.
func (e *ephemerals) begin() {
	e.p.mu.Lock()
	e.open, e.stop = true, make(chan struct{})
	e.p.mu.Unlock()
	e.see(e.p.obj)
}

// start starts those that are new, when the time is right. The lock is held.
func (e *ephemerals) start() {
	for ; e.open && e.started < len(e.list); e.started++ {
		c := e.list[e.started]
		e.work.Go(func() {
			if c.TargetContainerName != "" && !podspec.IsTrue(e.p.obj.Spec.ShareProcessNamespace) {
				// Its processes could look into this one while it still sees the node's files.
				e.p.events.WarnOnce("TargetContainerIgnored", "Container %s does not see the processes of %s: those of each container are its own; a pod with "+
					"shareProcessNamespace, such as a copy (kubectl debug --copy-to=NAME --share-processes), has them in common", c.Name, c.TargetContainerName)
			}
			own := corev1.Container(c.EphemeralContainerCommon)
			member{p: e.p, c: &own, kind: ephemeralContainer, stop: e.stop}.keep(corev1.RestartPolicyNever)
		})
	}
}

// end has them end: the other containers are over.
func (e *ephemerals) end() {
	e.p.mu.Lock()
	defer e.p.mu.Unlock()
	e.open = false
	close(e.stop)
}

// containers are those there are, as containers.
func (e *ephemerals) containers() (list []corev1.Container) {
	e.p.mu.Lock()
	defer e.p.mu.Unlock()
	for _, c := range e.list {
		list = append(list, corev1.Container(c.EphemeralContainerCommon))
	}
	return list
}
