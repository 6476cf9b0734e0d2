package kubelet

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podstatus"
)

// seeChanges reacts to what may change in a pod's description while it runs.
func (p *pod) seeChanges(obj *corev1.Pod) {
	if podspec.Finished(obj) { // nothing is kept of its description
		return
	}
	p.status.SeeGates(obj)
	if len(obj.Spec.EphemeralContainers) > 0 {
		p.ephemerals.see(obj)
	}
	p.deadline.see(obj)
	resized := false
	for i, c := range obj.Spec.Containers {
		began := &p.obj.Spec.Containers[i]
		resized = resized || !equality.Semantic.DeepEqual(c.Resources, began.Resources)
		if c.Image != began.Image {
			p.events.WarnOnce("ImageChangeIgnored", "Container %s goes on with image %s: a running container is not replaced by one of another image here; delete the pod, and have it made anew",
				c.Name, began.Image)
		}
	}
	p.seeResize(resized)
}

// seeResize says of a pod whose resources were changed that it keeps those it began with, as Kubernetes says it of one that
// cannot be resized in place.
func (p *pod) seeResize(resized bool) {
	const pending = corev1.PodResizePending
	said := false
	for _, c := range p.status.Now().Conditions {
		said = said || c.Type == pending && c.Status == corev1.ConditionTrue
	}
	if resized == said || !resized && p.adopted { // an earlier kubelet knew what it began with
		return
	}
	p.status.Update(func(s *corev1.PodStatus) {
		if !resized {
			podstatus.SetCondition(s, pending, corev1.ConditionFalse, "")
			return
		}
		podstatus.SetCondition(s, pending, corev1.ConditionTrue, corev1.PodReasonInfeasible, "the embedded cluster does not resize running containers: delete the pod, and have it made anew")
	})
}
