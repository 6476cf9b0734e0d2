package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/net/descriptor"
)

// readyFD is where the holder says that it can be talked to.
const readyFD = 3

// maxHostname is how long a host name may be in Linux.
const maxHostname = 64

// server is the holder itself, as long as it holds the same pod.
type server struct {
	null *os.File
	// forks are carried out by the main thread: the kernel kills a child when the thread that made it ends.
	forks    chan func()
	failed   chan error
	listener *net.UnixListener

	mu         sync.Mutex
	containers map[string]*container // latest of each name
	processes  *os.File              // the pid namespace of containers that share one; nil until there is one
	hostname   string                // that was asked for
	left       bool                  // it holds another pod
}

// Serve is `argosy-podinit pod HOSTNAME`: it holds the pod in whose folder, and
// namespaces, it is started. The caller must have locked the main goroutine to
// its thread. It returns with an error only.
func Serve(hostname string) error {
	if err := descriptor.KeepToSelf(); err != nil {
		return err
	}
	syscall.Umask(0o022)
	if err := setHostname(hostname); err != nil {
		return err
	}
	if err := freshIPC(); err != nil {
		return err
	}
	// Above its containers, which end with it, and below the control plane.
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("100"), 0); err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	s := &server{null: null, forks: make(chan func()), failed: make(chan error, 1), containers: map[string]*container{}}
	if err := s.listen(); err != nil {
		return err
	}
	ready := os.NewFile(readyFD, "ready")
	if _, err := ready.WriteString("ok"); err != nil {
		return err
	}
	if err := ready.Close(); err != nil {
		return err
	}
	for {
		select {
		case fork := <-s.forks:
			fork()
		case err := <-s.failed:
			return err
		}
	}
}

// freshIPC gives the containers to come a namespace for their shared memory. It is the main thread's, as they are its children:
// what others of the holder's threads were in would stay until these end.
func freshIPC() error {
	if err := unix.Unshare(unix.CLONE_NEWIPC); err != nil {
		return fmt.Errorf("a namespace for shared memory: %w", err)
	}
	return nil
}

// listen answers who connects to the socket in the pod's folder, which is the working folder: so its path is short.
func (s *server) listen() error {
	if err := os.Remove(socketName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: socketName})
	if err != nil {
		return err
	}
	if err := os.Chmod(socketName, 0o600); err != nil {
		return err
	}
	l.SetUnlinkOnClose(false) // the working folder may be another one by then
	s.listener = l
	go func() {
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				if !s.hasLeft() {
					s.failed <- err
				}
				return
			}
			go s.serve(conn{c})
		}
	}()
	return nil
}

// spare is the host name of a holder whose pod is not known yet.
const spare = "spare"

// setHostname names the pod, also for those who look at the list of processes.
func setHostname(name string) error {
	name = strings.Clone(strings.TrimSpace(name))
	if err := unix.Sethostname([]byte(name)); err != nil {
		return fmt.Errorf("set host name %q: %w", name, err)
	}
	// The last of os.Args is the memory that the kernel shows, see proc_pid_cmdline(5). There is room in it for any name.
	if shown := os.Args[len(os.Args)-1]; len(name) <= len(shown) {
		memory := unsafe.Slice(unsafe.StringData(shown), len(shown))
		clear(memory[copy(memory, name):])
	}
	return nil
}

// name gives the pod the name that comes with its first container; empty, or the same, with the others.
func (s *server) name(hostname string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if hostname == "" || hostname == s.hostname {
		return nil
	}
	s.hostname = hostname
	return setHostname(hostname)
}

// serve answers one connection.
func (s *server) serve(c conn) {
	defer c.end()
	var r request
	files, err := c.receive(&r)
	if err != nil { // the kubelet died while it asked
		return
	}
	defer closeAll(files)
	switch r.Op {
	case opRun:
		err = s.run(c, r, files)
	case opWatch:
		err = s.watch(c, r)
	case opRenew:
		err = s.renew(c, files)
	case opSignal:
		err = s.signal(c, r)
	case opExec:
		err = s.exec(c, r, files)
	case opStdin:
		err = s.stdin(c, r)
	default:
		err = fmt.Errorf("unknown operation %q", r.Op)
	}
	if err != nil {
		_ = c.send(reply{Error: err.Error()}) // the caller may be gone
	}
}

// find returns the latest container of a name.
func (s *server) find(name string) (*container, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.containers[name]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("container %q was never started", name)
}

// child is a process that the holder started.
type child struct {
	pid   int
	pidfd *os.File
	poll  syscall.RawConn
}

// small keeps this program from more threads than it needs; a container's command has an environment of its own.
var small = []string{"GOMAXPROCS=1"}

// fork starts this program again with a command and descriptors, which become blocking ones.
func (s *server) fork(files []*os.File, attr *syscall.SysProcAttr, args ...string) (*child, error) {
	return s.forkInto(nil, files, attr, args...)
}

// forkInto is fork into a pid namespace; nil is the holder's own.
func (s *server) forkInto(processes *os.File, files []*os.File, attr *syscall.SysProcAttr, args ...string) (*child, error) {
	fds := make([]uintptr, len(files))
	for i, f := range files {
		fds[i] = f.Fd()
		// Fd leaves those that came over the socket as they are, and a program that says much would lose what finds no room.
		if err := syscall.SetNonblock(int(fds[i]), false); err != nil {
			return nil, fmt.Errorf("descriptor %d of a command: %w", i, err)
		}
	}
	pidfd := -1
	attr.Setsid, attr.PidFD, attr.Pdeathsig = true, &pidfd, syscall.SIGKILL
	if processes != nil {
		// It ends with the namespace's first process, and would take itself for an orphan: its parent is not seen in there.
		attr.Pdeathsig = 0
	}
	var pid int
	var err error
	done := make(chan struct{})
	s.forks <- func() {
		defer close(done)
		fork := func() error {
			pid, err = syscall.ForkExec("/proc/self/exe", append([]string{"argosy-podinit"}, args...), &syscall.ProcAttr{Env: small, Files: fds, Sys: attr})
			return err
		}
		if processes == nil {
			_ = fork() // its error is err
		} else {
			err = joining(processes, fork)
		}
	}
	<-done
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(pidfd, true); err != nil {
		return nil, err
	}
	// With this, waiting for the child's end takes no thread.
	ch := &child{pid: pid, pidfd: os.NewFile(uintptr(pidfd), "child")}
	ch.poll, err = ch.pidfd.SyscallConn()
	return ch, err
}

// wait returns how the child ended. It is waited for once.
func (ch *child) wait() (ws syscall.WaitStatus, err error) {
	var werr error
	err = ch.poll.Read(func(uintptr) bool {
		for {
			var pid int
			if pid, werr = syscall.Wait4(ch.pid, &ws, syscall.WNOHANG, nil); werr != syscall.EINTR {
				return pid != 0
			}
		}
	})
	return ws, errors.Join(err, werr)
}

func (ch *child) close() { _ = ch.pidfd.Close() }

// signal sends a signal, and succeeds when the child is gone.
func (ch *child) signal(sig syscall.Signal) error {
	var serr error
	err := ch.poll.Control(func(fd uintptr) { serr = unix.PidfdSendSignal(int(fd), sig, nil, 0) })
	if errors.Is(serr, syscall.ESRCH) {
		return nil
	}
	return errors.Join(err, serr)
}

func exitCode(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}
