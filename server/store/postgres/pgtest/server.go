package pgtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	role    = "argosy"
	startup = 3 * time.Minute
)

// Server is a PostgreSQL server that listens on a socket in a folder of its own, and nowhere else.
type Server struct {
	dir, bin string
	process  *process // nil when it does not run
}

// start makes a server's folder and starts it.
func start() (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "argosy-pg-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin}
	if err := errors.Join(giveAway(dir), s.initialize()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.launch(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// programs finds the folder of the newest initdb and postgres.
func programs() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // where Debian has them, one folder for each version
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		path, err := exec.LookPath("initdb")
		if err != nil {
			return "", fmt.Errorf("the tests of the PostgreSQL store need initdb and postgres; build/packages.sh test installs them: %w", err)
		}
		found = []string{path}
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1]), nil
}

// initialize makes the folder of the data. Its databases sort text unlike SQLite unless a column says otherwise.
func (s *Server) initialize() error {
	c := exec.Command(filepath.Join(s.bin, "initdb"), "-D", s.data(), "-U", role, "-A", "trust", "-E", "UTF8",
		"--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en", "--no-sync", "--no-instructions")
	c.Dir, c.SysProcAttr = s.dir, attributes()
	runtime.LockOSThread() // it would end with the thread that started it, and another server's thread ends with that server
	defer runtime.UnlockOSThread()
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// process is a postgres that runs.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // why, once done is closed
}

// launch starts postgres and waits until it says that it accepts connections.
func (s *Server) launch() error {
	c := exec.Command(filepath.Join(s.bin, "postgres"), "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=",
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=300", "-c", "lc_messages=C", "-c", "shared_buffers=32MB")
	c.Dir, c.SysProcAttr = s.dir, attributes()
	said, says := io.Pipe()
	c.Stderr = says
	p := &process{cmd: c, done: make(chan struct{})}
	began := make(chan error, 1)
	go func() { // it ends with the thread that started it, so this one stays
		runtime.LockOSThread()
		defer close(p.done)
		err := c.Start()
		began <- err
		if err == nil {
			p.err = c.Wait()
		}
		_ = says.Close() // it never fails
	}()
	if err := <-began; err != nil {
		return err
	}
	ready := make(chan string, 1)
	go func() {
		var text strings.Builder
		for lines := bufio.NewScanner(said); lines.Scan(); {
			fmt.Fprintln(&text, lines.Text())
			if strings.Contains(lines.Text(), "ready to accept connections") {
				ready <- ""
				break
			}
		}
		io.Copy(io.Discard, said) //nolint:errcheck // its end is the process's
		ready <- text.String()
		close(ready)
	}()
	select {
	case text := <-ready:
		if text != "" {
			return fmt.Errorf("postgres does not start:\n%s", text)
		}
	case <-time.After(startup):
		c.Process.Kill() //nolint:errcheck // it is given up
		return fmt.Errorf("postgres was not ready in %v", startup)
	}
	s.process = p
	return nil
}

func (s *Server) running() bool { return s.process != nil }

// halt ends the server in order, which breaks the connections to it.
func (s *Server) halt() error {
	if s.process == nil {
		return nil
	}
	if err := s.process.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	<-s.process.done
	err := s.process.err
	s.process = nil
	return err
}

func (s *Server) remove() error { return errors.Join(s.halt(), os.RemoveAll(s.dir)) }

// Stop ends the server; connections break.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.halt(); err != nil {
		t.Fatal(err)
	}
}

// Start starts the server again.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.launch(); err != nil {
		t.Fatal(err)
	}
}
