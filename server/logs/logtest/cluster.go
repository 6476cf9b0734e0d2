// Package logtest is a cluster in memory whose pods print what a test tells them to, and that gives their logs as a
// kubelet does: with times, from a time on in whole seconds, and following until the container ends.
package logtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/logs"
)

var _ logs.Cluster = (*Cluster)(nil)

// Cluster has pods. The zero Cluster is empty and ready.
type Cluster struct {
	mu       sync.Mutex
	pods     map[string]*pod // by name
	changed  chan struct{}
	watchers map[chan logs.Pod]bool
	now      time.Time // of the last line
	requests int
	follows  int // streams that are being followed
	most     int // of those at once
	broken   int // how often streams were broken
}

type pod struct {
	logs.Pod
	printed map[life]*output
}

type life struct {
	container string
	restarts  int64
}

type output struct {
	text []byte // with times
	mid  bool   // within a line
	over bool
}

// Tick is by how much the time moves on with each line.
const Tick = 100 * time.Millisecond

func (c *Cluster) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	if c.changed != nil {
		close(c.changed)
	}
	c.changed = make(chan struct{})
}

func (c *Cluster) tell(p *pod) {
	p.Containers = slices.Clone(p.Containers)
	for w := range c.watchers {
		w <- p.Pod
	}
}

// Start makes a pod whose containers run; one of the same name is replaced.
func (c *Cluster) Start(p logs.Pod, containers ...string) {
	c.change(func() {
		for _, name := range containers {
			p.Containers = append(p.Containers, logs.Container{Name: name, Begun: true, Started: c.clock().Truncate(time.Second)})
		}
		c.put(p)
	})
}

// StartYoung is Start of containers that are too young to be followed, however long the test takes.
func (c *Cluster) StartYoung(p logs.Pod, containers ...string) {
	c.change(func() {
		for _, name := range containers {
			p.Containers = append(p.Containers, logs.Container{Name: name, Begun: true, Started: time.Now().Add(time.Hour)})
		}
		c.put(p)
	})
}

// Wait makes a pod whose containers have not started, and says why.
func (c *Cluster) Wait(p logs.Pod, why string, containers ...string) {
	c.change(func() {
		for _, name := range containers {
			p.Containers = append(p.Containers, logs.Container{Name: name})
		}
		p.Waiting = why
		c.put(p)
	})
}

func (c *Cluster) put(p logs.Pod) {
	if c.pods == nil {
		c.pods = map[string]*pod{}
	}
	made := &pod{Pod: p, printed: map[life]*output{}}
	c.pods[p.Name] = made
	c.tell(made)
}

// Update changes what the cluster says of a pod.
func (c *Cluster) Update(name string, f func(*logs.Pod)) {
	c.change(func() {
		p := c.pods[name]
		p.Containers = slices.Clone(p.Containers)
		f(&p.Pod)
		for _, k := range p.Containers {
			if o := p.printed[life{k.Name, k.Restarts}]; o != nil && k.Ended {
				o.over = true
			}
			if o := p.printed[life{k.Name, k.Restarts - 1}]; o != nil {
				o.over = true
			}
		}
		c.tell(p)
	})
}

// End ends all containers of a pod.
func (c *Cluster) End(name string) {
	c.Update(name, func(p *logs.Pod) {
		p.Ended = true
		for i := range p.Containers {
			p.Containers[i].Ended = true
		}
	})
}

// Delete removes a pod, with all that it printed.
func (c *Cluster) Delete(name string) {
	c.change(func() {
		p := c.pods[name]
		delete(c.pods, name)
		p.Gone = true
		c.tell(p)
	})
}

// Forget removes a pod without an event.
func (c *Cluster) Forget(name string) { c.change(func() { delete(c.pods, name) }) }

