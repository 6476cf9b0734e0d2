package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/argosy-ml/argosy/cluster/supervisor"
)

// report tells the user, on standard output, when a component serves for the
// first time, and on standard error when one died. All events go to the log.
type report struct {
	mu      sync.Mutex
	out     io.Writer
	log     *slog.Logger
	told    map[string]bool
	stopped bool
}

func (r *report) event(e supervisor.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	attrs := []any{"pid", e.PID, "restarts", e.Restarts}
	if e.Err != nil {
		attrs = append(attrs, "error", e.Err)
	}
	r.log.Info(e.Child+" "+string(e.Kind), attrs...)
	switch {
	case e.Kind == supervisor.Ready && !r.told[e.Child]:
		if r.told == nil {
			r.told = map[string]bool{}
		}
		r.told[e.Child] = true
		r.ready(e.Child, e.After)
	case e.Kind == supervisor.Exited && !r.stopped:
		fmt.Fprintf(os.Stderr, "argosy-cluster: %s ended (%v), starting it again\n", e.Child, e.Err)
	}
}

// cluster says that everything serves.
func (r *report) cluster(after time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ready("cluster", after)
}

// stop says that children end on purpose from now on.
func (r *report) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
}

func (r *report) ready(what string, after time.Duration) {
	// Nobody may be reading any more.
	_, _ = fmt.Fprintf(r.out, "%s ready %.2fs\n", what, after.Seconds())
}
