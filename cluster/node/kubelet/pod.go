package kubelet

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"net/netip"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/admission"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/argo"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/events"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/images"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podrecord"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podstatus"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/process"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/report"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/sandbox"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/volumes"
	"github.com/argosy-ml/argosy/cluster/runtime/machine"
	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

// pod is the life of one pod on this node.
type pod struct {
	k    *Kubelet
	obj  *corev1.Pod // as it was when it was started
	dir  string
	log  *slog.Logger
	argo *argo.Step // nil unless it is a step of an Argo workflow

	mainOver chan struct{} // closed when the container `main` is over, or is not going to be started

	// starting ends when the pod is to end: nothing new is begun and nothing more is waited for.
	starting context.Context
	abandon  context.CancelFunc
	done     chan struct{} // closed when nothing of the pod runs and its last status is sent

	gpus    []machine.GPU     // written before containers start
	volumes map[string]string // folder of each volume; written before containers start
	holder  *shim.Holder
	addr    netip.Addr
	adopted bool // an earlier kubelet set it up

	ephemerals ephemerals
	deadline   deadline
	status     *report.Status
	tokens     volumes.HeldTokens
	events     *events.Recorder
	dialed     atomic.Bool // a port of its loopback was asked for

	mu       sync.Mutex
	running  map[string]*process.Process // by container name
	ending   bool
	killAt   time.Time
	reason   string // why the pod as a whole failed
	message  string
	record   podrecord.Record
	images   map[string]*images.Image // by container name; nil where it runs on this machine's files
	deleting bool                     // guarded by the kubelet's lock
}

func newPod(k *Kubelet, obj *corev1.Pod) *pod {
	p := &pod{
		k: k, obj: obj, dir: k.podDir(obj.UID), log: k.log.With("pod", obj.Namespace+"/"+obj.Name),
		done: make(chan struct{}), mainOver: make(chan struct{}),
		running: map[string]*process.Process{}, images: map[string]*images.Image{},
	}
	p.starting, p.abandon = context.WithCancel(context.Background())
	if !k.cfg.StockArgo {
		p.argo = argo.StepOf(obj)
	}
	p.events = events.New(obj, k.events[obj.Spec.NodeName], p.argo != nil)
	template := ""
	if p.argo != nil {
		template = p.argo.Template.Name
	}
	p.status = k.reports.For(obj, template, p.log)
	p.ephemerals.p = p
	p.deadline.end = func() {
		p.terminate(p.grace(), "DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
	}
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
	p.status.Change(func(s *corev1.PodStatus) {
		*s = *obj.Status.DeepCopy()
		podstatus.Lose(s, "NodeLost", lostMessage)
	})
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
	sender.Go(func() { p.status.SendChanges(sending) })

	p.deadline.begin(time.Now().Add(-p.age()), p.obj)
	defer p.deadline.forget()
	var err error
	if p.adopted {
		p.takeOver()
	} else if err = p.refused(admission.Refuse(p.obj)); err == nil {
		if err = p.enter(); err == nil {
			err = p.setUp()
		}
	}
	if err == nil {
		p.runContainers()
	}
	keep := p.mayKeepSandbox()
	if p.holder != nil && !keep {
		p.holder.End() // while the end is reported
	}
	p.leave()
	if !p.adopted {
		p.status.NoteLife(time.Now())
	}
	p.mu.Lock()
	reason, message := p.reason, p.message
	p.mu.Unlock()
	p.status.Change(func(s *corev1.PodStatus) { podstatus.Finish(s, err, p.starting.Err() != nil, reason, message) })
	p.events.End(p.status.Phase() != corev1.PodSucceeded)
	stopSending()
	sender.Wait()
	p.sendLastStatus()
	if keep {
		if err := p.k.sandboxes.Keep(p.holder, p.addr, p.obj.Namespace, p.dialed.Load); err != nil {
			p.log.Warn("sandbox of the pod not kept", "err", err)
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
	if err := sandbox.ApplySysctls(p.obj, p.holder); err != nil {
		if refused := new(podspec.RefusedError); errors.As(err, &refused) {
			return p.fail(refused.Reason, refused.Message)
		}
		return err
	}
	if err := sandbox.LimitShm(p.path(sandbox.Shm), p.volumeSet().MemoryLimit()); err != nil {
		return err
	}
	p.record.Began = time.Now()
	p.status.Update(p.began)
	for _, w := range admission.Warnings(p.obj) {
		p.events.WarnOnce(w.Reason, "%s", w.Message)
	}
	if err := p.mountVolumes(); err != nil {
		return err
	}
	return p.remember(func(r *podrecord.Record) {
		r.Addr, r.Volumes, r.Reason, r.Message = p.addr, p.volumes, p.reason, p.message
	})
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
	p.k.limits.Forget(p.obj.UID) // not before: a group in which something runs stays
	if p.addr.IsValid() {
		p.k.addresses.Give(p.addr)
	}
	p.k.leftovers.Add(p.dir, p.log)
	return sandbox.UnmountMemory(p.dir)
}

// terminate ends the pod: its containers get a signal, and are killed when
// the grace is over. A reason makes the pod Failed. A later call may only shorten
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
		if err := p.remember(func(r *podrecord.Record) { r.Reason, r.Message = reason, message }); err != nil {
			p.log.Warn("record of the pod not written", "err", err)
		}
	}
	if !sooner {
		return
	}
	select {
	case <-p.done: // the pod has ended
		return
	default:
	}
	p.k.work.Go(func() {
		patience, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if first && grace > 0 {
			// When the node stops, waiting for a process that ignores the signal would only waste time.
			p.stopContainers(patience, reason == nodeShutdown)
		}
		select {
		case <-p.done:
		case <-patience.Done():
			for _, proc := range p.processes() {
				p.tell(proc, unix.SIGKILL, false)
			}
			<-p.done
		}
	})
}

// processes are the running containers, by name.
func (p *pod) processes() map[string]*process.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.running)
}

func (p *pod) isEnding() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ending
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

// sendLastStatus reports the end of the pod, however long that takes. What
// could not be reported, the next kubelet finds in the pod's folder.
func (p *pod) sendLastStatus() {
	if !p.status.Send(p.k.reporting) {
		p.log.Warn("the end of the pod could not be reported")
		return
	}
	if err := p.remember(func(r *podrecord.Record) { r.Over = true }); err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.log.Warn("record of the pod not written", "err", err)
	}
}
