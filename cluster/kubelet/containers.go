package kubelet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/cluster/container"
	"github.com/argosy-ml/argosy/cluster/podlog"
)

// Restarts after a crash: the first at once, the second after firstBackoff, then twice as long each time.
const (
	firstBackoff = 10 * time.Second
	lastBackoff  = 5 * time.Minute
	healthyAfter = 10 * time.Minute // of running: the back-off starts anew
	configRetry  = 2 * time.Second  // wait for a missing ConfigMap or Secret
)

// runContainers runs the init containers in order and then the others side by side.
func (p *pod) runContainers() {
	var sidecars sync.WaitGroup
	stopSidecars := make(chan struct{})
	p.openEphemeral()
	defer func() {
		close(stopSidecars)
		p.closeEphemeral()
		if !p.isEnding() { // else they are being stopped
			patience, cancel := context.WithTimeout(context.Background(), p.grace())
			defer cancel()
			p.stopContainers(patience, false)
		}
		sidecars.Wait()
		p.ephemerals.work.Wait()
	}()
	for i := range p.obj.Spec.InitContainers {
		c := &p.obj.Spec.InitContainers[i]
		if isSidecar(c) {
			started := make(chan struct{})
			sidecars.Go(func() { p.keepSidecar(c, i, started, stopSidecars) })
			select {
			case <-started:
			case <-p.starting.Done():
			}
			continue
		}
		policy := p.obj.Spec.RestartPolicy
		if policy == corev1.RestartPolicyAlways {
			policy = corev1.RestartPolicyOnFailure
		}
		if code := p.keep(c, p.slot(initContainer, i), policy); code != 0 || p.starting.Err() != nil && !p.wasRunning() {
			return
		}
	}
	p.update(func(s *corev1.PodStatus) {
		setCondition(s, corev1.PodInitialized, corev1.ConditionTrue, "")
		for i := range s.ContainerStatuses {
			if w := s.ContainerStatuses[i].State.Waiting; w != nil {
				w.Reason = "ContainerCreating"
			}
		}
	})
	var main sync.WaitGroup
	for i := range p.obj.Spec.Containers {
		main.Go(func() {
			p.keep(&p.obj.Spec.Containers[i], p.slot(mainContainer, i), p.obj.Spec.RestartPolicy)
			if p.obj.Spec.Containers[i].Name == argoMain {
				close(p.mainOver)
			}
		})
	}
	main.Wait()
}

// keepSidecar runs an init container that lives beside the others, until they are done.
func (p *pod) keepSidecar(c *corev1.Container, i int, started chan<- struct{}, stop <-chan struct{}) {
	var once sync.Once
	slot := p.slot(initContainer, i)
	slot.started = func() { once.Do(func() { close(started) }) }
	slot.stop = stop
	p.keep(c, slot, corev1.RestartPolicyAlways)
}

// slot is a container's place in the pod's status.
type slot struct {
	p       *pod
	kind    containerKind
	index   int             // in its list; of a container that was added to a running pod the name counts
	name    string          // of such a container
	started func()          // called when the container runs; may be nil
	stop    <-chan struct{} // closed when the container is not to be restarted; may be nil
}

type containerKind int

const (
	mainContainer containerKind = iota
	initContainer
	ephemeralContainer
)

func (p *pod) slot(kind containerKind, index int) slot { return slot{p: p, kind: kind, index: index} }

// of is the place in a status.
func (s slot) of(st *corev1.PodStatus) *corev1.ContainerStatus {
	switch s.kind {
	case initContainer:
		return &st.InitContainerStatuses[s.index]
	case ephemeralContainer:
		return statusOf(st.EphemeralContainerStatuses, s.name)
	default:
		return &st.ContainerStatuses[s.index]
	}
}

func (s slot) set(change func(*corev1.ContainerStatus)) {
	s.p.update(func(st *corev1.PodStatus) { change(s.of(st)) })
}

// get is the container's status as it is now.
func (s slot) get() corev1.ContainerStatus {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return *s.of(&s.p.status).DeepCopy()
}

func (s slot) stopped() bool {
	select {
	case <-s.stop:
		return true
	case <-s.p.starting.Done():
		return true
	default:
		return false
	}
}

