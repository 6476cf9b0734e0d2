package shim

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// patience is how long argosy-podinit gets to end a command without a reader.
const patience = 30 * time.Second

// exec runs a command in a container as long as the connection lasts.
func (s *server) exec(c conn, r request, files []*os.File) error {
	ct, err := s.find(r.Container)
	if err != nil {
		return err
	}
	status, statusW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer status.Close()
	defer statusW.Close()
	fds := []*os.File{s.null, s.null, s.null, nil, statusW, nil, s.null}
	rest := files
	for i, at := range []int{0, 1, 2, 6} {
		if !r.Given[i] {
			continue
		}
		if len(rest) == 0 {
			return errors.New("descriptors are missing")
		}
		fds[at], rest = rest[0], rest[1:]
	}
	ch, err := s.join(ct, fds, r.Args)
	if err != nil {
		return err
	}
	defer ch.close()
	// What was given away must not be held open by the giver.
	_ = statusW.Close()
	closeAll(files)
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		_, _ = c.Read(make([]byte, 1)) // nothing comes but the end
		_ = ch.signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(patience):
			_ = ch.signal(syscall.SIGKILL)
		}
	}()
	fault, err := io.ReadAll(status)
	ws, werr := ch.wait()
	if err := errors.Join(err, werr); err != nil {
		return err
	}
	if len(fault) > 0 {
		return errors.New(string(fault))
	}
	return c.send(reply{Code: exitCode(ws)})
}

// join starts argosy-podinit's `exec` for a container, if that runs.
func (s *server) join(ct *container, fds []*os.File, args []string) (*child, error) {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	select {
	case <-ct.running:
	default:
		return nil, errors.New("the container is being started")
	}
	if ct.closed || ct.started.IsZero() {
		return nil, errors.New("the container is not running")
	}
	fds[3], fds[5] = ct.spec, ct.child.pidfd
	attr := &syscall.SysProcAttr{}
	group, err := ct.joinGroup(attr)
	if err != nil {
		return nil, err
	}
	defer group.Close()
	return s.fork(fds, attr, append([]string{"exec"}, args...)...)
}

// stdin hands out the container's stdin, or its terminal. When the connection
// ends, it has no writer any more.
func (s *server) stdin(c conn, r request) error {
	ct, err := s.find(r.Container)
	if err != nil {
		return err
	}
	ct.mu.Lock()
	if ct.stdin == nil {
		err = fmt.Errorf("container %q has no stdin, or it is closed", r.Container)
	} else {
		err = c.send(reply{}, ct.stdin)
	}
	ct.mu.Unlock()
	if err != nil {
		return err
	}
	_, _ = c.Read(make([]byte, 1))
	if ct.cmd.StdinOnce {
		ct.closeStdin()
	}
	return nil
}

func (ct *container) closeStdin() {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	if ct.stdin != nil {
		_ = ct.stdin.Close()
		ct.stdin = nil
	}
}

// signal signals a container's first process.
func (s *server) signal(c conn, r request) error {
	ct, err := s.find(r.Container)
	if err != nil {
		return err
	}
	select {
	case <-ct.forked:
	case <-ct.running:
	}
	ct.mu.Lock()
	defer ct.mu.Unlock()
	if ct.closed || ct.child == nil { // it is gone
		return c.send(reply{})
	}
	sig := syscall.Signal(r.Signal)
	if r.OrKill && deaf(ct.child.pid, sig) {
		sig = syscall.SIGKILL
	}
	if err := ct.child.signal(sig); err != nil {
		return err
	}
	return c.send(reply{})
}

// deaf says whether the process neither catches nor blocks the signal. The first
// process of a pid namespace never sees such a signal.
func deaf(pid int, sig syscall.Signal) bool {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		name, mask, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name != "SigCgt" && name != "SigBlk" {
			continue
		}
		bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
		if err != nil || bits&(1<<(uint(sig)-1)) != 0 {
			return false
		}
	}
	return true
}
