package supervisor

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/argosy-ml/argosy/cluster/host/readiness"
)

// Child says how to run one child process.
type Child struct {
	Name    string
	Program string // path of the executable; empty is the supervisor's
	Args    []string
	Env     []string                    // added to the supervisor's own
	Files   []*os.File                  // inherited as file descriptors 3, 4, ...; they stay open here for the next life
	Ready   func(context.Context) error // returns nil when the child serves; nil: the child calls readiness.Announce
	Stage   int                         // Stop ends higher stages first
	Grace   time.Duration               // between SIGTERM and SIGKILL; 0 is 10 seconds
	Follows string                      // restart this child too whenever the named one came back
}

const (
	defaultGrace = 10 * time.Second
	firstDelay   = 100 * time.Millisecond // before a restart; doubles
	lastDelay    = 5 * time.Second
	healthyAfter = 30 * time.Second // of life: the next restart is quick again
	attempts     = 4                // lives without ever serving before a child is given up
)

var errRestart = errors.New("restart asked for")

type process struct {
	Child
	owner *Supervisor

	served   chan struct{} // closed when it serves for the first time
	stopping chan struct{}
	again    chan struct{}
	done     chan struct{}
	stopOnce sync.Once
	serve    sync.Once

	lives int   // only tend and what it calls
	fatal error // set before done is closed
}

func newProcess(c Child, owner *Supervisor) *process {
	if c.Grace == 0 {
		c.Grace = defaultGrace
	}
	return &process{
		Child: c, owner: owner,
		served:   make(chan struct{}),
		stopping: make(chan struct{}),
		again:    make(chan struct{}, 1),
		done:     make(chan struct{}),
	}
}

func (p *process) stop() { p.stopOnce.Do(func() { close(p.stopping) }) }

func (p *process) restart() {
	select {
	case p.again <- struct{}{}:
	default: // asked for already
	}
}

// failure says why a child that is done never served.
func (p *process) failure() error {
	if p.fatal == nil {
		return fmt.Errorf("%s was stopped", p.Name)
	}
	return fmt.Errorf("%s does not start: %w%s", p.Name, p.fatal, p.lastWords())
}

func (p *process) lastWords() string { return Tail(p.owner.cfg.Log(p.Name), 10) }

// tend runs one life after the other until it is stopped.
func (p *process) tend() {
	// The kernel sends Pdeathsig when the *thread* that started the child ends, so this goroutine keeps its thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.done)
	delay := firstDelay
	for ; ; p.lives++ {
		born := time.Now()
		err := p.live()
		select {
		case <-p.stopping:
			return
		case <-p.served:
		default:
			if p.lives+1 >= attempts {
				p.fatal = err
				return
			}
		}
		if errors.Is(err, errRestart) {
			delay = firstDelay
			continue
		}
		if time.Since(born) > healthyAfter {
			delay = firstDelay
		}
		select {
		case <-p.stopping:
			return
		case <-time.After(delay):
		}
		delay = min(2*delay, lastDelay)
	}
}

// live starts the process and returns when it is gone.
func (p *process) live() error {
	ctx, cancel := context.WithCancel(context.Background())
	var watchers sync.WaitGroup
	defer watchers.Wait()
	defer cancel()

	cmd, pipe, err := p.start()
	if err != nil {
		p.event(Exited, 0, err)
		return err
	}
	pid := cmd.Process.Pid
	p.event(Started, pid, nil)
	watchers.Go(func() {
		if p.awaitReady(ctx, pipe) == nil {
			p.ready(pid)
		}
	})

	exited := make(chan error, 1)
	watchers.Go(func() { exited <- cmd.Wait() })
	select {
	case err = <-exited:
	case <-p.stopping:
		err = p.terminate(pid, exited)
	case <-p.again:
		_ = p.terminate(pid, exited)
		err = errRestart
	}
	if pipe != nil {
		_ = pipe.Close() // ends a read that still waits
	}
	p.event(Exited, pid, err)
	if err == nil {
		err = errors.New("it ended with exit code 0")
	}
	return err
}

func (p *process) start() (*exec.Cmd, *os.File, error) {
	log, err := OpenLog(p.owner.cfg.Log(p.Name))
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	program := cmp.Or(p.Program, p.owner.cfg.Program)
	cmd := exec.Command(program, p.Args...)
	cmd.Args[0] = "argosy-cluster" // how ps shows it
	cmd.Env = append(os.Environ(), p.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = p.Files
	// Its own process group, so that Ctrl-C in a terminal reaches only the supervisor, which stops children in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if p.Ready != nil {
		return cmd, nil, cmd.Start()
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer w.Close()
	cmd.ExtraFiles = append(cmd.ExtraFiles[:len(p.Files):len(p.Files)], w)
	cmd.Env = append(cmd.Env, readiness.Env+"="+strconv.Itoa(3+len(p.Files)))
	if err := cmd.Start(); err != nil {
		_ = r.Close()
		return nil, nil, err
	}
	return cmd, r, nil
}

func (p *process) awaitReady(ctx context.Context, pipe *os.File) error {
	if p.Ready != nil {
		return p.Ready(ctx)
	}
	_, err := bufio.NewReader(pipe).ReadString('\n')
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s closed its readiness pipe", p.Name)
	}
	return err
}

func (p *process) ready(pid int) {
	p.event(Ready, pid, nil)
	p.serve.Do(func() { close(p.served) })
	if p.lives > 0 {
		p.owner.returned(p.Name)
	}
}

// terminate asks the process to end and, when its grace is over, makes it and its group.
func (p *process) terminate(pid int, exited <-chan error) error {
	_ = syscall.Kill(pid, syscall.SIGTERM)
	select {
	case err := <-exited:
		return err
	case <-time.After(p.Grace):
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		return <-exited
	}
}

func (p *process) event(k Kind, pid int, err error) {
	p.owner.cfg.Event(Event{Child: p.Name, Kind: k, PID: pid, Restarts: p.lives, After: time.Since(p.owner.since), Err: err})
}
