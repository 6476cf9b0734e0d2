package kubelet

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/images"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podstatus"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/process"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/spec"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
)

// member is a container of the pod.
type member struct {
	p       *pod
	c       *corev1.Container
	kind    containerKind
	index   int             // in the list of its kind; of a container that was added to a running pod the name counts
	started func()          // called when the container runs; may be nil
	stop    <-chan struct{} // closed when the container is not to be restarted; may be nil
}

type containerKind int

const (
	mainContainer containerKind = iota
	initContainer
	ephemeralContainer
)

func (p *pod) member(c *corev1.Container, kind containerKind, index int) member {
	return member{p: p, c: c, kind: kind, index: index}
}

// of is its place in a status.
func (m member) of(st *corev1.PodStatus) *corev1.ContainerStatus {
	switch m.kind {
	case initContainer:
		return &st.InitContainerStatuses[m.index]
	case ephemeralContainer:
		return podstatus.Find(st.EphemeralContainerStatuses, m.c.Name)
	default:
		return &st.ContainerStatuses[m.index]
	}
}

func (m member) set(change func(*corev1.ContainerStatus)) {
	m.p.status.Update(func(st *corev1.PodStatus) { change(m.of(st)) })
}

// get is the container's status as it is now.
func (m member) get() corev1.ContainerStatus {
	return *m.of(m.p.status.Now())
}

func (m member) stopped() bool {
	select {
	case <-m.stop:
		return true
	case <-m.p.starting.Done():
		return true
	default:
		return false
	}
}

// keep runs a container, again and again as the policy says, and returns its last exit code.
func (m member) keep(policy corev1.RestartPolicy) int32 {
	first := m.latestLife()
	backoff := process.BackoffBefore(m.life(first))
	for restarts := first; ; restarts++ {
		if restarts > 0 {
			m.set(func(cs *corev1.ContainerStatus) { cs.RestartCount = restarts })
		}
		end := m.runOnce(restarts)
		again := policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && end.ExitCode != 0
		if !again || m.stopped() {
			m.set(func(cs *corev1.ContainerStatus) {
				cs.State, cs.Ready = corev1.ContainerState{Terminated: end}, m.kind == initContainer && end.ExitCode == 0
				cs.Started = new(bool)
			})
			return end.ExitCode
		}
		if process.WasHealthy(end.StartedAt.Time, end.FinishedAt.Time) {
			backoff = 0
		}
		m.crashed(end, backoff)
		if !m.p.pauseFor(backoff-time.Since(end.FinishedAt.Time), m.stop) {
			m.set(func(cs *corev1.ContainerStatus) { cs.State = corev1.ContainerState{Terminated: end} })
			return end.ExitCode
		}
		backoff = process.NextBackoff(backoff)
	}
}

// crashed says that the container is to be restarted.
func (m member) crashed(end *corev1.ContainerStateTerminated, backoff time.Duration) {
	m.set(func(cs *corev1.ContainerStatus) {
		cs.State, cs.LastTerminationState = corev1.ContainerState{Terminated: end}, corev1.ContainerState{Terminated: end}
		cs.Ready, cs.Started = false, new(bool)
		if backoff == 0 { // it is restarted at once
			return
		}
		pod := m.p.obj
		cs.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
			Reason:  "CrashLoopBackOff",
			Message: fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)", backoff, cs.Name, pod.Name, pod.Namespace, pod.UID),
		}}
		m.p.events.Event(corev1.EventTypeWarning, "BackOff", "Back-off restarting failed container %s in pod %s_%s(%s)", cs.Name, pod.Name, pod.Namespace, pod.UID)
	})
}

// runOnce runs a container once and says how it ended. Where an earlier kubelet
// has begun that life, it goes on with it.
func (m member) runOnce(restarts int32) *corev1.ContainerStateTerminated {
	p, c := m.p, m.c
	id := fmt.Sprintf("process://%s/%s/%d", p.obj.UID, c.Name, restarts)
	if end := m.reported(id); end != nil {
		return end
	}
	proc, exit := m.rejoin(restarts)
	if exit != nil {
		if was := m.get(); exit.Started.IsZero() && was.ContainerID == id && was.State.Running != nil {
			exit.Started = was.State.Running.StartedAt.Time // it ended unseen, but an earlier kubelet saw it start
		}
		return m.terminated(restarts, id, *exit)
	}
	if proc == nil {
		if p.starting.Err() != nil {
			return terminatedNow(id, 137, "ContainerStatusUnknown", "The container was not started.")
		}
		if p.argo.Plays(c) {
			began := metav1.Now()
			m.running(id, began)
			code, err := p.executor().Work(c)(p.starting)
			end := terminatedNow(id, code, reasonOf(code), "")
			if err != nil {
				end = terminatedNow(id, max(code, 1), "Error", err.Error())
			}
			end.StartedAt = began
			return end
		}
		var end *corev1.ContainerStateTerminated
		if proc, end = m.begin(restarts, id); end != nil {
			return end
		}
		p.events.Container(c, corev1.EventTypeNormal, "Started", "Started container %s", c.Name)
		m.probed(proc).PostStart(p.starting)
	}
	m.running(id, metav1.NewTime(proc.Started))
	m.watchHealth(proc)
	if m.stopped() && !p.isEnding() { // those that stop the sidecars may not have found it
		m.end(proc, p.grace())
	}
	<-proc.Exited
	p.mu.Lock()
	delete(p.running, c.Name)
	p.mu.Unlock()
	return m.terminated(restarts, id, proc.Exit)
}

