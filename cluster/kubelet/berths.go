package kubelet

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/cluster/container"
	"github.com/argosy-ml/argosy/cluster/podholder"
	"github.com/argosy-ml/argosy/cluster/podnet"
)

const (
	// spareBerths is how many are kept ready: a distributed job with its step takes as many at once. Each costs some 2 MB.
	spareBerths = 4
	// keptBerths is how many are kept of pods that are over, for others of the same namespace.
	keptBerths = 8
	// calm is how long is waited for a moment in which no pod is set up: another berth would only be in its way.
	calm = 20 * time.Millisecond
)

// berth is what every pod needs that nothing must be known of it for: a folder, and namespaces with an address and a holder.
// They take longer than most of what comes after them, so some are made before there is a pod.
type berth struct {
	dir       string
	addr      netip.Addr
	holder    *podholder.Holder
	namespace string // whose pods had it; empty when nobody has
}

// make makes the berth. With an error there may be a part of it.
func (b *berth) make(k *Kubelet, hostname string) error {
	err := makeFolders(b.dir)
	if err != nil {
		return err
	}
	if b.addr, err = k.addresses.Take(); err != nil {
		return err
	}
	if b.holder, err = startHolder(k, b.dir, hostname, true); err != nil {
		return err
	}
	ns, err := b.holder.Namespace("net")
	if err != nil {
		return err
	}
	defer ns.Close()
	return podnet.Attach(ns, b.addr)
}

func startHolder(k *Kubelet, dir, hostname string, ownNet bool) (*podholder.Holder, error) {
	holder, err := podholder.Start(k.helper("argosy-podinit"), dir, hostname, ownNet)
	if err != nil {
		return nil, fmt.Errorf("start the pod's holder: %w", err)
	}
	return holder, nil
}

// remove takes down what there is of a berth that no pod has.
func (b *berth) remove(k *Kubelet) error {
	if b.holder != nil {
		b.holder.Kill()
	}
	if b.addr.IsValid() {
		k.addresses.Give(b.addr)
	}
	return errors.Join(unmountMemory(b.dir), os.RemoveAll(b.dir))
}

// usable says whether the holder is still there.
func (b *berth) usable() bool {
	select {
	case <-b.holder.Gone():
		return false
	default:
		return true
	}
}

// berths are those that are ready. The zero value has none and makes none.
type berths struct {
	mu     sync.Mutex
	ready  []*berth
	kept   []*berth // of pods that are over, see moveOut; oldest first
	named  int
	busy   atomic.Int32  // pods that are being set up
	wanted chan struct{} // holds a token when there may be room for more
}

// take returns a berth that is ready for a pod of the namespace, nil when there is none.
func (s *berths) take(k *Kubelet, namespace string) *berth {
	for {
		b := s.popKept(namespace)
		if b == nil {
			b = s.pop()
		}
		if b == nil || b.usable() {
			return b
		}
		k.discard(b)
	}
}

// discard takes a berth down that no pod is going to have.
func (k *Kubelet) discard(b *berth) {
	k.work.Go(func() {
		if err := b.remove(k); err != nil {
			k.log.Warn("what is left of a spare berth", "err", err)
		}
	})
}

func (s *berths) pop() *berth {
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

// popKept returns the latest of those that pods of the namespace had.
func (s *berths) popKept(namespace string) *berth {
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

// keep makes a berth that a pod had ready for another one, and returns one that it took the place of.
func (s *berths) keep(b *berth) (old *berth) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept = append(s.kept, b); len(s.kept) > keptBerths {
		old, s.kept = s.kept[0], s.kept[1:]
	}
	return old
}

// folder is where a berth may be made.
func (s *berths) folder(k *Kubelet) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.named++
	return filepath.Join(k.berthsDir(), strconv.Itoa(s.named))
}

// keepBerths makes berths until the context ends, in moments in which no pod needs the machine for itself.
func (k *Kubelet) keepBerths(ctx context.Context) {
	s := &k.berths
	defer k.removeBerths()
	for failures := 0; ; {
		pause := calm
		switch {
		case s.full():
			select {
			case <-ctx.Done():
				return
			case <-s.wanted:
			}
		case k.calm():
			if err := s.add(k); err != nil {
				failures++
				pause = time.Duration(failures) * time.Second
				k.log.Warn("spare berth not made", "err", err)
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

func (s *berths) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ready) >= spareBerths
}

func (s *berths) add(k *Kubelet) error {
	b := &berth{dir: s.folder(k)}
	if err := b.make(k, ""); err != nil {
		return errors.Join(err, b.remove(k))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = append(s.ready, b)
	return nil
}

// removeBerths takes down those that nobody took.
func (k *Kubelet) removeBerths() {
	s := &k.berths
	s.mu.Lock()
	left := slices.Concat(s.ready, s.kept)
	s.ready, s.kept = nil, nil
	s.mu.Unlock()
	for _, b := range left {
		if err := b.remove(k); err != nil {
			k.log.Warn("what is left of a spare berth", "err", err)
		}
	}
}

func (k *Kubelet) berthsDir() string { return filepath.Join(k.clusterDir(), "berths") }

// clearBerths ends what an earlier kubelet kept ready.
func (k *Kubelet) clearBerths(mounts []container.MountPoint) error {
	entries, err := os.ReadDir(k.berthsDir())
	for _, e := range entries {
		dir := filepath.Join(k.berthsDir(), e.Name())
		if h, ferr := podholder.Find(dir); ferr == nil {
			h.Kill()
		}
		err = errors.Join(err, unmountBelow(dir, mounts), os.RemoveAll(dir))
	}
	return err
}

// Folders of a pod.
const (
	memoryFolder  = "memory" // a file system in memory, for what is small and goes with the pod
	etcPart       = memoryFolder + "/etc"
	shmPart       = memoryFolder + "/shm" // another, since pods fill it as they like
	messageFolder = memoryFolder + "/messages"
)

// makeFolders makes a pod's folder and what is in it.
func makeFolders(dir string) error {
	for _, d := range []string{"", podholder.LogFolder, "containers", memoryFolder} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("tmpfs", filepath.Join(dir, memoryFolder), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("mount a file system in memory: %w", err)
	}
	for _, d := range []string{etcPart, shmPart, messageFolder} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("tmpfs", filepath.Join(dir, shmPart), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"); err != nil {
		return fmt.Errorf("mount the pod's /dev/shm: %w", err)
	}
	return nil
}

// unmountMemory gives the memory back that a pod's files were in, with what is mounted below.
func unmountMemory(dir string) error {
	m := filepath.Join(dir, memoryFolder)
	if err := unix.Unmount(m, unix.MNT_DETACH); err != nil && err != unix.EINVAL && err != unix.ENOENT {
		return fmt.Errorf("unmount %s: %w", m, err)
	}
	return nil
}
