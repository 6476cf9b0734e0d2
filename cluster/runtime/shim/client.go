package shim

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Holder is a pod's holder, as the kubelet sees it.
type Holder struct {
	dir      string
	hostname string // sent to the process; empty if it has it
	process  *process
	gone     chan struct{}
	left     chan struct{} // closed when the process holds another pod
}

// process is what may hold one pod after the other.
type process struct {
	pid   int
	pidfd *os.File
	ended chan struct{}
}

func newHolder(dir string, p *process) *Holder {
	h := &Holder{dir: dir, process: p, gone: make(chan struct{}), left: make(chan struct{})}
	go func() {
		defer close(h.gone)
		select {
		case <-p.ended:
		case <-h.left:
		}
	}()
	return h
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
		hostname = spare
	}
	cmd := exec.Command(program, "pod", fmt.Sprintf("%-*s", maxHostname, hostname))
	cmd.Dir = dir
	// One of them per pod: no more threads and memory than it needs.
	cmd.Env = []string{"GOMAXPROCS=1", "GOGC=20"}
	cmd.Stderr = os.Stderr // of the node: it stays when the kubelet goes
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWUTS, PidFD: &pidfd}
	if ownNet {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNET
	}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return nil, err
	}
	p := &process{pid: cmd.Process.Pid, pidfd: os.NewFile(uintptr(pidfd), "holder"), ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // it never ends by itself, so its end is expected
		p.bury()
	}()
	h := newHolder(dir, p)
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
	p := &process{pid: int(peer.Pid), pidfd: os.NewFile(uintptr(pidfd), "holder"), ended: make(chan struct{})}
	poll, err := p.pidfd.SyscallConn()
	if err != nil {
		return nil, err
	}
	go func() {
		// Readable once the process is gone.
		_ = poll.Read(func(fd uintptr) bool {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
		})
		p.bury()
	}()
	return newHolder(dir, p), nil
}

func (p *process) bury() {
	close(p.ended)
	_ = p.pidfd.Close()
}

// Gone is closed when the pod has no holder any more, and so no processes.
func (h *Holder) Gone() <-chan struct{} { return h.gone }

// Kill ends the holder and all that runs in the pod, and waits for it.
func (h *Holder) Kill() {
	h.End()
	<-h.gone
}

// End is Kill without the waiting, which is for the pod's namespaces and mounts
// to be taken down.
func (h *Holder) End() {
	select {
	case <-h.gone: // the process may be another pod's
		return
	default:
	}
	if c, err := h.process.pidfd.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { _ = unix.PidfdSendSignal(int(fd), unix.SIGKILL, nil, 0) }) // it may be gone
	}
}

// Moved says that the pod's folder is another one now, or rather the same elsewhere.
func (h *Holder) Moved(dir string) { h.dir = dir }

// Name gives the pod another host name, with its first container.
func (h *Holder) Name(hostname string) { h.hostname = hostname }

// Namespace opens a namespace of the pod, `net` for instance.
func (h *Holder) Namespace(kind string) (*os.File, error) {
	select {
	case <-h.gone: // the process may be another pod's
		return nil, errors.New("the pod is over")
	default:
	}
	return os.Open(proc(h.process.pid, "ns", kind))
}
