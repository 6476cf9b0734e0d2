package kubelet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func setCondition(s *corev1.PodStatus, kind corev1.PodConditionType, value corev1.ConditionStatus, reason string, message ...string) {
	c := corev1.PodCondition{Type: kind, Status: value, Reason: reason, Message: strings.Join(message, ", "), LastTransitionTime: metav1.Now()}
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			if s.Conditions[i].Status == value {
				c.LastTransitionTime = s.Conditions[i].LastTransitionTime
			}
			s.Conditions[i] = c
			return
		}
	}
	s.Conditions = append(s.Conditions, c)
}

// settle brings phase and conditions in line with the containers. The lock is held.
func (p *pod) settle() {
	s := &p.status
	if s.Phase == corev1.PodSucceeded || s.Phase == corev1.PodFailed || len(s.ContainerStatuses) == 0 {
		return
	}
	var incomplete, unready []string
	for i, c := range s.InitContainerStatuses {
		sidecar := isSidecar(&p.obj.Spec.InitContainers[i])
		if sidecar && !isTrue(c.Started) || !sidecar && !c.Ready {
			incomplete = append(incomplete, c.Name)
		}
		if sidecar && !c.Ready {
			unready = append(unready, c.Name)
		}
	}
	began := 0
	for _, c := range s.ContainerStatuses {
		if !c.Ready {
			unready = append(unready, c.Name)
		}
		if c.State.Running != nil || c.State.Terminated != nil || c.RestartCount > 0 {
			began++
		}
	}
	if began == len(s.ContainerStatuses) { // as with every kubelet: a pod is pending while one of its containers has not started
		s.Phase = corev1.PodRunning
		if p.ran.IsZero() {
			p.ran = time.Now()
		}
	}
	if began > 0 || len(incomplete) == 0 {
		setCondition(s, corev1.PodInitialized, corev1.ConditionTrue, "")
	} else {
		setCondition(s, corev1.PodInitialized, corev1.ConditionFalse, "ContainersNotInitialized", fmt.Sprintf("containers with incomplete status: %v", incomplete))
	}
	if len(unready) > 0 {
		message := fmt.Sprintf("containers with unready status: %v", unready)
		setCondition(s, corev1.ContainersReady, corev1.ConditionFalse, "ContainersNotReady", message)
		setCondition(s, corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady", message)
		return
	}
	setCondition(s, corev1.ContainersReady, corev1.ConditionTrue, "")
	if closed := closedGates(p.obj, p.gates); len(closed) > 0 {
		setCondition(s, corev1.PodReady, corev1.ConditionFalse, "ReadinessGatesNotReady", closed...)
		return
	}
	setCondition(s, corev1.PodReady, corev1.ConditionTrue, "")
}

// gatesOf are the conditions that others set and on which a pod's readiness depends.
func gatesOf(o *corev1.Pod) (gates []corev1.PodCondition) {
	for _, c := range o.Status.Conditions {
		if slices.ContainsFunc(o.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool { return g.ConditionType == c.Type }) {
			gates = append(gates, corev1.PodCondition{Type: c.Type, Status: c.Status})
		}
	}
	return gates
}

// closedGates says of each gate that keeps the pod from being ready why it does.
func closedGates(o *corev1.Pod, gates []corev1.PodCondition) (closed []string) {
	for _, g := range o.Spec.ReadinessGates {
		i := slices.IndexFunc(gates, func(c corev1.PodCondition) bool { return c.Type == g.ConditionType })
		switch {
		case i < 0:
			closed = append(closed, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", g.ConditionType))
		case gates[i].Status != corev1.ConditionTrue:
			closed = append(closed, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %v", g.ConditionType, gates[i].Status))
		}
	}
	return closed
}

// seeGates takes note of the gates as they are now.
func (p *pod) seeGates(o *corev1.Pod) {
	if len(o.Spec.ReadinessGates) == 0 {
		return
	}
	gates := gatesOf(o)
	p.mu.Lock()
	same := slices.Equal(gates, p.gates)
	p.gates = gates
	p.mu.Unlock()
	if !same {
		p.update(func(*corev1.PodStatus) {})
	}
}
