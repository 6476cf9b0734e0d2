package kubelet

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (p *pod) initialStatus() corev1.PodStatus {
	s := corev1.PodStatus{Phase: corev1.PodPending, HostIP: hostIP, HostIPs: []corev1.HostIP{{IP: hostIP}}}
	waiting := func(cs []corev1.Container, reason string) (out []corev1.ContainerStatus) {
		for _, c := range cs {
			out = append(out, waitingStatus(c.Name, c.Image, reason))
		}
		return out
	}
	reason := "ContainerCreating"
	if len(p.obj.Spec.InitContainers) > 0 {
		reason = "PodInitializing"
	}
	s.InitContainerStatuses = waiting(p.obj.Spec.InitContainers, reason)
	s.ContainerStatuses = waiting(p.obj.Spec.Containers, reason)
	setCondition(&s, corev1.PodScheduled, corev1.ConditionTrue, "")
	setCondition(&s, corev1.PodInitialized, corev1.ConditionFalse, "ContainersNotInitialized")
	setCondition(&s, corev1.ContainersReady, corev1.ConditionFalse, "ContainersNotReady")
	setCondition(&s, corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady")
	return s
}

func waitingStatus(name, image, reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Image: image, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
}

// update changes the status and has it sent.
func (p *pod) update(change func(*corev1.PodStatus)) {
	p.mu.Lock()
	change(&p.status)
	p.settle()
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default: // about to be sent anyway
	}
}

// finish decides how the pod ended. It is not sent here.
func (p *pod) finish(setUp error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.status
	s.Phase = corev1.PodSucceeded
	for i := range s.ContainerStatuses {
		t := s.ContainerStatuses[i].State.Terminated
		if t == nil && setUp == nil && p.starting.Err() == nil {
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
	case p.reason != "":
		s.Phase, s.Reason, s.Message = corev1.PodFailed, p.reason, p.message
	case setUp != nil && p.starting.Err() == nil:
		s.Phase, s.Reason, s.Message = corev1.PodFailed, "StartError", setUp.Error()
	case setUp != nil:
		s.Phase = corev1.PodFailed
	}
	reason := "PodCompleted"
	if s.Phase == corev1.PodFailed {
		reason = "PodFailed"
	}
	setCondition(s, corev1.ContainersReady, corev1.ConditionFalse, reason)
	setCondition(s, corev1.PodReady, corev1.ConditionFalse, reason)
}

// fail says why the pod as a whole cannot be run.
func (p *pod) fail(reason, message string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason == "" {
		p.reason, p.message = reason, message
	}
	return errors.New(message)
}

// lose makes the status that of a pod whose processes disappeared.
func (p *pod) lose(reason, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, list := range [][]corev1.ContainerStatus{p.status.InitContainerStatuses, p.status.ContainerStatuses, p.status.EphemeralContainerStatuses} {
		for i := range list {
			if list[i].State.Terminated == nil {
				list[i].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
					ExitCode: 137, Reason: reason, Message: message, FinishedAt: metav1.Now(), ContainerID: list[i].ContainerID,
				}}
			}
			list[i].Ready = false
		}
	}
	p.status.Phase, p.status.Reason, p.status.Message = corev1.PodFailed, reason, message
	setCondition(&p.status, corev1.ContainersReady, corev1.ConditionFalse, "PodFailed")
	setCondition(&p.status, corev1.PodReady, corev1.ConditionFalse, "PodFailed")
}

// warnOnce tells of something that holds for the whole life of the pod.
func (p *pod) warnOnce(reason, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.mu.Lock()
	told := p.told[text]
	if p.told == nil {
		p.told = map[string]bool{}
	}
	p.told[text] = true
	p.mu.Unlock()
	if !told {
		p.event(corev1.EventTypeWarning, reason, "%s", text)
	}
}
