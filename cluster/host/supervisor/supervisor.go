// Package supervisor keeps child processes running: it starts them, waits until
// they serve, restarts those that die and stops them in order.
package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Config is what all children of a supervisor share.
type Config struct {
	Program string                   // path of the executable of every child that names none
	Log     func(name string) string // path of a child's log file
	Event   func(Event)              // told of every change; called from several goroutines at once; may be nil
}

// Event is a change in a child's life.
type Event struct {
	Child    string
	Kind     Kind
	PID      int
	Restarts int           // 0 for the first life
	After    time.Duration // since the supervisor was made
	Err      error         // why it exited; nil for exit code 0 and other kinds
}

// Kind is the kind of an Event.
type Kind string

// Kinds of events.
const (
	Started Kind = "started"
	Ready   Kind = "ready"
	Exited  Kind = "exited"
)

// Supervisor owns a set of children. Its methods may be called from several goroutines.
type Supervisor struct {
	cfg   Config
	since time.Time

	mu       sync.Mutex
	children []*process
	stopped  bool
}

// New makes a supervisor without children.
func New(cfg Config) *Supervisor {
	if cfg.Event == nil {
		cfg.Event = func(Event) {}
	}
	return &Supervisor{cfg: cfg, since: time.Now()}
}

// Uptime is the time since New.
func (s *Supervisor) Uptime() time.Duration { return time.Since(s.since) }

// Start begins to keep a child running. It does not wait for the child to serve; see Wait.
func (s *Supervisor) Start(c Child) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return errors.New("the supervisor is stopped")
	}
	if s.find(c.Name) != nil {
		return fmt.Errorf("child %s runs already", c.Name)
	}
	p := newProcess(c, s)
	s.children = append(s.children, p)
	go p.tend()
	return nil
}

// Wait returns nil once every named child has served, or why one of them never will.
func (s *Supervisor) Wait(ctx context.Context, names ...string) error {
	for _, n := range names {
		s.mu.Lock()
		p := s.find(n)
		s.mu.Unlock()
		if p == nil {
			return fmt.Errorf("no child %s", n)
		}
		select {
		case <-p.served:
		case <-p.done:
			return p.failure()
		case <-ctx.Done():
			return fmt.Errorf("%s does not get ready: %w%s", n, context.Cause(ctx), p.lastWords())
		}
	}
	return nil
}

// Stop ends every child, the highest stage first and the children of one stage
// together, and returns when none is left. Further calls wait too.
func (s *Supervisor) Stop() {
	s.mu.Lock()
	s.stopped = true
	byStage := map[int][]*process{}
	for _, p := range s.children {
		byStage[p.Stage] = append(byStage[p.Stage], p)
	}
	s.mu.Unlock()

	stages := make([]int, 0, len(byStage))
	for st := range byStage {
		stages = append(stages, st)
	}
	slices.Sort(stages)
	for _, st := range slices.Backward(stages) {
		for _, p := range byStage[st] {
			p.stop()
		}
		for _, p := range byStage[st] {
			<-p.done
		}
	}
}

// returned is called when a child serves again after a restart.
func (s *Supervisor) returned(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.children {
		if p.Follows == name {
			p.restart()
		}
	}
}

func (s *Supervisor) find(name string) *process {
	for _, p := range s.children {
		if p.Name == name {
			return p
		}
	}
	return nil
}
