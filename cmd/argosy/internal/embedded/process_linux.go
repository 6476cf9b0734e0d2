package embedded

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Unsupported is why this system has no embedded cluster; nil on Linux.
var Unsupported error

// session makes a process the first of a session of its own.
func session() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

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
