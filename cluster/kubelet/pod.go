package kubelet

import (
	"context"
	"log/slog"
	"maps"
	"net/netip"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/machine"
	"github.com/argosy-ml/argosy/cluster/podholder"
)

// pod is the life of one pod on this node.
type pod struct {
	k    *Kubelet
	obj  *corev1.Pod // as it was when it was started
	dir  string
	log  *slog.Logger
	argo *argoStep // nil unless it is a step of an Argo workflow

	mainOver chan struct{} // closed when the container `main` is over, or is not going to be started

	// starting ends when the pod is to end: nothing new is begun and nothing more is waited for.
	starting context.Context
	abandon  context.CancelFunc
	done     chan struct{} // closed when nothing of the pod runs and its last status is sent

	gpus    []machine.GPU     // written before containers start
	volumes map[string]string // folder of each volume; written before containers start
	holder  *podholder.Holder
	addr    netip.Addr
	adopted bool // an earlier kubelet set it up

	ephemerals ephemerals
	held       heldEvents
	reported   bool        // its outputs or their announcement; by what plays `wait`
	dialed     atomic.Bool // a port of its loopback was asked for

	mu       sync.Mutex
	status   corev1.PodStatus
	changed  chan struct{}       // holds a token when the status is to be sent
	stored   *corev1.Pod         // what the apiserver is known to have of it; no specification
	ran      time.Time           // when its containers began to run
	running  map[string]*process // by container name
	ending   bool
	killAt   time.Time
	reason   string // why the pod as a whole failed
	message  string
	record   podRecord
	gates    []corev1.PodCondition
	told     map[string]bool      // warnings that were given
	images   map[string]*unpacked // by container name; nil where it runs on this machine's files
	since    time.Time            // when its deadline began to run
	seconds  int64                // of its deadline
	deadline *time.Timer
	deleting bool // guarded by the kubelet's lock
}

func newPod(k *Kubelet, obj *corev1.Pod) *pod {
	p := &pod{
		k: k, obj: obj, dir: k.podDir(obj.UID), log: k.log.With("pod", obj.Namespace+"/"+obj.Name),
		done: make(chan struct{}), mainOver: make(chan struct{}), changed: make(chan struct{}, 1),
		running: map[string]*process{}, images: map[string]*unpacked{},
	}
	p.starting, p.abandon = context.WithCancel(context.Background())
	p.argo = argoStepOf(obj)
	p.gates = gatesOf(obj)
	p.status = p.initialStatus()
	p.know(obj)
	return p
}

// startPod begins a pod's life. The kubelet's lock is held.
func startPod(k *Kubelet, obj *corev1.Pod) *pod {
	p := newPod(k, obj)
	k.work.Go(p.live)
	return p
}

// lostPod reports the end of a pod that an earlier kubelet had started. The kubelet's lock is held.
func lostPod(k *Kubelet, obj *corev1.Pod) *pod {
	p := newPod(k, obj)
	p.abandon()
	p.status = *obj.Status.DeepCopy()
	p.lose("NodeLost", lostMessage)
	k.work.Go(func() {
		defer close(p.done)
		p.sendLastStatus()
	})
	return p
}

// live is the whole life of the pod.
func (p *pod) live() {
	defer close(p.done)
	defer p.abandon()
	// Statuses are sent by one goroutine, or an old one could overtake a new one.
	sending, stopSending := context.WithCancel(context.Background())
	defer stopSending()
	var sender sync.WaitGroup
	sender.Go(func() { p.sendChanges(sending) })

	p.mu.Lock()
	p.since = time.Now().Add(-p.age())
	p.mu.Unlock()
	p.seeDeadline(p.obj)
	defer p.forgetDeadline()
	var err error
	if p.adopted {
		p.takeOver()
	} else if err = p.refuse(); err == nil {
		if err = p.enter(); err == nil {
			err = p.setUp()
		}
	}
	if err == nil {
		p.runContainers()
	}
	moveOut := p.mayMoveOut()
	if p.holder != nil && !moveOut {
		p.holder.End() // while the end is reported
	}
	p.leave()
	p.noteLife()
	p.finish(err)
	p.held.end(!p.succeeded())
	stopSending()
	sender.Wait()
	p.sendLastStatus()
	if moveOut {
		if err := p.moveOut(); err != nil {
			p.log.Warn("berth of the pod not kept", "err", err)
			p.holder.End()
		}
	}
	if err := p.tearDown(); err != nil {
		p.log.Warn("pod not cleaned up", "err", err)
	}
}