// Print has a container print.
func (c *Cluster) Print(name, container, text string) {
	c.change(func() {
		p := c.pods[name]
		n := slices.IndexFunc(p.Containers, func(k logs.Container) bool { return k.Name == container })
		id := life{container, p.Containers[n].Restarts}
		o := p.printed[id]
		if o == nil {
			o = &output{}
			p.printed[id] = o
		}
		for _, line := range bytes.SplitAfter([]byte(text), []byte{'\n'}) {
			if len(line) == 0 {
				continue
			}
			if !o.mid {
				c.now = c.clock()
				o.text = append(c.now.AppendFormat(o.text, time.RFC3339Nano), ' ')
			}
			o.text = append(o.text, line...)
			o.mid = line[len(line)-1] != '\n'
		}
	})
}

// clock is the time of the next line; mu is held.
func (c *Cluster) clock() time.Time {
	if c.now.IsZero() {
		return time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC)
	}
	return c.now.Add(Tick)
}

// Break breaks all streams off.
func (c *Cluster) Break() { c.change(func() { c.broken++ }) }

// Requests counts how often logs were asked for, and how many were followed at once at most.
func (c *Cluster) Requests() (requests, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests, c.most
}

// WatchPods implements logs.Cluster.
func (c *Cluster) WatchPods(ctx context.Context, seen func(logs.Pod), synced func()) error {
	events := make(chan logs.Pod, 4096)
	c.mu.Lock()
	if c.watchers == nil {
		c.watchers = map[chan logs.Pod]bool{}
	}
	c.watchers[events] = true
	for _, p := range c.pods {
		seen(p.Pod)
	}
	c.mu.Unlock()
	synced()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.watchers, events)
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case p := <-events:
			seen(p)
		}
	}
}

// FindPod implements logs.Cluster.
func (c *Cluster) FindPod(_ context.Context, _, name string) (logs.Pod, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.pods[name]; p != nil {
		return p.Pod, nil
	}
	return logs.Pod{}, apierr.New(apierr.NotFound, "pod %s not found", name)
}

// ReadLog implements logs.Cluster.
func (c *Cluster) ReadLog(ctx context.Context, r logs.ReadRequest) (io.ReadCloser, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	p := c.pods[r.Pod]
	if p == nil {
		return nil, apierr.New(apierr.NotFound, "pod %s not found", r.Pod)
	}
	n := slices.IndexFunc(p.Containers, func(k logs.Container) bool { return k.Name == r.Container })
	if n < 0 || !p.Containers[n].Begun {
		return nil, apierr.New(apierr.Invalid, "container %s is waiting to start", r.Container)
	}
	id := life{r.Container, p.Containers[n].Restarts}
	if r.Previous {
		id.restarts--
	}
	o := p.printed[id]
	if o == nil {
		o = &output{over: p.Containers[n].Ended}
		p.printed[id] = o
	}
	if r.Follow {
		c.follows++
		c.most = max(c.most, c.follows)
	}
	s := &stream{c: c, ctx: ctx, o: o, r: r, broken: c.broken}
	since := r.Since.Truncate(time.Second)
	for s.at < len(o.text) { // whole lines from before
		end := bytes.IndexByte(o.text[s.at:], '\n')
		stamp, _, _ := bytes.Cut(o.text[s.at:], []byte{' '})
		if t, err := time.Parse(time.RFC3339Nano, string(stamp)); err != nil || end < 0 || !t.Before(since) {
			break
		}
		s.at += end + 1
	}
	return s, nil
}

type stream struct {
	c      *Cluster
	ctx    context.Context //nolint:containedctx // io.Reader passes none
	o      *output
	r      logs.ReadRequest
	at     int
	broken int
	closed bool
}

func (s *stream) Read(b []byte) (int, error) {
	for {
		s.c.mu.Lock()
		if s.c.changed == nil {
			s.c.changed = make(chan struct{})
		}
		changed, gone := s.c.changed, s.c.pods[s.r.Pod] == nil
		n := copy(b, s.o.text[s.at:])
		s.at += n
		over, broken := s.o.over || gone || !s.r.Follow, s.c.broken != s.broken
		s.c.mu.Unlock()
		switch {
		case broken:
			return 0, errors.New("the connection was lost")
		case n > 0:
			return n, nil
		case over:
			return 0, io.EOF
		}
		select {
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		case <-changed:
		}
	}
}

func (s *stream) Close() error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.r.Follow && !s.closed {
		s.c.follows--
	}
	s.closed = true
	return nil
}
