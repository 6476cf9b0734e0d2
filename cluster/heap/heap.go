// Package heap sizes the heap of a long-running process by what it does: small while it is idle, which is most of the time
// on a machine with other work, and roomy while it is busy, when a small heap would have the collector take a quarter of
// the processor time.
package heap

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	interval = time.Second
	// busyRate is what a process allocates when it works, in bytes per second: several times what idle components of a control
	// plane do.
	busyRate = 16 << 20
	// settled is how many quiet intervals in a row make a process idle: the steps of a workflow come with pauses.
	settled = 10
)

// The collector's percentages (GOGC): how much the heap may grow, compared with what is in use, before the next collection.
const (
	idlePercent = 50
	busyPercent = 200
)

// Watch sizes the heap until the context ends. GOMEMLIMIT stays the limit. Its first quiet time gives the garbage of the
// start, as much as what is kept, back to the machine.
func Watch(ctx context.Context) {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
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
		}
	}
}

// watch remembers whether a process is busy.
type watch struct {
	busy  bool
	age   int // intervals
	quiet int // intervals in a row
}

// saw is told what was allocated in one interval, in bytes, and tells whether the process has become busy or idle. What it
// does in its first intervals is its start, and becoming idle the end of that.
func (w *watch) saw(bytes uint64) (changed bool) {
	was := w.busy
	w.age++
	if bytes > busyRate*uint64(interval/time.Second) {
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
