package container

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// StatusLine connects a container with the process that starts it. The starter keeps the first end; the other becomes the container's
// StatusFD.
func StatusLine() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fds[0], true) // so that waiting for it takes no thread
	}
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "status"), os.NewFile(uintptr(fds[1]), "status of the container"), nil
}

// Admit lets a container execute its command, and returns once it has, or the reason why it could not. Read what you need of the process
// before: the command may end at once.
func Admit(status *os.File) (fault []byte, err error) {
	if _, err := status.Write([]byte{1}); err != nil && !errors.Is(err, syscall.EPIPE) { // it said why, or was killed
		return nil, err
	}
	fault, err = io.ReadAll(status)
	if errors.Is(err, syscall.ECONNRESET) { // it ended with the word unread
		err = nil
	}
	return fault, err
}

// awaitAdmission is the other side of Admit.
func awaitAdmission() error {
	for {
		n, err := syscall.Read(StatusFD, make([]byte, 1))
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return fmt.Errorf("wait for the pod's holder: %w", err)
		case n == 0:
			return errors.New("the pod's holder is gone")
		default:
			return nil
		}
	}
}
