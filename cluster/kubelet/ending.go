package kubelet

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
)

// leastGrace is what a container gets whose preStop hook, or those before it, used the time up.
const leastGrace = 2 * time.Second

// stopContainers ends all that runs in the pod: the main containers side by side, then the sidecars, in the reverse order
// of their start. It returns when they have ended; with orKill those that would not hear of it are killed at once.
func (p *pod) stopContainers(patience context.Context, orKill bool) {
	running := p.processes()
	var main, all sync.WaitGroup
	var sidecars []*corev1.Container // in the order of their end
	begin := func(c *corev1.Container, turn <-chan struct{}, done func()) {
		proc := running[c.Name]
		all.Go(func() {
			defer done()
			p.containerEvent(c, corev1.EventTypeNormal, "Killing", "Stopping container %s", c.Name)
			p.stopInTurn(patience, c, proc, turn, orKill)
		})
	}
	for _, list := range [][]corev1.Container{p.ephemeralContainers(), p.obj.Spec.Containers, p.obj.Spec.InitContainers} {
		for i := range list {
			c := &list[len(list)-1-i]
			switch {
			case running[c.Name] == nil:
			case isSidecar(c):
				sidecars = append(sidecars, c)
			default:
				main.Add(1)
				begin(c, nil, main.Done)
			}
		}
	}
	turn := make(chan struct{})
	first := turn
	for _, c := range sidecars {
		next := make(chan struct{})
		begin(c, turn, func() { close(next) })
		turn = next
	}
	main.Wait()
	close(first)
	all.Wait()
}

// endContainer ends one container of a pod that goes on: its hook, then the order to stop, then force.
func (p *pod) endContainer(c *corev1.Container, proc *process, grace time.Duration) {
	patience, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	p.stopInTurn(patience, c, proc, nil, false)
}

// stopInTurn ends a container: its preStop hook at once, then, when it is its turn, the order to stop, and force when
// patience is over. It returns when the container has ended.
func (p *pod) stopInTurn(patience context.Context, c *corev1.Container, proc *process, turn <-chan struct{}, orKill bool) {
	p.preStop(patience, c, proc)
	if turn != nil {
		select {
		case <-turn:
		case <-patience.Done():
		case <-proc.exited:
		}
	}
	force := patience.Done()
	if patience.Err() != nil {
		late, cancel := context.WithTimeout(context.Background(), leastGrace)
		defer cancel()
		force = late.Done()
	}
	p.tell(proc, proc.polite, orKill)
	select {
	case <-proc.exited:
		return
	case <-force:
	}
	p.tell(proc, unix.SIGKILL, false)
	<-proc.exited
}

func (p *pod) tell(proc *process, sig unix.Signal, orKill bool) {
	if err := proc.signal(sig, orKill); err != nil {
		p.log.Warn("signal not sent", "container", proc.name, "signal", sig, "err", err)
	}
}