// keep runs a container, again and again as the policy says, and returns its last exit code.
func (p *pod) keep(c *corev1.Container, s slot, policy corev1.RestartPolicy) int32 {
	first := p.latestLife(c)
	backoff := p.backoffBefore(c, first)
	for restarts := first; ; restarts++ {
		if restarts > 0 {
			s.set(func(cs *corev1.ContainerStatus) { cs.RestartCount = restarts })
		}
		end := p.runOnce(c, s, restarts)
		again := policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && end.ExitCode != 0
		if !again || s.stopped() {
			s.set(func(cs *corev1.ContainerStatus) {
				cs.State, cs.Ready = corev1.ContainerState{Terminated: end}, s.kind == initContainer && end.ExitCode == 0
				cs.Started = new(bool)
			})
			return end.ExitCode
		}
		if wasHealthy(end.StartedAt.Time, end.FinishedAt.Time) {
			backoff = 0
		}
		s.crashed(end, backoff)
		if !p.pauseFor(backoff-time.Since(end.FinishedAt.Time), s.stop) {
			s.set(func(cs *corev1.ContainerStatus) { cs.State = corev1.ContainerState{Terminated: end} })
			return end.ExitCode
		}
		backoff = nextBackoff(backoff)
	}
}

// crashed says that the container is to be restarted.
func (s slot) crashed(end *corev1.ContainerStateTerminated, backoff time.Duration) {
	s.set(func(cs *corev1.ContainerStatus) {
		cs.State, cs.LastTerminationState = corev1.ContainerState{Terminated: end}, corev1.ContainerState{Terminated: end}
		cs.Ready, cs.Started = false, new(bool)
		if backoff == 0 { // it is restarted at once
			return
		}
		pod := s.p.obj
		cs.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason:  "CrashLoopBackOff",
			Message: fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)", backoff, cs.Name, pod.Name, pod.Namespace, pod.UID),
		}}
		s.p.event(corev1.EventTypeWarning, "BackOff", "Back-off restarting failed container %s in pod %s_%s(%s)", cs.Name, pod.Name, pod.Namespace, pod.UID)
	})
}

func nextBackoff(d time.Duration) time.Duration { return min(max(2*d, firstBackoff), lastBackoff) }

// backoffBefore is how long is waited after a life, from what came before it.
func (p *pod) backoffBefore(c *corev1.Container, restarts int32) time.Duration {
	backoff := time.Duration(0)
	for n := range restarts {
		if e, err := p.life(c.Name, n).ReadExit(); err == nil && wasHealthy(e.Started, e.Finished) {
			backoff = 0
		}
		backoff = nextBackoff(backoff)
	}
	return backoff
}

// wasHealthy says whether a life was a good one; one whose command never ran was not.
func wasHealthy(started, finished time.Time) bool {
	return !started.IsZero() && finished.Sub(started) > healthyAfter
}

// pauseFor waits, and says whether the pod is still wanted.
func (p *pod) pauseFor(d time.Duration, stop <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.starting.Done():
		return false
	case <-stop:
		return false
	case <-timer.C:
		return true
	}
}

// runOnce runs a container once and says how it ended. Where an earlier kubelet
// has begun that life, it goes on with it.
func (p *pod) runOnce(c *corev1.Container, s slot, restarts int32) *corev1.ContainerStateTerminated {
	id := fmt.Sprintf("process://%s/%s/%d", p.obj.UID, c.Name, restarts)
	if end := s.reported(id); end != nil {
		return end
	}
	proc, exit := p.rejoin(c, restarts)
	if exit != nil {
		if was := s.get(); exit.Started.IsZero() && was.ContainerID == id && was.State.Running != nil {
			exit.Started = was.State.Running.StartedAt.Time // nobody saw it end, but an earlier kubelet saw it start
		}
		return p.terminated(c, restarts, id, *exit)
	}
	if proc == nil {
		if p.starting.Err() != nil {
			return terminatedNow(id, 137, "ContainerStatusUnknown", "The container was not started.")
		}
		if do := p.argo.standIn(p, c); do != nil {
			began := metav1.Now()
			s.running(c, id, began)
			code, err := do(p.starting)
			end := terminatedNow(id, code, reasonOf(code), "")
			if err != nil {
				end = terminatedNow(id, max(code, 1), "Error", err.Error())
			}
			end.StartedAt = began
			return end
		}
		var end *corev1.ContainerStateTerminated
		if proc, end = p.begin(c, s, restarts, id); end != nil {
			return end
		}
		p.containerEvent(c, corev1.EventTypeNormal, "Started", "Started container %s", c.Name)
		p.postStart(c, proc)
	}
	s.running(c, id, metav1.NewTime(proc.started))
	p.watchHealth(c, s, proc)
	if s.stopped() && !p.isEnding() { // those that stop the sidecars may not have found it
		p.endContainer(c, proc, p.grace())
	}
	<-proc.exited
	p.mu.Lock()
	delete(p.running, c.Name)
	p.mu.Unlock()
	return p.terminated(c, restarts, id, proc.exit)
}

