package descriptor

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// firstInherited follows the standard streams.
const firstInherited = 3

// KeepToSelf has programs that this process starts inherit nothing but what they are given by name.
func KeepToSelf() error {
	err := unix.CloseRange(firstInherited, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	// A kernel before 5.11, or a sandbox that does not know the call.
	return each(func(fd int) { unix.CloseOnExec(fd) })
}

// CloseInherited closes what the caller of this program had open beside the standard streams. It comes before KeepToSelf: what this
// process opened itself is closed on exec, and what it inherited is not, or it would not be here.
func CloseInherited() error {
	return each(func(fd int) {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	})
}

// each does something to every descriptor but the standard streams.
func each(do func(fd int)) error {
	folder, err := os.Open("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("find inherited descriptors: %w", err)
	}
	names, err := folder.Readdirnames(-1)
	if err := errors.Join(err, folder.Close()); err != nil {
		return fmt.Errorf("find inherited descriptors: %w", err)
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd >= firstInherited {
			do(fd)
		}
	}
	return nil
}
