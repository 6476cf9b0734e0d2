// Package sandbox makes the sandboxes of pods, and keeps warm ones for the next pods.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/argosy-ml/argosy/cluster/net/podnet"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

const (
	// spare is how many sandboxes are kept ready: a distributed job with its step takes as many at once. Each costs some 2 MB.
	spare = 4
	// maxKept is how many sandboxes of ended pods are kept for other pods of the same namespace.
	maxKept = 8
	// Calm is how long the pool waits for a moment without a starting pod, which a new sandbox would delay.
	Calm = 20 * time.Millisecond
)

// Sandbox holds what every pod needs before its spec is known: a folder, namespaces, an address, and the process that holds them. Making one takes
// longer than most later steps of a pod's start, so the pool makes some in advance.
type Sandbox struct {
	Dir    string
	Addr   netip.Addr
	Holder *shim.Holder

	namespace string // Kubernetes namespace of the pods that had it; empty for a new one
}

// usable says whether the sandbox's holder is still there.
func (b *Sandbox) usable() bool {
	select {
	case <-b.Holder.Gone():
		return false
	default:
		return true
	}
}

// Pool makes sandboxes, and keeps warm ones for the next pods.
type Pool struct {
	Program     string // argosy-podinit
	Folder      string // of warm sandboxes
	Addresses   *podnet.Addresses
	NodeNetwork *os.File // the network namespace of pods with hostNetwork
	Log         *slog.Logger
	Go          func(func()) // runs work in the background

	Busy   atomic.Int32  // pods that are being set up
	wanted chan struct{} // holds a token when a sandbox was taken

	mu    sync.Mutex
	ready []*Sandbox
	kept  []*Sandbox // of ended pods, see Keep; oldest first
	named int
}

// NewPool returns a pool without sandboxes; its fields are to be set.
func NewPool() *Pool { return &Pool{wanted: make(chan struct{}, 1)} }

// Take moves a sandbox to a pod's folder: a spare one if there is one, or else a new one. On error it returns the part of the sandbox that
// it created.
func (s *Pool) Take(dir, namespace, hostname string) (*Sandbox, error) {
	s.Busy.Add(1)
	defer s.Busy.Add(-1)
	if b := s.pop(namespace); b != nil {
		err := b.move(dir, hostname)
		if err == nil {
			return b, nil
		}
		s.Log.Warn("warm sandbox not used", "err", errors.Join(err, s.remove(b)))
	}
	b := &Sandbox{Dir: dir}
	return b, s.make(b, hostname)
}

// move gives a warm sandbox to a pod. Its mounts go along.
func (b *Sandbox) move(dir, hostname string) error {
	b.Holder.Name(hostname)
	if err := os.Rename(b.Dir, dir); err != nil {
		return err
	}
	b.Holder.Moved(dir)
	b.Dir = dir
	return nil
}

// make makes a sandbox. With an error there may be a part of it.
func (s *Pool) make(b *Sandbox, hostname string) error {
	err := MakeFolders(b.Dir)
	if err != nil {
		return err
	}
	if b.Addr, err = s.Addresses.Take(); err != nil {
		return err
	}
	if b.Holder, err = s.startHolder(b.Dir, hostname, true); err != nil {
		return err
	}
	ns, err := b.Holder.Namespace("net")
	if err != nil {
		return err
	}
	defer ns.Close()
	return podnet.Attach(ns, b.Addr)
}

// StartOnNode starts the holder of a pod with hostNetwork.
func (s *Pool) StartOnNode(dir, hostname string) (*shim.Holder, error) {
	return s.startHolder(dir, hostname, false)
}

func (s *Pool) startHolder(dir, hostname string, ownNet bool) (*shim.Holder, error) {
	var holder *shim.Holder
	start := func() (err error) {
		holder, err = shim.Start(s.Program, dir, hostname, ownNet)
		return err
	}
	var err error
	if ownNet {
		err = start()
	} else {
		err = podnet.In(s.NodeNetwork, start)
	}
	if err != nil {
		return nil, fmt.Errorf("start the pod's holder: %w", err)
	}
	return holder, nil
}

