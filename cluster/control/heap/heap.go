// Package heap adapts the heap of a long-running process to its load: small while idle, to leave memory to other work, and large while
// busy, when a small heap would spend a quarter of the processor time on garbage collection.
package heap

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	interval = time.Second
	// busyRate is what a process allocates when it works, in bytes per second: several times what idle components of a control
	// plane do.
	busyRate  = 16 << 20
	busyBytes = busyRate * uint64(interval/time.Second)
	// settled is how many quiet intervals in a row make a process idle: the steps of a workflow come with pauses.
	settled = 10
)

// The collector's percentages (GOGC): how much the heap may grow, compared with what is in use, before the next collection.
const (
	idlePercent = 50
	busyPercent = 400
)

// Watch sizes the heap until the context ends. GOMEMLIMIT stays the limit. Its first quiet time gives the garbage of the
// start, as much as what is kept, back to the machine.
func Watch(ctx context.Context) {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	collections := make(chan struct{}, 1)
	announce(ctx, collections)
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	allocated := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	// A start leaves gaps wherever its heap was, which cannot be given back: keep it small.
	debug.SetGCPercent(idlePercent)
	var w watch
	last := allocated()
	for {
		select {
		case <-ctx.Done():
			return
		case <-collections:
			if !w.busy && w.hurry(allocated()-last) {
				debug.SetGCPercent(busyPercent)
			}
			continue
		case <-ticks.C:
		}
		now := allocated()
		changed := w.saw(now - last)
		last = now
		switch {
		case changed && w.busy:
			debug.SetGCPercent(busyPercent)
		case changed:
			debug.SetGCPercent(idlePercent)
			debug.FreeOSMemory()
			_ = forgetProgram() // a kernel that does not allow it has pages that it may take itself
		}
	}
}

// announce says, until the context ends, when the collector has run. Work is noticed then, and not only when the interval is over:
// a short burst of it would have ended under the small heap.
func announce(ctx context.Context, collections chan<- struct{}) {
	runtime.SetFinalizer(&sentinel{}, func(*sentinel) {
		if ctx.Err() != nil {
			return
		}
		announce(ctx, collections) // first, so that a collection that the news causes is announced too
		select {
		case collections <- struct{}{}:
		default:
		}
	})
}

// sentinel is garbage that tells when it is collected; it is too large to share its memory with what is not.
type sentinel [32]byte

// watch remembers whether a process is busy.
type watch struct {
	busy  bool
	age   int // intervals
	quiet int // intervals in a row
}

// saw takes the bytes allocated in one interval and reports whether the process has become busy or idle. What it
// does in its first intervals is its start, and becoming idle the end of that.
func (w *watch) saw(bytes uint64) (changed bool) {
	was := w.busy
	w.age++
	if bytes > busyBytes {
		w.quiet = 0
	} else {
		w.quiet++
	}
	if w.age < settled {
		return false
	}
	switch {
	case w.quiet == 0:
		w.busy = true
	case w.quiet >= settled:
		w.busy = false
	}
	return w.busy != was || w.age == settled && !w.busy
}

// hurry takes the bytes allocated in an interval so far and reports whether the process has become busy.
func (w *watch) hurry(bytes uint64) bool {
	w.busy = w.busy || w.age >= settled && bytes > busyBytes
	return w.busy
}
