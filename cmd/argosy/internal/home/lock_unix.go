//go:build unix

package home

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errBusy says that another process has a lock.
var errBusy error = unix.EWOULDBLOCK

// lockFile takes a file's lock for as long as the file is open; those that are not exclusive may be held together.
func lockFile(f *os.File, exclusive bool) error {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	for {
		if err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
