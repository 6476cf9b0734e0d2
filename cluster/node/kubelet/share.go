package kubelet

import (
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/admission"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podstatus"
)

// refused fails a pod that can never run here, and returns the error.
func (p *pod) refused(err error) error {
	var refused *podspec.RefusedError
	if errors.As(err, &refused) {
		p.events.Event(corev1.EventTypeWarning, refused.Reason, "%s", refused.Message)
		_ = p.fail(refused.Reason, refused.Message)
	}
	return err
}

// enter waits for the pod's share of its node and keeps it in mind for a kubelet that comes after this one.
func (p *pod) enter() error {
	told := ""
	gpus, err := p.room().Enter(p.starting, p.obj, func(reason, message string) {
		if message == told { // others came or went, and it still waits for the same
			return
		}
		if told == "" {
			p.events.Event(corev1.EventTypeWarning, reason, "%s", message)
		}
		told = message
		p.status.Update(func(s *corev1.PodStatus) { podstatus.SetWaiting(s, reason, message) })
	})
	if err != nil {
		return p.refused(err)
	}
	if told != "" {
		p.status.Update(func(s *corev1.PodStatus) { podstatus.SetWaiting(s, "ContainerCreating", "") })
	}
	p.gpus = gpus
	return admission.WriteGPUs(p.dir, gpus)
}

// holdShare is enter for a pod that runs already. It is done for all of them before any other pod can enter.
func (k *Kubelet) holdShare(obj *corev1.Pod) error {
	r := k.rooms[obj.Spec.NodeName]
	if r == nil {
		return nil
	}
	gpus, err := admission.ReadGPUs(k.podDir(obj.UID))
	if err != nil {
		return err
	}
	if err := r.Resume(obj, gpus); err != nil { // there were more of them when it was started
		k.log.Warn("pod runs without its share of the node", "pod", obj.Namespace+"/"+obj.Name, "err", err)
	}
	return nil
}

// leave gives back what the pod had, before its end is reported: the scheduler counts on it from then on.
func (p *pod) leave() {
	p.room().Leave(p.obj.UID)
}

// room is that of the pod's node.
func (p *pod) room() *admission.Room { return p.k.rooms[p.obj.Spec.NodeName] }
