package emissary

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Until asks done at once and after every change of a file in the folder, until it says true or the context ends.
func Until(ctx context.Context, folder string, done func() bool) error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return fmt.Errorf("inotify: %w", err)
	}
	events := os.NewFile(uintptr(fd), "inotify")
	defer events.Close()
	if _, err := unix.InotifyAddWatch(fd, folder, unix.IN_CLOSE_WRITE|unix.IN_MOVED_TO); err != nil {
		return fmt.Errorf("watch %s: %w", folder, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = events.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	buf := make([]byte, 4096)
	for !done() {
		if _, err := events.Read(buf); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("watch %s: %w", folder, err)
		}
	}
	return nil
}

// Ended waits until a container of the step has ended and returns its exit code.
func Ended(ctx context.Context, folder, container string) (code int, err error) {
	dir := containerDir(folder, container)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, err
	}
	err = Until(ctx, dir, func() bool {
		data, rerr := os.ReadFile(filepath.Join(dir, exitCodeFile))
		if rerr != nil {
			return false
		}
		code, rerr = strconv.Atoi(string(data))
		return rerr == nil // half of it may be written
	})
	return code, err
}

// Files of a container in the folder of the step.
const (
	exitCodeFile = "exitcode"
	signalFile   = "signal"
)

func containerDir(folder, container string) string { return filepath.Join(folder, "ctr", container) }

// Shared lets the containers of a pod, which may run as different users, write into each other's folders, as Argo does.
func Shared() (restore func()) {
	before := unix.Umask(0)
	return func() { unix.Umask(before) }
}

// Signal leaves word for the emissary of a container to send a signal to its command.
func Signal(folder, container string, sig unix.Signal) error {
	return os.WriteFile(filepath.Join(containerDir(folder, container), signalFile), []byte(strconv.Itoa(int(sig))), 0o666)
}
