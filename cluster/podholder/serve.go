package podholder

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
)

// readyFD is where the holder says that it can be talked to.
const readyFD = 3

// maxHostname is how long a host name may be in Linux.
const maxHostname = 64

// server is the holder itself.
type server struct {
	null *os.File
	// forks are carried out by the main thread: the kernel kills a child when the thread that made it ends.
	forks chan func()

	mu         sync.Mutex
	containers map[string]*container // latest of each name
	processes  *os.File              // the pid namespace of containers that share one; nil until there is one
}

// Serve is `argosy-podinit pod HOSTNAME`: it holds the pod in whose folder, and
// namespaces, it is started. The caller must have locked the main goroutine to
// its thread. It returns with an error only.
func Serve(hostname string) error {
	syscall.Umask(0o022)
	if err := setHostname(hostname); err != nil {
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
	if err := os.Remove(socketName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// The holder's working folder is the pod's, so the path is short.
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: socketName})
	if err != nil {
		return err
	}
	if err := os.Chmod(socketName, 0o600); err != nil {
		return err
	}
	ready := os.NewFile(readyFD, "ready")
	if _, err := ready.WriteString("ok"); err != nil {
		return err
	}
	if err := ready.Close(); err != nil {
		return err
	}
	s := &server{null: null, forks: make(chan func()), containers: map[string]*container{}}
	failed := make(chan error, 1)
	go func() {
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				failed <- err
				return
			}
			go s.serve(conn{c})
		}
	}()
	for {
		select {
		case fork := <-s.forks:
			fork()
		case err := <-failed:
			return err
		}
	}
}

// nameless is the argument of a holder whose pod is not known yet; there is room in it for any name.
var nameless = "spare" + strings.Repeat(" ", maxHostname-len("spare"))

// setHostname names the pod, also for those who look at the list of processes.
func setHostname(name string) error {
	if err := unix.Sethostname([]byte(strings.TrimSpace(name))); err != nil {
		return fmt.Errorf("set host name %q: %w", name, err)
	}
	// The last of os.Args is the memory that the kernel shows, see proc_pid_cmdline(5).
	if shown := os.Args[len(os.Args)-1]; shown == nameless && len(name) <= len(shown) {
		memory := unsafe.Slice(unsafe.StringData(shown), len(shown))
		clear(memory[copy(memory, name):])
	}
	return nil
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
	case opName:
		if err = setHostname(r.Hostname); err == nil {
			err = c.send(reply{})
		}
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
		_ = c.send(reply{Error: err.Error()}) // whoever asked may be gone
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

// signal sends a signal; it is no error when the child is gone.
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
