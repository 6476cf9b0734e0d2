// Package process is a running container as the kubelet sees it, and the pauses before it runs again.
package process

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/argosy-ml/argosy/cluster/runtime/container"
	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

// Process is a running container.
type Process struct {
	Name    string
	Holder  *shim.Holder
	Life    podlog.Life
	Started time.Time
	Polite  syscall.Signal // asks it to end
	Exited  chan struct{}  // closed when it is gone and its output is in the log
	Exit    podlog.Exit    // set before Exited is closed
}

// Prepare prepares a container for a start: it starts from the image again, and of earlier starts only the last log is kept, as in
// Kubernetes.
func Prepare(life podlog.Life, scratch string) error {
	if err := os.RemoveAll(scratch); err != nil {
		return err
	}
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return err
	}
	if life.Number < 2 {
		return nil
	}
	return podlog.Life{Folder: life.Folder, Number: life.Number - 2}.Forget()
}

// Start has a pod's holder start a container. It returns when the command runs.
func Start(ctx context.Context, holder *shim.Holder, name string, life int, cmd shim.Command, spec *container.Spec) (*shim.Container, error) {
	run, err := holder.Run(ctx, name, life, cmd, spec)
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

// Await returns when a running container has ended and what it had is given back.
func (p *Process) Await(run *shim.Container, free func()) {
	defer close(p.Exited)
	var err error
	if p.Exit, err = run.Wait(); err != nil {
		p.Exit = Lost(run.Started)
	}
	free()
}

// Signal sends sig to the container's first process, and returns nil if that has
// ended. The kernel discards a signal to the first process of a pid namespace
// that has no handler for it; with orKill such a process is killed instead.
func (p *Process) Signal(sig syscall.Signal, orKill bool) error {
	err := p.Holder.Signal(p.Name, sig, orKill)
	select {
	case <-p.Exited:
		return nil
	case <-p.Holder.Gone():
		return nil
	default:
		return err
	}
}

// Lost returns the exit of a container that ended while no kubelet watched it.
func Lost(started time.Time) podlog.Exit {
	return podlog.Exit{Code: 137, Started: started, Finished: time.Now(), Lost: true}
}
