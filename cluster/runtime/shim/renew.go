package shim

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// errLeft answers those who ask for a pod that is over.
var errLeft = errors.New("the pod is over, and its holder holds another one")

// renew makes the holder one of a pod to come, in another folder. Its network stays, and nothing else of the pod before: those who
// talk to the holder because of that one talk to a server that knows no container of the next.
func (s *server) renew(c conn, files []*os.File) error {
	if len(files) != 1 {
		return errors.New("a folder is wanted")
	}
	if err := s.leave(); err != nil {
		return err
	}
	next := &server{null: s.null, forks: s.forks, failed: s.failed, containers: map[string]*container{}}
	fresh := make(chan error)
	s.forks <- func() { fresh <- freshIPC() }
	if err := <-fresh; err != nil {
		return err
	}
	if err := errors.Join(setHostname(spare), os.Remove(socketName)); err != nil {
		return err
	}
	if err := unix.Fchdir(int(files[0].Fd())); err != nil {
		return fmt.Errorf("enter the folder: %w", err)
	}
	if err := errors.Join(next.listen(), s.listener.Close()); err != nil {
		return err
	}
	return c.send(reply{})
}

// leave has no more containers begun. It is refused while anything of the pod may run.
func (s *server) leave() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left {
		return errLeft
	}
	if s.processes != nil {
		return errors.New("containers of the pod shared their processes")
	}
	for name, ct := range s.containers {
		select {
		case <-ct.over:
		default:
			return fmt.Errorf("container %q is not over", name)
		}
	}
	s.left = true
	return nil
}

func (s *server) hasLeft() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

// Renew makes the holder, all of whose containers are over, one of a pod to come in another folder. What is returned is that one's; of
// the pod that was held so far the holder is gone. With an error it may be of no use any more.
func (h *Holder) Renew(dir string) (*Holder, error) {
	folder, err := os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	c, _, _, err := h.call(request{Op: opRenew}, folder)
	if err != nil {
		return nil, fmt.Errorf("keep the pod's holder: %w", err)
	}
	c.end()
	next := newHolder(dir, h.process)
	close(h.left)
	<-h.gone
	return next, nil
}
