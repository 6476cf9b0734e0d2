package kubelet

import (
	"context"
	"sync"
	"time"
)

// clearWithin is how long the files of a pod that is over lie about at most while others are being set up.
const clearWithin = 10 * time.Second

// leftovers are the folders of pods that are over, still to be cleared. To remove what a pod wrote, and the folders of its root, takes as
// long as to make them: a burst of pods is through sooner when that waits for its end. The zero value must not be used.
type leftovers struct {
	mu    sync.Mutex
	left  []leftover // oldest first
	there chan struct{}
}

type leftover struct {
	pod   *pod
	since time.Time
}

func newLeftovers() *leftovers { return &leftovers{there: make(chan struct{}, 1)} }

// add leaves the folder of a pod of which nothing runs any more for later.
func (l *leftovers) add(p *pod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = append(l.left, leftover{p, time.Now()})
	select {
	case l.there <- struct{}{}:
	default:
	}
}

// next takes the oldest, if it is its time: any is when there is nothing better to do.
func (l *leftovers) next(calm bool) *pod {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.left) == 0 || !calm && time.Since(l.left[0].since) < clearWithin {
		return nil
	}
	p := l.left[0].pod
	l.left = l.left[1:]
	return p
}

func (l *leftovers) empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.left) == 0
}

// clearLeftovers clears folders until the context ends, and then those that are left.
func (k *Kubelet) clearLeftovers(ctx context.Context) {
	for {
		for p := k.leftovers.next(ctx.Err() != nil || k.calm()); p != nil; p = k.leftovers.next(ctx.Err() != nil || k.calm()) {
			if err := clearFolder(p.dir); err != nil {
				p.log.Warn("files of the pod not removed", "err", err)
			}
		}
		if ctx.Err() != nil {
			return
		}
		var later <-chan time.Time
		if !k.leftovers.empty() {
			later = time.After(calm)
		}
		select {
		case <-ctx.Done():
		case <-later:
		case <-k.leftovers.there:
		}
	}
}

// calm says whether no pod is being set up.
func (k *Kubelet) calm() bool { return k.berths.busy.Load() == 0 && len(k.starting) == 0 }
