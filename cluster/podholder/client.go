package podholder

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Holder is a pod's holder, as the kubelet sees it.
type Holder struct {
	dir   string
	pid   int
	pidfd *os.File
	gone  chan struct{}
}

// Start starts the holder of the pod in the folder, with namespaces of its own. Without a host name it is that of a pod to come.
func Start(program, dir, hostname string, ownNet bool) (*Holder, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	pidfd := -1
	if hostname == "" {
		hostname = nameless
	}
	cmd := exec.Command(program, "pod", hostname)
	cmd.Dir = dir
	// One of them per pod: no more threads and memory than it needs.
	cmd.Env = []string{"GOMAXPROCS=1", "GOGC=20"}
	cmd.Stderr = os.Stderr // of the node: it stays when the kubelet goes
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS, PidFD: &pidfd}
	if ownNet {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNET
	}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return nil, err
	}
	h := &Holder{dir: dir, pid: cmd.Process.Pid, pidfd: os.NewFile(uintptr(pidfd), "holder"), gone: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is no news: it never does by itself
		h.bury()
	}()
	if _, err := io.ReadFull(r, make([]byte, 2)); err != nil {
		h.Kill()
		return nil, fmt.Errorf("the pod's holder ended early: %w", err)
	}
	return h, nil
}

// Find returns the holder that an earlier kubelet started for the pod in the folder.
func Find(dir string) (*Holder, error) {
	c, err := dial(dir)
	if err != nil {
		return nil, err
	}
	defer c.end()
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	var peer *unix.Ucred
	var perr error
	if err := raw.Control(func(fd uintptr) { peer, perr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return nil, err
	}
	if perr != nil {
		return nil, perr
	}
	pidfd, err := unix.PidfdOpen(int(peer.Pid), unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("the pod's holder is gone: %w", err)
	}
	h := &Holder{dir: dir, pid: int(peer.Pid), pidfd: os.NewFile(uintptr(pidfd), "holder"), gone: make(chan struct{})}
	poll, err := h.pidfd.SyscallConn()
	if err != nil {
		return nil, err
	}
	go func() {
		// Readable once the process is gone.
		_ = poll.Read(func(fd uintptr) bool {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
		})
		h.bury()
	}()
	return h, nil
}

func (h *Holder) bury() {
	close(h.gone)
	_ = h.pidfd.Close()
}

// Gone is closed when the holder is no more, and with it the pod's processes.
func (h *Holder) Gone() <-chan struct{} { return h.gone }

// Kill ends the holder and all that runs in the pod, and waits for it.
func (h *Holder) Kill() {
	h.End()
	<-h.gone
}

// End is Kill without the waiting, which is for the pod's namespaces and mounts
// to be taken down.
func (h *Holder) End() {
	if c, err := h.pidfd.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { _ = unix.PidfdSendSignal(int(fd), unix.SIGKILL, nil, 0) }) // it may be gone
	}
}

// Moved says that the pod's folder is another one now, or rather the same elsewhere.
func (h *Holder) Moved(dir string) { h.dir = dir }

// Name gives the pod another host name. It must not have any containers yet.
func (h *Holder) Name(hostname string) error {
	c, _, _, err := h.call(request{Op: opName, Hostname: hostname})
	if err == nil {
		err = c.Close()
	}
	return err
}

// Namespace opens a namespace of the pod, `net` for instance.
func (h *Holder) Namespace(kind string) (*os.File, error) {
	return os.Open(filepath.Join("/proc", strconv.Itoa(h.pid), "ns", kind))
}
