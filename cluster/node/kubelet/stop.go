package kubelet

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/process"
)

// leastGrace is what a container gets whose preStop hook, or those before it, used the time up.
const leastGrace = 2 * time.Second

// stopContainers ends all that runs in the pod: the main containers side by side, then the sidecars, in the reverse order
// of their start. It returns when they have ended; with orKill those that would ignore the signal are killed at once.
func (p *pod) stopContainers(patience context.Context, orKill bool) {
	running := p.processes()
	var main, all sync.WaitGroup
	var sidecars []*corev1.Container // in the order of their end
	begin := func(c *corev1.Container, turn <-chan struct{}, done func()) {
		proc := running[c.Name]
		all.Go(func() {
			defer done()
			p.events.Container(c, corev1.EventTypeNormal, "Killing", "Stopping container %s", c.Name)
			member{p: p, c: c}.stopInTurn(patience, proc, turn, orKill)
		})
	}
	for _, list := range [][]corev1.Container{p.ephemerals.containers(), p.obj.Spec.Containers, p.obj.Spec.InitContainers} {
		for i := range list {
			c := &list[len(list)-1-i]
			switch {
			case running[c.Name] == nil:
			case podspec.IsSidecar(c):
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

// end ends the container in a pod that goes on: its hook, then the order to stop, then force.
func (m member) end(proc *process.Process, grace time.Duration) {
	patience, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	m.stopInTurn(patience, proc, nil, false)
}

// stopInTurn ends the container: its preStop hook at once, then, when it is its turn, the order to stop, and force when
// patience is over. It returns when the container has ended.
func (m member) stopInTurn(patience context.Context, proc *process.Process, turn <-chan struct{}, orKill bool) {
	m.probed(proc).PreStop(patience)
	if turn != nil {
		select {
		case <-turn:
		case <-patience.Done():
		case <-proc.Exited:
		}
	}
	force := patience.Done()
	if patience.Err() != nil {
		late, cancel := context.WithTimeout(context.Background(), leastGrace)
		defer cancel()
		force = late.Done()
	}
	m.p.tell(proc, proc.Polite, orKill)
	select {
	case <-proc.Exited:
		return
	case <-force:
	}
	m.p.tell(proc, unix.SIGKILL, false)
	<-proc.Exited
}

func (p *pod) tell(proc *process.Process, sig unix.Signal, orKill bool) {
	if err := proc.Signal(sig, orKill); err != nil {
		p.log.Warn("signal not sent", "container", proc.Name, "signal", sig, "err", err)
	}
}
