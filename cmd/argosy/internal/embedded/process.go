package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// process is the supervisor: a child of ours, or one that an earlier server left running.
type process struct {
	*os.Process
	done  chan struct{} // closed when it is gone
	state string        // how it ended; set before done is closed
}

// run starts cmd and keeps an eye on it.
func run(cmd *exec.Cmd) (*process, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{Process: cmd.Process, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // how it ended is in ProcessState
		p.state = cmd.ProcessState.String()
	}()
	return p, nil
}

// stop asks the process to end and waits; when ctx ends first, it is killed.
func (p *process) stop(ctx context.Context) error {
	if err := p.send(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	// The kernel kills its children with it.
	if err := p.send(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return fmt.Errorf("the embedded cluster (process %d) did not end in time and was killed", p.Pid)
}

func (p *process) send(s syscall.Signal) error {
	if err := p.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the embedded cluster (process %d): %w", p.Pid, err)
	}
	return nil
}
