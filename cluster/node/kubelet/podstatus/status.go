// Package podstatus computes the status of a pod from the states of its containers.
package podstatus

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/cluster/net/podnet"
)

// initialStatus returns the status of a pod that was just bound to the node.
func Initial(obj *corev1.Pod) corev1.PodStatus {
	s := corev1.PodStatus{Phase: corev1.PodPending, HostIP: podnet.Node.String(), HostIPs: []corev1.HostIP{{IP: podnet.Node.String()}}}
	waiting := func(cs []corev1.Container, reason string) (out []corev1.ContainerStatus) {
		for _, c := range cs {
			out = append(out, Waiting(c.Name, c.Image, reason))
		}
		return out
	}
	reason := "ContainerCreating"
	if len(obj.Spec.InitContainers) > 0 {
		reason = "PodInitializing"
	}
	s.InitContainerStatuses = waiting(obj.Spec.InitContainers, reason)
	s.ContainerStatuses = waiting(obj.Spec.Containers, reason)
	SetCondition(&s, corev1.PodScheduled, corev1.ConditionTrue, "")
	SetCondition(&s, corev1.PodInitialized, corev1.ConditionFalse, "ContainersNotInitialized")
	SetCondition(&s, corev1.ContainersReady, corev1.ConditionFalse, "ContainersNotReady")
	SetCondition(&s, corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady")
	return s
}

// waitingStatus returns the status of a container that has not started.
func Waiting(name, image, reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Image: image, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
}

// finish sets the status of a pod that has ended. setUp is the error that kept it from starting, stopped says that it was stopped, reason and
// message say why it failed as a whole.
func Finish(s *corev1.PodStatus, setUp error, stopped bool, reason, message string) {
	s.Phase = corev1.PodSucceeded
	for i := range s.ContainerStatuses {
		t := s.ContainerStatuses[i].State.Terminated
		if t == nil && setUp == nil && !stopped {
			// Never started because an init container failed: it stays waiting.
			s.Phase = corev1.PodFailed
			continue
		}
		if t == nil {
			t = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown", Message: "The container was not started.", FinishedAt: metav1.Now()}
			s.ContainerStatuses[i].State = corev1.ContainerState{Terminated: t}
		}
		s.ContainerStatuses[i].Ready = false
		if t.ExitCode != 0 {
			s.Phase = corev1.PodFailed
		}
	}
	switch {
	case reason != "":
		s.Phase, s.Reason, s.Message = corev1.PodFailed, reason, message
	case setUp != nil && !stopped:
		s.Phase, s.Reason, s.Message = corev1.PodFailed, "StartError", setUp.Error()
	case setUp != nil:
		s.Phase = corev1.PodFailed
	}
	condition := "PodCompleted"
	if s.Phase == corev1.PodFailed {
		condition = "PodFailed"
	}
	SetCondition(s, corev1.ContainersReady, corev1.ConditionFalse, condition)
	SetCondition(s, corev1.PodReady, corev1.ConditionFalse, condition)
}

// lose sets the status of a pod whose processes disappeared.
func Lose(s *corev1.PodStatus, reason, message string) {
	for _, list := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses, s.EphemeralContainerStatuses} {
		for i := range list {
			if list[i].State.Terminated == nil {
				list[i].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
					ExitCode: 137, Reason: reason, Message: message, FinishedAt: metav1.Now(), ContainerID: list[i].ContainerID,
				}}
			}
			list[i].Ready = false
		}
	}
	s.Phase, s.Reason, s.Message = corev1.PodFailed, reason, message
	SetCondition(s, corev1.ContainersReady, corev1.ConditionFalse, "PodFailed")
	SetCondition(s, corev1.PodReady, corev1.ConditionFalse, "PodFailed")
}

// withStatus merges the kubelet's status into the stored one: conditions of others stay, and a condition that still
// holds keeps its time.
func Merge(there, ours corev1.PodStatus) corev1.PodStatus {
	s := *there.DeepCopy()
	s.Phase, s.Reason, s.Message = ours.Phase, ours.Reason, ours.Message
	s.HostIP, s.HostIPs, s.PodIP, s.PodIPs, s.StartTime = ours.HostIP, ours.HostIPs, ours.PodIP, ours.PodIPs, ours.StartTime
	s.InitContainerStatuses, s.ContainerStatuses = ours.InitContainerStatuses, ours.ContainerStatuses
	s.EphemeralContainerStatuses = ours.EphemeralContainerStatuses
	for _, c := range ours.Conditions {
		i := slices.IndexFunc(s.Conditions, func(old corev1.PodCondition) bool { return old.Type == c.Type })
		if i < 0 {
			s.Conditions = append(s.Conditions, c)
			continue
		}
		if s.Conditions[i].Status == c.Status {
			c.LastTransitionTime = s.Conditions[i].LastTransitionTime
		}
		s.Conditions[i] = c
	}
	return s
}

// setWaiting sets why the containers wait that have not started.
func SetWaiting(s *corev1.PodStatus, reason, message string) {
	eachWaiting(s, func(w *corev1.ContainerStateWaiting) { w.Reason, w.Message = reason, message })
}

// explainWaiting sets the message of waiting containers.
func ExplainWaiting(s *corev1.PodStatus, message string) {
	eachWaiting(s, func(w *corev1.ContainerStateWaiting) { w.Message = message })
}

func eachWaiting(s *corev1.PodStatus, change func(*corev1.ContainerStateWaiting)) {
	for _, list := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses} {
		for i := range list {
			if w := list[i].State.Waiting; w != nil {
				change(w)
			}
		}
	}
}

// statusOf returns the status of a container, or nil.
func Find(list []corev1.ContainerStatus, name string) *corev1.ContainerStatus {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}
