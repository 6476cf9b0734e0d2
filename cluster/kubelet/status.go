package kubelet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// callTimeout is how long one call to the apiserver may take.
const callTimeout = 10 * time.Second

func (p *pod) initialStatus() corev1.PodStatus {
	s := corev1.PodStatus{Phase: corev1.PodPending, HostIP: hostIP, HostIPs: []corev1.HostIP{{IP: hostIP}}}
	waiting := func(cs []corev1.Container, reason string) (out []corev1.ContainerStatus) {
		for _, c := range cs {
			out = append(out, corev1.ContainerStatus{
				Name: c.Name, Image: c.Image,
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}},
			})
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
	for _, list := range [][]corev1.ContainerStatus{p.status.InitContainerStatuses, p.status.ContainerStatuses} {
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

// settling is how long a status is left alone after it was sent: containers start one after the other within milliseconds, and
// each status costs everybody who watches pods.
const settling = 30 * time.Millisecond

// sendChanges sends the status whenever it changed, until more is of no use.
func (p *pod) sendChanges(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.changed:
			p.sendStatus(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(settling):
		}
	}
}

// statusPatch is a status in which the addresses replace those that are there instead of joining them: a pod that a kubelet
// died over before any container was started is begun anew, with a new address.
type statusPatch struct {
	corev1.PodStatus
	PodIPs     []map[string]string `json:"podIPs,omitempty"`
	Conditions []conditionPatch    `json:"conditions,omitempty"`
}

func newStatusPatch(s corev1.PodStatus) statusPatch {
	patch := statusPatch{PodStatus: s}
	for i, ip := range s.PodIPs {
		if i == 0 {
			patch.PodIPs = append(patch.PodIPs, map[string]string{"$patch": "replace"})
		}
		patch.PodIPs = append(patch.PodIPs, map[string]string{"ip": ip.IP})
	}
	for _, c := range s.Conditions {
		patch.Conditions = append(patch.Conditions, conditionPatch{
			Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime, Reason: orNull(c.Reason), Message: orNull(c.Message),
		})
	}
	return patch
}

// conditionPatch takes back the reason and the message that a condition no longer has.
type conditionPatch struct {
	Type               corev1.PodConditionType `json:"type"`
	Status             corev1.ConditionStatus  `json:"status"`
	LastTransitionTime metav1.Time             `json:"lastTransitionTime"`
	Reason             *string                 `json:"reason"`
	Message            *string                 `json:"message"`
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// sendStatus sends the status as it is now, and again as long as that may help
// and the context lives. A call once made is seen through: cut off, it might
// still be carried out, after the next one. It says whether there is nothing
// more to be sent.
func (p *pod) sendStatus(ctx context.Context) bool {
	p.mu.Lock()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": p.obj.UID}, "status": newStatusPatch(p.status)})
	p.mu.Unlock()
	if err == nil {
		err = retry(ctx, func() error {
			call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
			defer cancel()
			_, err := p.k.client.CoreV1().Pods(p.obj.Namespace).Patch(call, p.obj.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
			return err
		})
	}
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // gone, or its name belongs to another pod by now
		return true
	}
	if ctx.Err() == nil {
		p.log.Warn("status not sent", "err", err)
	}
	return false
}

// sendLastStatus reports the end of the pod, however long that takes. What
// could not be reported, the next kubelet finds in the pod's folder.
func (p *pod) sendLastStatus() {
	if !p.sendStatus(p.k.reporting) {
		p.log.Warn("the end of the pod could not be reported")
		return
	}
	if err := p.remember(func(r *podRecord) { r.Over = true }); err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.log.Warn("record of the pod not written", "err", err)
	}
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

// containerEvent is an event of one container.
func (p *pod) containerEvent(c *corev1.Container, kind, reason, format string, args ...any) {
	field := "spec.containers{" + c.Name + "}"
	if findContainer(p.obj.Spec.InitContainers, c.Name) != nil {
		field = "spec.initContainers{" + c.Name + "}"
	}
	p.k.events[p.obj.Spec.NodeName].Event(&corev1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: p.obj.Namespace, Name: p.obj.Name, UID: p.obj.UID, ResourceVersion: p.obj.ResourceVersion, FieldPath: field,
	}, kind, reason, fmt.Sprintf(format, args...))
}

func (p *pod) event(kind, reason, format string, args ...any) {
	p.k.events[p.obj.Spec.NodeName].Event(p.obj, kind, reason, fmt.Sprintf(format, args...))
}