// begin starts a container, or says why that was not possible.
func (p *pod) begin(c *corev1.Container, s slot, restarts int32, id string) (*process, *corev1.ContainerStateTerminated) {
	if err := p.imageWhenPossible(c, s); err != nil {
		return nil, terminatedNow(id, container.ExitNotStarted, errImagePull, err.Error())
	}
	spec, err := p.specWhenPossible(c, s)
	if err != nil {
		if p.starting.Err() == nil {
			p.containerEvent(c, corev1.EventTypeWarning, "Failed", "Error: %v", err)
		}
		return nil, terminatedNow(id, container.ExitNotStarted, "CreateContainerConfigError", err.Error())
	}
	if p.argo == nil { // of a step, the fewer words the better: it is to be quick, and its start says the same
		p.containerEvent(c, corev1.EventTypeNormal, "Created", "Created container: %s", c.Name)
	}
	proc, err := p.startProcess(c, spec, restarts)
	if err != nil && p.starting.Err() != nil {
		return nil, terminatedNow(id, 137, "Error", "The pod was stopped before the container was started.")
	}
	if err != nil && p.holderGone() {
		return nil, p.terminated(c, restarts, id, lostExit(time.Time{}))
	}
	if err != nil {
		p.containerEvent(c, corev1.EventTypeWarning, "Failed", "Error: %v", err)
		return nil, terminatedNow(id, container.ExitNotStarted, "StartError", err.Error())
	}
	return proc, nil
}

// running says that the container runs. What an earlier kubelet found out about its health stays true until there is news.
func (s slot) running(c *corev1.Container, id string, since metav1.Time) {
	started, imageID := false, s.p.imageID(c.Name)
	s.set(func(cs *corev1.ContainerStatus) {
		if !s.p.adopted || cs.ContainerID != id || cs.State.Running == nil {
			yes := c.StartupProbe == nil
			cs.Started = &yes
			cs.Ready = yes && c.ReadinessProbe == nil && (s.kind == mainContainer || isSidecar(c))
		}
		started = isTrue(cs.Started)
		cs.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}}
		cs.ContainerID, cs.ImageID = id, imageID
		cs.Resources, cs.AllocatedResources = c.Resources.DeepCopy(), c.Resources.Requests.DeepCopy()
	})
	if started && s.started != nil {
		s.started()
	}
}

// reported is the end of a life that an earlier kubelet has reported.
func (s slot) reported(id string) *corev1.ContainerStateTerminated {
	if !s.p.adopted {
		return nil
	}
	cs := s.get()
	if end := cs.State.Terminated; end != nil && end.ContainerID == id {
		return end
	}
	return nil
}

// terminated is the end of a life as it is reported.
func (p *pod) terminated(c *corev1.Container, restarts int32, id string, exit podlog.Exit) *corev1.ContainerStateTerminated {
	end := &corev1.ContainerStateTerminated{
		ContainerID: id, ExitCode: int32(exit.Code), Reason: reasonOf(exit.Code),
		StartedAt: metav1.NewTime(exit.Started), FinishedAt: metav1.NewTime(exit.Finished),
	}
	switch {
	case exit.Lost:
		p.lost(c, restarts, exit)
		end.Reason, end.Message = "NodeLost", lostMessage
	case exit.Fault != "":
		end.Reason, end.Message = "StartError", exit.Fault
	default:
		if exit.OOM {
			end.Reason = "OOMKilled"
		}
		end.Message = p.terminationMessage(c, restarts, exit.Code)
	}
	return end
}

func terminatedNow(id string, code int, reason, message string) *corev1.ContainerStateTerminated {
	now := metav1.Now()
	return &corev1.ContainerStateTerminated{ContainerID: id, ExitCode: int32(code), Reason: reason, Message: message, StartedAt: now, FinishedAt: now}
}

func reasonOf(code int) string {
	if code == 0 {
		return "Completed"
	}
	return "Error"
}

// specWhenPossible describes the container, waiting for what it refers to.
func (p *pod) specWhenPossible(c *corev1.Container, s slot) (*container.Spec, error) {
	told := ""
	for {
		spec, err := p.containerSpec(c)
		var missing *missingError
		var unusable *unusableError
		if !errors.As(err, &missing) && !errors.As(err, &unusable) {
			return spec, err
		}
		if msg := err.Error(); msg != told {
			told = msg
			p.containerEvent(c, corev1.EventTypeWarning, "Failed", "Error: %s", msg)
			s.set(func(cs *corev1.ContainerStatus) {
				cs.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: msg}}
			})
		}
		if !p.pauseFor(configRetry, s.stop) {
			return nil, err
		}
	}
}

// standInFunc does a container's work without a process of its own. It returns an exit code.
type standInFunc func(context.Context) (int, error)
