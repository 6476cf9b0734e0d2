package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
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

// observe keeps an eye on a process that is not our child, through a pidfd: the number may be another's one day.
func observe(pid int) (*process, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	found, err := os.FindProcess(pid)
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	p := &process{Process: found, done: make(chan struct{}), state: "an unknown status"}
	go func() {
		defer close(p.done)
		defer unix.Close(fd) //nolint:errcheck // it was only read from
		wait := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for {
			if _, err := unix.Poll(wait, -1); !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}()
	return p, nil
}

// stop asks the process to end and waits; when ctx ends first, it is killed.
func (p *process) stop(ctx context.Context) error {
	if err := p.send(unix.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	// Its children die with it: the kernel sees to that.
	if err := p.send(unix.SIGKILL); err != nil {
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
