package shim

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Containers of a pod that share their processes live in one pid namespace. Its first process is argosy-podinit's `reap`,
// which does nothing but collect those that lost their parent.

// processesOf is the pid namespace that a container is to join; nil where it is to have one of its own.
func (s *server) processesOf(ct *container, attr *syscall.SysProcAttr) (*os.File, error) {
	if !ct.cmd.Shared {
		return nil, nil
	}
	attr.Cloneflags &^= syscall.CLONE_NEWPID
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.processes != nil {
		return s.processes, nil
	}
	return s.shareProcesses()
}

// shareProcesses makes the namespace. The lock is held.
func (s *server) shareProcesses() (*os.File, error) {
	ready, readyW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ready.Close()
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	ch, err := s.fork([]*os.File{s.null, s.null, s.null, readyW}, attr, "reap")
	_ = readyW.Close()
	if err != nil {
		return nil, err
	}
	said, err := io.ReadAll(ready)
	if err == nil && string(said) != "ok" {
		err = fmt.Errorf("first process of the pod: %s", said)
	}
	if err == nil {
		s.processes, err = os.Open(fmt.Sprintf("/proc/%d/ns/pid", ch.pid))
	}
	if err != nil {
		_ = ch.signal(syscall.SIGKILL)
		_, _ = ch.wait()
	}
	return s.processes, err
}

// joining makes the calling thread's children processes of the namespace, while f runs.
func joining(processes *os.File, f func() error) error {
	own, err := os.Open("/proc/self/ns/pid")
	if err != nil {
		return err
	}
	defer own.Close()
	if err := unix.Setns(int(processes.Fd()), unix.CLONE_NEWPID); err != nil {
		return fmt.Errorf("join the pod's processes: %w", err)
	}
	err = f()
	return errors.Join(err, unix.Setns(int(own.Fd()), unix.CLONE_NEWPID))
}

// Reap is `argosy-podinit reap`. It returns with an error only.
func Reap() error {
	ready := os.NewFile(readyFD, "ready")
	children := make(chan os.Signal, 1)
	signal.Ignore() // whatever containers send to it
	signal.Notify(children, syscall.SIGCHLD)
	if err := confine(); err != nil {
		_, _ = ready.WriteString(err.Error())
		return err
	}
	if _, err := ready.WriteString("ok"); err != nil {
		return err
	}
	if err := ready.Close(); err != nil {
		return err
	}
	for range children {
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 && !errors.Is(err, syscall.EINTR) {
				break
			}
		}
	}
	return nil
}

// confine leaves this process an empty root: containers may look at it through /proc/1/root.
func confine() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return err
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return err
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return os.Chdir("/")
}

// killRest ends what a container, known by its mount namespace, left running among the pod's processes. What starts others
// meanwhile is found when it looks again.
func killRest(mounts *os.File) {
	own, err := mounts.Stat()
	if err != nil {
		return
	}
	killed := map[string]bool{}
	for again := true; again; {
		again = false
		entries, _ := filepath.Glob("/proc/[0-9]*") // a pattern that is right
		for _, e := range entries {
			if !killed[e] && killIn(own, e) {
				killed[e], again = true, true
			}
		}
	}
}

// killIn kills a process, known by its folder in /proc, if it lives in the mount namespace.
func killIn(mounts os.FileInfo, process string) bool {
	pid, err := strconv.Atoi(filepath.Base(process))
	if err != nil {
		return false
	}
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil { // it is gone
		return false
	}
	defer func() { _ = unix.Close(pidfd) }()
	fi, err := os.Stat(filepath.Join(process, "ns/mnt"))
	return err == nil && os.SameFile(fi, mounts) && unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0) == nil
}
