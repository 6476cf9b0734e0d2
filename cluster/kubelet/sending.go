package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// How long a status waits for more to say before it is sent: each costs the apiserver, and everybody who watches pods, as much
// as starting a container costs the kubelet. What is said last, when the pod is over, does not wait.
const (
	settling  = 30 * time.Millisecond  // containers start one after the other within milliseconds
	preparing = 500 * time.Millisecond // nothing runs yet
	soonOver  = time.Second            // at most, where the pod is likely to be over by then
	hardlyRan = 250 * time.Millisecond // then at least: in a burst one of five such pods takes twice as long as the one before
)

// callTimeout is how long one call to the apiserver may take.
const callTimeout = 10 * time.Second

// sendChanges sends the status when it has changed, until more is of no use.
func (p *pod) sendChanges(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.changed:
		}
		for since := time.Now(); ; {
			wait := time.Until(p.due(since))
			if wait <= 0 {
				break
			}
			select {
			case <-ctx.Done():
				return
			case <-p.changed: // which may be more urgent
			case <-time.After(wait):
			}
		}
		p.sendStatus(ctx)
	}
}

// due is when a status is to be sent that changed at a time and was not sent since.
func (p *pod) due(since time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.status.Phase == corev1.PodPending {
		return since.Add(preparing)
	}
	if p.stored.Status.Phase == corev1.PodPending {
		if last, ok := p.k.lasted.Get(p.kin()); ok && last.(time.Duration) < soonOver {
			return p.ran.Add(min(max(2*last.(time.Duration), hardlyRan), soonOver))
		}
		// Argo stops those containers of a running pod that it sees running, and deletes a pod that is not running yet: a pod of
		// which only some are would be told half.
		if slices.ContainsFunc(p.status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.State.Waiting != nil }) {
			return p.ran.Add(preparing)
		}
		return since
	}
	return since.Add(settling)
}

// noteLife remembers how long the pod ran.
func (p *pod) noteLife() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ran.IsZero() && !p.adopted {
		p.k.lasted.Add(p.kin(), time.Since(p.ran))
	}
}

// kin is the same for pods that are likely to take as long: those of one owner, made of the same template.
func (p *pod) kin() string {
	kin := string(p.obj.UID)
	if owner := metav1.GetControllerOf(p.obj); owner != nil {
		kin = string(owner.UID)
	}
	if p.argo != nil {
		kin += "/" + p.argo.tmpl.Name
	}
	return kin
}

// sendStatus sends the status as it is now, and again as long as that may help
// and the context lives. A call once made is seen through: cut off, it might
// still be carried out, after the next one. It says whether there is nothing
// more to be sent.
func (p *pod) sendStatus(ctx context.Context) bool {
	p.mu.Lock()
	status := p.status.DeepCopy()
	p.mu.Unlock()
	err := retry(ctx, func() error {
		call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
		defer cancel()
		return p.store(call, status)
	})
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // gone, or its name belongs to another pod by now
		return true
	}
	if ctx.Err() == nil {
		p.log.Warn("status not sent", "err", err)
	}
	return false
}

// store replaces the status in the apiserver, which accepts that from who knows the pod as it is there. A conflict means
// that it is another pod by now.
func (p *pod) store(ctx context.Context, status *corev1.PodStatus) error {
	pods := p.k.client.CoreV1().Pods(p.obj.Namespace)
	for range 3 {
		p.mu.Lock()
		obj := &corev1.Pod{ObjectMeta: p.stored.ObjectMeta, Status: withStatus(p.stored.Status, *status)}
		p.mu.Unlock()
		now, err := pods.UpdateStatus(ctx, obj, metav1.UpdateOptions{})
		changed := apierrors.IsConflict(err)
		if changed { // by another
			now, err = pods.Get(ctx, p.obj.Name, metav1.GetOptions{})
		}
		if err != nil {
			return err
		}
		if now.UID != p.obj.UID {
			return apierrors.NewConflict(corev1.Resource("pods"), p.obj.Name, errors.New("it was made anew"))
		}
		p.know(now)
		if !changed {
			return nil
		}
	}
	return fmt.Errorf("pod %s is changed all the time", p.obj.Name) // so that it is tried again later
}

// know keeps what the apiserver says of the pod, as far as it is needed to change its status.
func (p *pod) know(obj *corev1.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stored = &corev1.Pod{ObjectMeta: obj.ObjectMeta, Status: obj.Status}
	p.stored.ManagedFields = nil
}

// withStatus is a status that is there with what the kubelet has to say: conditions of others stay, and one that still
// holds keeps its time.
func withStatus(there, ours corev1.PodStatus) corev1.PodStatus {
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
