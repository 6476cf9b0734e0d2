package kubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// seeChanges reacts to what may change in a pod's description while it runs.
func (p *pod) seeChanges(obj *corev1.Pod) {
	if finished(obj) { // nothing is kept of its description
		return
	}
	p.seeGates(obj)
	if len(obj.Spec.EphemeralContainers) > 0 {
		p.seeEphemeral(obj)
	}
	p.seeDeadline(obj)
	resized := false
	for i, c := range obj.Spec.Containers {
		began := &p.obj.Spec.Containers[i]
		resized = resized || !equality.Semantic.DeepEqual(c.Resources, began.Resources)
		if c.Image != began.Image {
			p.warnOnce("ImageChangeIgnored", "Container %s goes on with image %s: a running container is not replaced by one of another image here; delete the pod, and have it made anew",
				c.Name, began.Image)
		}
	}
	p.seeResize(resized)
}

// seeResize says of a pod whose resources were changed that it keeps those it began with, as Kubernetes says it of one that
// cannot be resized in place.
func (p *pod) seeResize(resized bool) {
	const pending = corev1.PodResizePending
	p.mu.Lock()
	said := false
	for _, c := range p.status.Conditions {
		said = said || c.Type == pending && c.Status == corev1.ConditionTrue
	}
	p.mu.Unlock()
	if resized == said || !resized && p.adopted { // an earlier kubelet knew what it began with
		return
	}
	p.update(func(s *corev1.PodStatus) {
		if !resized {
			setCondition(s, pending, corev1.ConditionFalse, "")
			return
		}
		setCondition(s, pending, corev1.ConditionTrue, corev1.PodReasonInfeasible, "the embedded cluster does not resize running containers: delete the pod, and have it made anew")
	})
}

// seeDeadline has the pod end when its time is over, which may be shortened while it runs.
func (p *pod) seeDeadline(obj *corev1.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seconds := obj.Spec.ActiveDeadlineSeconds
	if seconds == nil || p.since.IsZero() || p.deadline != nil && *seconds >= p.seconds {
		return
	}
	if p.deadline != nil {
		p.deadline.Stop()
	}
	p.seconds = *seconds
	p.deadline = time.AfterFunc(time.Until(p.since.Add(time.Duration(*seconds)*time.Second)), func() {
		p.terminate(p.grace(), "DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
	})
}

// forgetDeadline is for a pod that is over.
func (p *pod) forgetDeadline() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deadline != nil {
		p.deadline.Stop()
	}
}
