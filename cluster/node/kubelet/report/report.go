// Package report sends pods' statuses to the apiserver. A status that a client waits for goes at once; others wait for changes that
// follow soon, so that one request carries them all.
package report

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/lru"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podstatus"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/retry"
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

// maxOwners bounds for how many owners of pods it is remembered how long their pods run.
const maxOwners = 1000

// Reporter reports the statuses of many pods.
type Reporter struct {
	client kubernetes.Interface
	lasted *lru.Cache // how long the latest pod of an owner ran
}

// New returns a reporter.
func New(client kubernetes.Interface) *Reporter {
	return &Reporter{client: client, lasted: lru.New(maxOwners)}
}

// Status is that of one pod.
type Status struct {
	reporter *Reporter
	obj      *corev1.Pod
	owner    string // names the pods that probably run as long as this one
	log      *slog.Logger

	mu      sync.Mutex
	status  corev1.PodStatus
	changed chan struct{} // holds a token when the status is to be sent
	stored  *corev1.Pod   // what the apiserver is known to have of it; no specification
	ran     time.Time     // when its containers began to run
	gates   []corev1.PodCondition
}

// For returns the status of a pod that has not started. The pods of one owner and one template are expected to run for the same time;
// the template's name may be empty.
func (r *Reporter) For(obj *corev1.Pod, template string, log *slog.Logger) *Status {
	s := &Status{
		reporter: r, obj: obj, owner: string(obj.UID), log: log,
		status: podstatus.Initial(obj), gates: podstatus.Gates(obj), changed: make(chan struct{}, 1),
	}
	if owner := metav1.GetControllerOf(obj); owner != nil {
		s.owner = string(owner.UID)
	}
	if template != "" {
		s.owner += "/" + template
	}
	s.know(obj)
	return s
}

// Change changes the status, which is sent with the next update.
func (s *Status) Change(change func(*corev1.PodStatus)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.status)
}

// Update changes the status and has it sent.
func (s *Status) Update(change func(*corev1.PodStatus)) {
	s.mu.Lock()
	change(&s.status)
	podstatus.Settle(s.obj, s.gates, &s.status)
	if s.status.Phase == corev1.PodRunning && s.ran.IsZero() {
		s.ran = time.Now()
	}
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default: // about to be sent anyway
	}
}

// Now is the status as it is.
func (s *Status) Now() *corev1.PodStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status.DeepCopy()
}

// Phase is that of the status as it is.
func (s *Status) Phase() corev1.PodPhase {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status.Phase
}

// SeeGates takes note of the pod's readiness gates as they are in its object now.
func (s *Status) SeeGates(o *corev1.Pod) {
	if len(o.Spec.ReadinessGates) == 0 {
		return
	}
	gates := podstatus.Gates(o)
	s.mu.Lock()
	same := slices.Equal(gates, s.gates)
	s.gates = gates
	s.mu.Unlock()
	if !same {
		s.Update(func(*corev1.PodStatus) {})
	}
}

// SendChanges sends the status when it has changed, until more is of no use.
func (s *Status) SendChanges(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		}
		for since := time.Now(); ; {
			wait := time.Until(s.due(since))
			if wait <= 0 {
				break
			}
			select {
			case <-ctx.Done():
				return
			case <-s.changed: // which may be more urgent
			case <-time.After(wait):
			}
		}
		s.Send(ctx)
	}
}

// due is when a status is to be sent that changed at a time and was not sent since.
func (s *Status) due(since time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.Phase == corev1.PodPending {
		return since.Add(preparing)
	}
	if s.stored.Status.Phase == corev1.PodPending {
		if last, ok := s.reporter.lasted.Get(s.owner); ok && last.(time.Duration) < soonOver {
			return s.ran.Add(min(max(2*last.(time.Duration), hardlyRan), soonOver))
		}
		// Argo signals the containers that it sees running in a running pod, and deletes a pod that is not running yet. If a pod
		// were reported with only some containers running, the others would get no signal.
		if slices.ContainsFunc(s.status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.State.Waiting != nil }) {
			return s.ran.Add(preparing)
		}
		return since
	}
	return since.Add(settling)
}

// NoteLife remembers how long the pod ran that ended at a time.
func (s *Status) NoteLife(ended time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ran.IsZero() {
		s.reporter.lasted.Add(s.owner, ended.Sub(s.ran))
	}
}

// Send sends the current status, and repeats it while that may help and the context lives. It waits for a call once made, since a cut-off
// call might still take effect after the next one. It reports whether nothing is left to send.
func (s *Status) Send(ctx context.Context) bool {
	s.mu.Lock()
	status := s.status.DeepCopy()
	s.mu.Unlock()
	err := retry.Do(ctx, func() error {
		call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
		defer cancel()
		return s.store(call, status)
	})
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // gone, or its name belongs to another pod by now
		return true
	}
	if ctx.Err() == nil {
		s.log.Warn("status not sent", "err", err)
	}
	return false
}

// store replaces the status in the apiserver, which accepts that from who knows the pod as it is there. A conflict means
// that it is another pod by now.
func (s *Status) store(ctx context.Context, status *corev1.PodStatus) error {
	pods := s.reporter.client.CoreV1().Pods(s.obj.Namespace)
	for range 3 {
		s.mu.Lock()
		obj := &corev1.Pod{ObjectMeta: s.stored.ObjectMeta, Status: podstatus.Merge(s.stored.Status, *status)}
		s.mu.Unlock()
		now, err := pods.UpdateStatus(ctx, obj, metav1.UpdateOptions{})
		changed := apierrors.IsConflict(err)
		if changed { // by another
			now, err = pods.Get(ctx, s.obj.Name, metav1.GetOptions{})
		}
		if err != nil {
			return err
		}
		if now.UID != s.obj.UID {
			return apierrors.NewConflict(corev1.Resource("pods"), s.obj.Name, errors.New("it was made anew"))
		}
		s.know(now)
		if !changed {
			return nil
		}
	}
	return fmt.Errorf("pod %s is changed all the time", s.obj.Name) // so that it is tried again later
}

// know keeps what the apiserver says of the pod, as far as it is needed to change its status.
func (s *Status) know(obj *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored = &corev1.Pod{ObjectMeta: obj.ObjectMeta, Status: obj.Status}
	s.stored.ManagedFields = nil
}