// Keep leaves the namespaces of an ended pod and their holder to the next pod of its Kubernetes namespace, with another address, other
// folders and other shared memory. To make and to remove them is a good part of the cost of a short pod. dialed says whether a client
// may have a connection to a port of the pod.
func (s *Pool) Keep(holder *shim.Holder, addr netip.Addr, namespace string, dialed func() bool) error {
	b := &Sandbox{Dir: s.newFolder(), namespace: namespace}
	err := s.inherit(b, holder, addr)
	if err == nil && dialed() {
		err = errors.New("a client connected to a port of the pod")
	}
	if err != nil {
		return errors.Join(err, s.remove(b))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, b)
	if len(s.kept) > maxKept {
		s.discard(s.kept[0])
		s.kept = s.kept[1:]
	}
	return nil
}

// inherit makes a sandbox from an ended pod's. With an error there may be a part of it.
func (s *Pool) inherit(b *Sandbox, holder *shim.Holder, addr netip.Addr) error {
	err := MakeFolders(b.Dir)
	if err != nil {
		return err
	}
	if b.Addr, err = s.Addresses.Take(); err != nil {
		return err
	}
	ns, err := holder.Namespace("net")
	if err != nil {
		return err
	}
	defer ns.Close()
	if b.Holder, err = holder.Renew(b.Dir); err != nil {
		return err
	}
	return podnet.Readdress(ns, addr, b.Addr)
}

// remove removes what there is of a sandbox that no pod has.
func (s *Pool) remove(b *Sandbox) error {
	if b.Holder != nil {
		b.Holder.Kill()
	}
	if b.Addr.IsValid() {
		s.Addresses.Give(b.Addr)
	}
	return errors.Join(UnmountMemory(b.Dir), os.RemoveAll(b.Dir))
}

// discard removes a sandbox in the background.
func (s *Pool) discard(b *Sandbox) {
	s.Go(func() {
		if err := s.remove(b); err != nil {
			s.Log.Warn("warm sandbox not removed", "err", err)
		}
	})
}

// pop returns a warm sandbox for a pod of the namespace, or nil.
func (s *Pool) pop(namespace string) *Sandbox {
	for {
		b := s.popKept(namespace)
		if b == nil {
			b = s.popReady()
		}
		if b == nil || b.usable() {
			return b
		}
		s.discard(b)
	}
}

func (s *Pool) popReady() *Sandbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ready) == 0 {
		return nil
	}
	b := s.ready[0]
	s.ready = s.ready[1:]
	select {
	case s.wanted <- struct{}{}:
	default:
	}
	return b
}

// popKept returns the latest sandbox that pods of the namespace had.
func (s *Pool) popKept(namespace string) *Sandbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, b := range slices.Backward(s.kept) {
		if b.namespace == namespace {
			s.kept = slices.Delete(s.kept, i, i+1)
			return b
		}
	}
	return nil
}

// newFolder returns the name of a folder for a warm sandbox.
func (s *Pool) newFolder() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.named++
	return filepath.Join(s.Folder, strconv.Itoa(s.named))
}

// Fill creates sandboxes until the context ends, in moments when calm reports that no pod needs the machine. Then it removes the spare
// ones.
func (s *Pool) Fill(ctx context.Context, calm func() bool) {
	defer s.removeAll()
	for failures := 0; ; {
		pause := Calm
		switch {
		case s.full():
			select {
			case <-ctx.Done():
				return
			case <-s.wanted:
			}
		case calm():
			if err := s.add(); err != nil {
				failures++
				pause = time.Duration(failures) * time.Second
				s.Log.Warn("warm sandbox not made", "err", err)
			} else {
				failures = 0
				continue
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

func (s *Pool) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ready) >= spare
}

func (s *Pool) add() error {
	b := &Sandbox{Dir: s.newFolder()}
	if err := s.make(b, ""); err != nil {
		return errors.Join(err, s.remove(b))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = append(s.ready, b)
	return nil
}

func (s *Pool) removeAll() {
	s.mu.Lock()
	left := slices.Concat(s.ready, s.kept)
	s.ready, s.kept = nil, nil
	s.mu.Unlock()
	for _, b := range left {
		if err := s.remove(b); err != nil {
			s.Log.Warn("warm sandbox not removed", "err", err)
		}
	}
}

// Clear removes the warm sandboxes of an earlier kubelet.
func (s *Pool) Clear(mounts []container.MountPoint) error {
	entries, err := os.ReadDir(s.Folder)
	for _, e := range entries {
		dir := filepath.Join(s.Folder, e.Name())
		if h, ferr := shim.Find(dir); ferr == nil {
			h.Kill()
		}
		err = errors.Join(err, UnmountBelow(dir, mounts), os.RemoveAll(dir))
	}
	return err
}
