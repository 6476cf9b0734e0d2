package kubelet

import (
	"errors"
	"os"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/container"
	"github.com/argosy-ml/argosy/cluster/podholder"
	"github.com/argosy-ml/argosy/cluster/podlog"
)

// process is a running container.
type process struct {
	name    string
	holder  *podholder.Holder
	life    podlog.Life
	started time.Time
	polite  syscall.Signal // asks it to end
	exited  chan struct{}  // closed when it is gone and its output is in the log
	exit    podlog.Exit    // set before exited is closed
}

// startProcess starts a container. It returns when its command runs.
func (p *pod) startProcess(c *corev1.Container, spec *container.Spec, restarts int32) (*process, error) {
	select {
	case p.k.starting <- struct{}{}:
	case <-p.starting.Done():
		return nil, p.starting.Err()
	}
	defer func() { <-p.k.starting }()
	if p.holderGone() {
		return nil, errors.New("the pod's holder is gone")
	}
	// A restarted container starts from the image again.
	if err := os.RemoveAll(spec.Scratch); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(spec.Scratch, 0o755); err != nil {
		return nil, err
	}
	if restarts > 1 { // the log of the life before is kept, as in Kubernetes
		if err := p.life(c.Name, restarts-2).Forget(); err != nil {
			return nil, err
		}
	}
	cmd := podholder.Command{Stdin: c.Stdin, StdinOnce: c.StdinOnce, TTY: c.TTY, Shared: isTrue(p.obj.Spec.ShareProcessNamespace)}
	free, err := p.k.limits.limit(p, c, restarts, spec, &cmd)
	if err != nil {
		return nil, err
	}
	run, err := p.runCommand(c, cmd, spec, restarts)
	if err != nil {
		free()
		return nil, err
	}
	proc := p.attend(c, restarts, run, free)
	if p.isEnding() {
		// The order to stop came while the container was being set up and has not reached it.
		if err := proc.signal(syscall.SIGKILL, false); err != nil {
			p.log.Warn("container not killed", "container", c.Name, "err", err)
		}
	}
	return proc, nil
}

// runCommand has the pod's holder start a container.
func (p *pod) runCommand(c *corev1.Container, cmd podholder.Command, spec *container.Spec, restarts int32) (*podholder.Container, error) {
	run, err := p.holder.Run(p.starting, c.Name, int(restarts), cmd, spec)
	if err != nil {
		return nil, err
	}
	if !run.Started.IsZero() {
		return run, nil
	}
	exit, err := run.Wait()
	if err != nil {
		return nil, err
	}
	return nil, errors.New(exit.Fault)
}

// attend waits for the end of a running container, and then gives back what it had.
func (p *pod) attend(c *corev1.Container, restarts int32, run *podholder.Container, free func()) *process {
	proc := &process{name: c.Name, holder: p.holder, life: p.life(c.Name, restarts), started: run.Started, exited: make(chan struct{})}
	p.mu.Lock()
	proc.polite = stopSignal(p.record.Images[c.Name].StopSignal)
	p.running[c.Name] = proc
	p.mu.Unlock()
	p.k.work.Go(func() {
		defer close(proc.exited)
		var err error
		if proc.exit, err = run.Wait(); err != nil {
			proc.exit = lostExit(run.Started)
		}
		free()
	})
	return proc
}

// process of a running container.
func (p *pod) process(container string) (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if proc := p.running[container]; proc != nil {
		return proc, nil
	}
	return nil, errors.New("container " + container + " is not running")
}

// life is a run of a container, whose log and end lie among the pod's logs.
func (p *pod) life(container string, restarts int32) podlog.Life {
	return podlog.Life{Folder: p.path(podholder.LogFolder, container), Number: int(restarts)}
}

// signal sends sig to the container's first process. It is no error when that is
// gone. Like every first process of a pid namespace it never sees a signal that
// it has no handler for; with orKill it is killed then.
func (proc *process) signal(sig syscall.Signal, orKill bool) error {
	err := proc.holder.Signal(proc.name, sig, orKill)
	select {
	case <-proc.exited:
		return nil
	case <-proc.holder.Gone():
		return nil
	default:
		return err
	}
}