// begin starts a container, or says why that was not possible.
func (m member) begin(restarts int32, id string) (*process.Process, *corev1.ContainerStateTerminated) {
	p, c := m.p, m.c
	if err := m.imageWhenPossible(); err != nil {
		return nil, terminatedNow(id, container.ExitNotStarted, images.ErrImagePull, err.Error())
	}
	spec, err := m.specWhenPossible()
	if err != nil {
		if p.starting.Err() == nil {
			p.events.Container(c, corev1.EventTypeWarning, "Failed", "Error: %v", err)
		}
		return nil, terminatedNow(id, container.ExitNotStarted, "CreateContainerConfigError", err.Error())
	}
	if p.argo == nil { // of a step, the fewer words the better: it is to be quick, and its start says the same
		p.events.Container(c, corev1.EventTypeNormal, "Created", "Created container: %s", c.Name)
	}
	proc, err := m.start(spec, restarts)
	if err != nil && p.starting.Err() != nil {
		return nil, terminatedNow(id, 137, "Error", "The pod was stopped before the container was started.")
	}
	if err != nil && p.holderGone() {
		return nil, m.terminated(restarts, id, process.Lost(time.Time{}))
	}
	if err != nil {
		p.events.Container(c, corev1.EventTypeWarning, "Failed", "Error: %v", err)
		return nil, terminatedNow(id, container.ExitNotStarted, "StartError", err.Error())
	}
	return proc, nil
}

// running says that the container runs. What an earlier kubelet found out about its health stays true until there is news.
func (m member) running(id string, since metav1.Time) {
	c, started, imageID := m.c, false, m.imageID()
	m.set(func(cs *corev1.ContainerStatus) {
		if !m.p.adopted || cs.ContainerID != id || cs.State.Running == nil {
			yes := c.StartupProbe == nil
			cs.Started = &yes
			cs.Ready = yes && c.ReadinessProbe == nil && (m.kind == mainContainer || podspec.IsSidecar(c))
		}
		started = podspec.IsTrue(cs.Started)
		cs.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}}
		cs.ContainerID, cs.ImageID = id, imageID
		cs.Resources, cs.AllocatedResources = c.Resources.DeepCopy(), c.Resources.Requests.DeepCopy()
	})
	if started && m.started != nil {
		m.started()
	}
}

// reported is the end of a life that an earlier kubelet has reported.
func (m member) reported(id string) *corev1.ContainerStateTerminated {
	if !m.p.adopted {
		return nil
	}
	cs := m.get()
	if end := cs.State.Terminated; end != nil && end.ContainerID == id {
		return end
	}
	return nil
}

// terminated is the end of a life as it is reported.
func (m member) terminated(restarts int32, id string, exit podlog.Exit) *corev1.ContainerStateTerminated {
	end := &corev1.ContainerStateTerminated{
		ContainerID: id, ExitCode: int32(exit.Code), Reason: reasonOf(exit.Code),
		StartedAt: metav1.NewTime(exit.Started), FinishedAt: metav1.NewTime(exit.Finished),
	}
	switch {
	case exit.Lost:
		m.lost(restarts, exit)
		end.Reason, end.Message = "NodeLost", lostMessage
	case exit.Fault != "":
		end.Reason, end.Message = "StartError", exit.Fault
	default:
		if exit.OOM {
			end.Reason = "OOMKilled"
		}
		end.Message = spec.TerminationMessage(m.p.dir, m.c, m.life(restarts), exit.Code, m.p.log)
		if exit.TooMany > 0 {
			end.Reason = "TooManyProcesses"
			end.Message = fmt.Sprintf("The container was ended for having more than %d processes and threads.", exit.TooMany)
		}
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
func (m member) specWhenPossible() (*container.Spec, error) {
	told := ""
	for {
		spec, err := m.spec()
		var missing *podspec.MissingError
		var unusable *podspec.UnusableError
		if !errors.As(err, &missing) && !errors.As(err, &unusable) {
			return spec, err
		}
		if msg := err.Error(); msg != told {
			told = msg
			m.p.events.Container(m.c, corev1.EventTypeWarning, "Failed", "Error: %s", msg)
			m.set(func(cs *corev1.ContainerStatus) {
				cs.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: msg}}
			})
		}
		if !m.p.pauseFor(configRetry, m.stop) {
			return nil, err
		}
	}
}
