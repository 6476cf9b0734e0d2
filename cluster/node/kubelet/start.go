package kubelet

import (
	"errors"
	"syscall"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/images"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/process"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

// start starts the container. It returns when its command runs.
func (m member) start(spec *container.Spec, restarts int32) (*process.Process, error) {
	p, c := m.p, m.c
	select {
	case p.k.starting <- struct{}{}:
	case <-p.starting.Done():
		return nil, p.starting.Err()
	}
	defer func() { <-p.k.starting }()
	if p.holderGone() {
		return nil, errors.New("the pod's holder is gone")
	}
	if err := process.Prepare(m.life(restarts), spec.Scratch); err != nil {
		return nil, err
	}
	cmd := shim.Command{Stdin: c.Stdin, StdinOnce: c.StdinOnce, TTY: c.TTY, Shared: podspec.IsTrue(p.obj.Spec.ShareProcessNamespace)}
	free, err := p.k.limits.Limit(p.obj.UID, c, restarts, p.volumeSet().CommonMemory(c), spec, &cmd)
	if err != nil {
		return nil, err
	}
	run, err := process.Start(p.starting, p.holder, c.Name, int(restarts), cmd, spec)
	if err != nil {
		free()
		return nil, err
	}
	proc := m.attend(restarts, run, free)
	if p.isEnding() {
		// The order to stop came while the container was being set up and has not reached it.
		if err := proc.Signal(syscall.SIGKILL, false); err != nil {
			p.log.Warn("container not killed", "container", c.Name, "err", err)
		}
	}
	return proc, nil
}

// attend waits for the end of a running container, and then gives back what it had.
func (m member) attend(restarts int32, run *shim.Container, free func()) *process.Process {
	p, c := m.p, m.c
	proc := &process.Process{Name: c.Name, Holder: p.holder, Life: m.life(restarts), Started: run.Started, Exited: make(chan struct{})}
	p.mu.Lock()
	proc.Polite = images.StopSignal(p.record.Images[c.Name].StopSignal)
	p.running[c.Name] = proc
	p.mu.Unlock()
	p.k.work.Go(func() { proc.Await(run, free) })
	return proc
}

// life is a run of the container, whose log and end lie among the pod's logs.
func (m member) life(restarts int32) podlog.Life {
	return podlog.Life{Folder: m.p.path(shim.LogFolder, m.c.Name), Number: int(restarts)}
}
