package home

import (
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// errBusy says that another process has a lock.
var errBusy error = windows.ERROR_LOCK_VIOLATION

// lockFile takes a file's lock for as long as the file is open; those that are not exclusive may be held together.
func lockFile(f *os.File, exclusive bool) error {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	// Windows keeps others from reading a locked range. One byte far behind the end leaves the process id readable.
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: math.MaxInt32})
}
