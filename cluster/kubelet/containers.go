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
	defer sidecars.Wait()
	defer close(stopSidecars)
	for i := range p.obj.Spec.InitContainers {
		c := &p.obj.Spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
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
		if code := p.keep(c, p.slot(true, i), policy); code != 0 || p.starting.Err() != nil {
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
			p.keep(&p.obj.Spec.Containers[i], p.slot(false, i), p.obj.Spec.RestartPolicy)
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
	slot := p.slot(true, i)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-stop:
			p.stopContainer(c.Name)
		case <-p.starting.Done():
		}
	}()
	slot.started = func() { once.Do(func() { close(started) }) }
	slot.stop = stop
	p.keep(c, slot, corev1.RestartPolicyAlways)
	<-ended
}

// stopContainer ends one container, gently first.
func (p *pod) stopContainer(name string) {
	p.mu.Lock()
	proc := p.running[name]
	p.mu.Unlock()
	if proc == nil {
		return
	}
	if err := proc.stop(p.grace()); err != nil {
		p.log.Warn("container not stopped", "container", name, "err", err)
	}
}

// slot is a container's place in the pod's status.
type slot struct {
	p       *pod
	init    bool
	index   int
	started func()          // called when the container runs; may be nil
	stop    <-chan struct{} // closed when the container is not to be restarted; may be nil
}

func (p *pod) slot(init bool, index int) slot { return slot{p: p, init: init, index: index} }

func (s slot) set(change func(*corev1.ContainerStatus)) {
	s.p.update(func(st *corev1.PodStatus) {
		if s.init {
			change(&st.InitContainerStatuses[s.index])
		} else {
			change(&st.ContainerStatuses[s.index])
		}
	})
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
	backoff := time.Duration(0)
	for restarts := int32(0); ; restarts++ {
		born := time.Now()
		end := p.runOnce(c, s, restarts)
		again := policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && end.ExitCode != 0
		if !again || s.stopped() {
			s.set(func(cs *corev1.ContainerStatus) {
				cs.State, cs.Ready = corev1.ContainerState{Terminated: end}, s.init && end.ExitCode == 0
				cs.Started = new(bool)
			})
			return end.ExitCode
		}
		if time.Since(born) > healthyAfter {
			backoff = 0
		}
		s.set(func(cs *corev1.ContainerStatus) {
			cs.LastTerminationState = corev1.ContainerState{Terminated: end}
			cs.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
				Reason: "CrashLoopBackOff", Message: fmt.Sprintf("back-off %s restarting failed container=%s", backoff, c.Name),
			}}
			cs.RestartCount, cs.Ready, cs.Started = restarts+1, false, new(bool)
		})
		p.event(corev1.EventTypeWarning, "BackOff", "Container %s exited with code %d; restarting it in %s", c.Name, end.ExitCode, backoff)
		if !p.pauseFor(backoff, s.stop) {
			s.set(func(cs *corev1.ContainerStatus) { cs.State = corev1.ContainerState{Terminated: end} })
			return end.ExitCode
		}
		backoff = min(max(2*backoff, firstBackoff), lastBackoff)
	}
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

// runOnce runs a container once and says how it ended.
func (p *pod) runOnce(c *corev1.Container, s slot, restarts int32) *corev1.ContainerStateTerminated {
	id := fmt.Sprintf("process://%s/%s/%d", p.obj.UID, c.Name, restarts)
	end := &corev1.ContainerStateTerminated{ContainerID: id, StartedAt: metav1.Now()}
	conclude := func(code int, reason, message string) *corev1.ContainerStateTerminated {
		end.ExitCode, end.Reason, end.Message, end.FinishedAt = int32(code), reason, message, metav1.Now()
		return end
	}
	if p.starting.Err() != nil {
		return conclude(137, "ContainerStatusUnknown", "The container was not started.")
	}
	running := func() {
		s.set(func(cs *corev1.ContainerStatus) {
			end.StartedAt = metav1.Now()
			started := true
			cs.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: end.StartedAt}}
			cs.Ready, cs.Started, cs.ContainerID, cs.ImageID = true, &started, id, c.Image
		})
		if s.started != nil {
			s.started()
		}
	}
	if do := p.argo.standIn(p, c); do != nil {
		running()
		code, err := do(p.starting)
		if err != nil {
			return conclude(max(code, 1), "Error", err.Error())
		}
		return conclude(code, reasonOf(code), "")
	}
	spec, err := p.specWhenPossible(c, s)
	if err != nil {
		return conclude(container.ExitNotStarted, "CreateContainerConfigError", err.Error())
	}
	proc, err := p.startProcess(c, spec, restarts)
	if err != nil {
		if p.starting.Err() != nil {
			return conclude(137, "Error", "The pod was stopped before the container was started.")
		}
		p.event(corev1.EventTypeWarning, "Failed", "Container %s was not started: %v", c.Name, err)
		return conclude(container.ExitNotStarted, "StartError", err.Error())
	}
	running()
	p.event(corev1.EventTypeNormal, "Started", "Started container %s", c.Name)
	<-proc.exited
	p.mu.Lock()
	delete(p.running, c.Name)
	p.mu.Unlock()
	return conclude(proc.exit.Code, reasonOf(proc.exit.Code), p.terminationMessage(c, restarts, proc.exit.Code))
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
			p.event(corev1.EventTypeWarning, "Failed", "Error: %s", msg)
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