func (p *pod) grace() time.Duration {
	if s := p.obj.Spec.TerminationGracePeriodSeconds; s != nil {
		return time.Duration(*s) * time.Second
	}
	return 30 * time.Second
}

// setUp makes everything that the pod's containers share.
func (p *pod) setUp() error {
	if err := p.startNetwork(); err != nil {
		return err
	}
	if err := p.applySysctls(); err != nil {
		return err
	}
	p.record.Began = time.Now()
	p.update(p.began)
	p.tellUnheeded()
	if err := p.mountVolumes(); err != nil {
		return err
	}
	return p.remember(func(r *podRecord) { r.Addr, r.Volumes, r.Reason, r.Message = p.addr, p.volumes, p.reason, p.message })
}

// age is how long ago an earlier kubelet began with the pod.
func (p *pod) age() time.Duration {
	if !p.adopted {
		return 0
	}
	return time.Since(p.record.Began)
}

func (p *pod) path(elem ...string) string {
	return filepath.Join(append([]string{p.dir}, elem...)...)
}

// tearDown gives back what the pod had. Of its files the logs and the record stay, and the others until there is time.
func (p *pod) tearDown() error {
	if p.holder != nil {
		<-p.holder.Gone()
	}
	p.k.limits.forget(p.obj.UID) // not before: a group in which something runs stays
	if p.addr.IsValid() {
		p.k.addresses.Give(p.addr)
	}
	p.k.leftovers.add(p)
	return unmountMemory(p.dir)
}

// terminate ends the pod: its containers are told to, and made to when the
// grace is over. A reason makes the pod Failed. A later call may only shorten
// the grace.
func (p *pod) terminate(grace time.Duration, reason, message string) {
	p.abandon()
	p.mu.Lock()
	first := !p.ending
	p.ending = true
	decided := p.reason == "" && reason != "" && p.record.Addr.IsValid()
	if p.reason == "" {
		p.reason, p.message = reason, message
	}
	killAt := time.Now().Add(grace)
	sooner := first || killAt.Before(p.killAt)
	if sooner {
		p.killAt = killAt
	}
	p.mu.Unlock()
	if decided {
		if err := p.remember(func(r *podRecord) { r.Reason, r.Message = reason, message }); err != nil {
			p.log.Warn("record of the pod not written", "err", err)
		}
	}
	if !sooner {
		return
	}
	select {
	case <-p.done: // nothing is left to be told
		return
	default:
	}
	p.k.work.Go(func() {
		patience, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if first && grace > 0 {
			// When the node stops, waiting for a process that never hears of it would only waste time.
			p.stopContainers(patience, reason == nodeShutdown)
		}
		select {
		case <-p.done:
		case <-patience.Done():
			p.signal(unix.SIGKILL)
			<-p.done
		}
	})
}

// signal sends sig to the first process of every running container.
func (p *pod) signal(sig unix.Signal) {
	for _, proc := range p.processes() {
		p.tell(proc, sig, false)
	}
}

// processes are the running containers, by name.
func (p *pod) processes() map[string]*process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.running)
}

func (p *pod) succeeded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status.Phase == corev1.PodSucceeded
}

func (p *pod) isEnding() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ending
}

func (p *pod) isRunning() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status.Phase == corev1.PodRunning
}
