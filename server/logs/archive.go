package logs

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/argosy-ml/argosy/server/artifact"
)

// readsAtOnce is how many logs of ended containers are read at once.
const readsAtOnce = 16

// Limits bound what an archive does at once and keeps; what is zero is as usual.
type Limits struct {
	Follows int           // logs that are followed at once, beside those that someone reads; 256
	Turn    time.Duration // how long a log is followed while others wait for their turn; 30 s
	Text    int64         // bytes of text that are kept of one container; 1 GiB
}

func (l Limits) orUsual() Limits {
	return Limits{Follows: cmp.Or(l.Follows, 256), Turn: cmp.Or(l.Turn, 30*time.Second), Text: cmp.Or(l.Text, 1<<30)}
}

// Config holds what an archive needs; all of it but the limits is required.
type Config struct {
	Store     Store
	Cluster   Cluster
	Artifacts artifact.Store
	Log       *slog.Logger
	Limits    Limits
}

// Archive records the logs of all runs while Run runs, and reads them at any time.
type Archive struct {
	c       Config
	follows chan struct{}
	reads   chan struct{}
	waiting atomic.Int64 // for their turn to follow
	wg      sync.WaitGroup
	wake    chan struct{} // pods came in
	totals  totals

	mu       sync.Mutex
	life     context.Context //nolint:containedctx // of the recordings, which outlive the call that begins them
	news     []sighting      // not dealt with yet
	looked   bool            // and those have been dealt with
	synced   bool            // all pods that were there at the beginning are among those
	pods     map[string]*tracked
	names    map[string]*tracked // by namespace/name: the newest of the name
	runs     map[string]*activity
	listener listener
}

// activity is what goes on in a run.
type activity struct {
	recordings []*recording
	watchers   int
	changed    chan struct{} // closed when a pod of it was seen, or a recording began or ended
}

// New makes an archive.
func New(c Config) *Archive {
	c.Limits = c.Limits.orUsual()
	return &Archive{
		c: c, follows: make(chan struct{}, c.Limits.Follows), reads: make(chan struct{}, readsAtOnce), wake: make(chan struct{}, 1),
		pods: map[string]*tracked{}, names: map[string]*tracked{}, runs: map[string]*activity{}, listener: listener{due: map[string]time.Time{}},
	}
}

// Run records until ctx ends, and returns when all its work has stopped. What was not saved by then is read again.
func (a *Archive) Run(ctx context.Context) error {
	defer a.wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.mu.Lock()
	a.life = ctx
	a.mu.Unlock()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return a.c.Cluster.WatchPods(ctx, func(p Pod) { a.push(sighting{p, false}) }, func() {
			a.mu.Lock()
			a.synced = true
			a.mu.Unlock()
			a.notify()
		})
	})
	g.Go(func() error { return a.observeAll(ctx) })
	g.Go(func() error { return a.saveAll(ctx) })
	return g.Wait()
}

func (a *Archive) notify() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// forget lets go of a recording that is over.
func (a *Archive) forget(r *recording) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := a.pods[r.of.PodUID]; t != nil {
		i := instance{r.of.Container, r.of.Restart}
		delete(t.logs, i)
		t.over[i] = true
	}
	if act := a.runs[r.of.RunID]; act != nil {
		act.recordings = slices.DeleteFunc(act.recordings, func(o *recording) bool { return o == r })
	}
	a.tell(r.of.RunID)
}

func (a *Archive) activity(run string) *activity {
	act := a.runs[run]
	if act == nil {
		act = &activity{changed: make(chan struct{})}
		a.runs[run] = act
	}
	return act
}

// tell wakes those who wait for a change of a run, and forgets idle runs. The caller holds mu.
func (a *Archive) tell(run string) {
	act := a.runs[run]
	if act == nil {
		return
	}
	close(act.changed)
	act.changed = make(chan struct{})
	if len(act.recordings)+act.watchers == 0 {
		delete(a.runs, run)
	}
}

// failed wakes who waits for a recording that will be tried again.
func (a *Archive) failed(run string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tell(run)
}

// Watch gives a channel that is closed when a pod of the run is seen, or a log of it begins or ends. stop must be called.
func (a *Archive) Watch(run string) (changed <-chan struct{}, stop func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	act := a.activity(run)
	act.watchers++
	return act.changed, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if act.watchers--; len(act.recordings)+act.watchers == 0 {
			delete(a.runs, run)
		}
	}
}
