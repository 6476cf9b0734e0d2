package podstatus

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
)

// setCondition sets a condition, which keeps its time if its value stays.
func SetCondition(s *corev1.PodStatus, kind corev1.PodConditionType, value corev1.ConditionStatus, reason string, message ...string) {
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

// settle sets the phase and the conditions that follow from the states of the containers. gates are conditions that others set.
func Settle(obj *corev1.Pod, gates []corev1.PodCondition, s *corev1.PodStatus) {
	if s.Phase == corev1.PodSucceeded || s.Phase == corev1.PodFailed || len(s.ContainerStatuses) == 0 {
		return
	}
	var incomplete, unready []string
	for i, c := range s.InitContainerStatuses {
		sidecar := podspec.IsSidecar(&obj.Spec.InitContainers[i])
		if sidecar && !podspec.IsTrue(c.Started) || !sidecar && !c.Ready {
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
	}
	if began > 0 || len(incomplete) == 0 {
		SetCondition(s, corev1.PodInitialized, corev1.ConditionTrue, "")
	} else {
		SetCondition(s, corev1.PodInitialized, corev1.ConditionFalse, "ContainersNotInitialized", fmt.Sprintf("containers with incomplete status: %v", incomplete))
	}
	if len(unready) > 0 {
		message := fmt.Sprintf("containers with unready status: %v", unready)
		SetCondition(s, corev1.ContainersReady, corev1.ConditionFalse, "ContainersNotReady", message)
		SetCondition(s, corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady", message)
		return
	}
	SetCondition(s, corev1.ContainersReady, corev1.ConditionTrue, "")
	if closed := closedGates(obj, gates); len(closed) > 0 {
		SetCondition(s, corev1.PodReady, corev1.ConditionFalse, "ReadinessGatesNotReady", closed...)
		return
	}
	SetCondition(s, corev1.PodReady, corev1.ConditionTrue, "")
}

// gatesOf returns the conditions of a pod's readiness gates, which others set.
func Gates(o *corev1.Pod) (gates []corev1.PodCondition) {
	for _, c := range o.Status.Conditions {
		if slices.ContainsFunc(o.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool { return g.ConditionType == c.Type }) {
			gates = append(gates, corev1.PodCondition{Type: c.Type, Status: c.Status})
		}
	}
	return gates
}

// closedGates returns a message for each gate that keeps the pod from being ready.
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
