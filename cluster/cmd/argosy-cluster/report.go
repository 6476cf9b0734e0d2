package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/host/supervisor"
)

// report tells the user, on standard output, when a component serves for the
// first time, and on standard error when one died. All events go to the log,
// and what they amount to into a record for `argosy-cluster status`.
type report struct {
	mu         sync.Mutex
	home       home.Home
	out        io.Writer
	log        *slog.Logger
	told       map[string]bool
	up         bool // the whole cluster has been ready
	stopped    bool
	components []home.Component
}

func (r *report) event(e supervisor.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	attrs := []any{"pid", e.PID, "restarts", e.Restarts}
	if e.Err != nil {
		attrs = append(attrs, "error", e.Err)
	}
	r.log.Info(e.Child+" "+string(e.Kind), attrs...)
	r.record(e)
	switch {
	case e.Kind == supervisor.Ready && !r.told[e.Child]:
		if r.told == nil {
			r.told = map[string]bool{}
		}
		r.told[e.Child] = true
		if !r.up { // those that start later do so for an object, whose status tells
			r.ready(e.Child, e.After)
		}
	case e.Kind == supervisor.Exited && !r.stopped:
		fmt.Fprintf(os.Stderr, "argosy-cluster: %s ended (%v), starting it again\n", e.Child, e.Err)
	}
}

// record keeps what an event says of a component.
func (r *report) record(e supervisor.Event) {
	at := slices.IndexFunc(r.components, func(c home.Component) bool { return c.Name == e.Child })
	if at < 0 {
		at = len(r.components)
		r.components = append(r.components, home.Component{Name: e.Child})
	}
	c := &r.components[at]
	c.Since, c.Restarts, c.PID = time.Now(), e.Restarts, e.PID
	switch e.Kind {
	case supervisor.Started:
		c.State = home.Starting
	case supervisor.Ready:
		c.State = home.Ready
	case supervisor.Exited:
		c.State, c.PID, c.Ended = home.Down, 0, "exit status 0"
		if e.Err != nil {
			c.Ended = e.Err.Error()
		}
	}
	if err := r.home.WriteComponents(r.components); err != nil {
		r.log.Error("record the components", "error", err)
	}
}

// cluster says that everything serves.
func (r *report) cluster(after time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ready("cluster", after)
	r.up = true
}

// stop says that children end on purpose from now on.
func (r *report) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
}

func (r *report) ready(what string, after time.Duration) {
	// The reader may be gone.
	_, _ = fmt.Fprintf(r.out, "%s ready %.2fs\n", what, after.Seconds())
}
