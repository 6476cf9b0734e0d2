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
	"github.com/argosy-ml/argosy/server/fault"
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

	mu     sync.Mutex
	life   context.Context //nolint:containedctx // of the recordings, which outlive the call that begins them
	news   []sighting      // not dealt with yet
	synced bool            // all pods that were there at the beginning are among those
	pods   map[string]*tracked
	names  map[string]*tracked // by namespace/name: the newest of the name
	runs   map[string]*activity
}

// sighting is a pod that was seen: by the watch, or, which only counts for one that is new, by looking for it.
type sighting struct {
	Pod
	looked bool
}

// tracked is a pod that is, or was, watched.
type tracked struct {
	pod     Pod
	foreign bool // no run of this server
	attempt int64
	kept    []Log // what the store knew of it when it was first seen
	logs    map[instance]*recording
	over    map[instance]bool
}

type instance struct {
	container string
	restarts  int64
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
		pods: map[string]*tracked{}, names: map[string]*tracked{}, runs: map[string]*activity{},
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
			a.poke()
		})
	})
	g.Go(func() error { return a.observeAll(ctx) })
	g.Go(func() error { return a.saveAll(ctx) })
	return g.Wait()
}

func (a *Archive) push(p sighting) {
	a.mu.Lock()
	a.news = append(a.news, p)
	a.mu.Unlock()
	a.poke()
}

func (a *Archive) poke() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// observeAll deals with pods as they are seen, in order.
func (a *Archive) observeAll(ctx context.Context) error {
	orphans := false // those of earlier servers were looked for
	for {
		a.mu.Lock()
		news, synced := a.news, a.synced
		a.news = nil
		a.mu.Unlock()
		for i, p := range news {
			err := a.observe(ctx, p)
			if err == nil {
				continue
			}
			if ctx.Err() != nil {
				return nil
			}
			a.c.Log.Error("a pod's logs cannot be looked up; will try again", "pod", p.Name, "error", err)
			a.mu.Lock()
			a.news = append(news[i:len(news):len(news)], a.news...)
			a.mu.Unlock()
			break
		}
		if len(news) == 0 && synced && !orphans {
			if err := a.closeOrphans(ctx); err != nil && ctx.Err() == nil {
				a.c.Log.Error("the logs of an earlier server cannot be looked up; will try again", "error", err)
			} else {
				orphans = true
			}
		}
		var again <-chan time.Time
		a.mu.Lock()
		if len(a.news) > 0 || a.synced && !orphans {
			again = time.After(min(lookAgain, time.Duration(len(news))*lookAgain)) // at once, when there was nothing to do
		}
		a.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-a.wake:
		case <-again:
		}
	}
}

// observe begins, and tells, the recordings of a pod.
func (a *Archive) observe(ctx context.Context, s sighting) error {
	p := s.Pod
	a.mu.Lock()
	t := a.pods[p.UID]
	if t != nil && s.looked {
		a.tell(p.RunID)
		a.mu.Unlock()
		return nil
	}
	a.mu.Unlock()
	if t == nil {
		if p.Gone || p.RunID == "" {
			return nil
		}
		kept, attempt, err := a.c.Store.PodLogs(ctx, p.RunID, p.UID)
		foreign := err != nil && fault.KindOf(err) == fault.NotFound
		if err != nil && !foreign {
			return err
		}
		t = &tracked{foreign: foreign, attempt: attempt, kept: kept, logs: map[instance]*recording{}, over: map[instance]bool{}}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	name := p.Namespace + "/" + p.Name
	if p.Gone {
		p.Containers = t.pod.Containers
	}
	t.pod = p
	a.pods[p.UID] = t
	if old := a.names[name]; old == nil || !p.Gone {
		a.names[name] = t
	}
	if !t.foreign {
		for _, c := range p.Containers {
			a.container(t, c)
		}
	}
	if p.Gone {
		for _, r := range t.logs {
			r.see(func() { r.gone = true })
		}
		delete(a.pods, p.UID)
		if a.names[name] == t {
			delete(a.names, name)
		}
	}
	a.tell(p.RunID)
	return nil
}

// container brings what is known of a container to what the cluster says; mu is held.
func (a *Archive) container(t *tracked, c Container) {
	if !c.Begun || c.Executor && (!c.Ended || !c.Failed) {
		return
	}
	if c.Restarts > 0 {
		a.recording(t, instance{c.Name, c.Restarts - 1}, c, func(r *recording) { r.restarted() })
	}
	for i, r := range t.logs {
		if i.container == c.Name && i.restarts < c.Restarts-1 {
			r.see(func() { r.missed = true })
		}
	}
	a.recording(t, instance{c.Name, c.Restarts}, c, func(r *recording) {
		r.started, r.ended, r.urgent = c.Started, c.Ended || t.pod.Ended, t.pod.Deleting
		if r.log.StartedAt.IsZero() {
			r.log.StartedAt = c.Started
		}
	})
}

// recording tells the recording of an instance, which it begins if there was none and it is not over; mu is held.
func (a *Archive) recording(t *tracked, i instance, c Container, tell func(*recording)) {
	if r := t.logs[i]; r != nil {
		r.see(func() { tell(r) })
		return
	}
	if t.over[i] {
		return
	}
	p := t.pod
	l := Log{
		RunID: p.RunID, NodeID: p.NodeID, Attempt: t.attempt, Namespace: p.Namespace, Pod: p.Name, PodUID: p.UID,
		Container: i.container, Restart: i.restarts, Role: p.Role, Rank: p.Rank, State: Live,
	}
	resume := false
	if n := slices.IndexFunc(t.kept, l.same); n >= 0 {
		if l = t.kept[n]; l.State != Live {
			t.over[i] = true
			return
		}
		resume = true
	}
	r := newRecording(a, l)
	r.noise, r.resume, r.known = c.Noise, resume, resume
	tell(r) // before it begins: it reads what it is told to
	t.logs[i] = r
	a.begin(r)
}

// begin starts the recording's goroutine; mu is held.
func (a *Archive) begin(r *recording) {
	ctx, stop := context.WithCancel(a.life)
	r.stop = stop
	act := a.activity(r.of.RunID)
	act.recordings = append(act.recordings, r)
	a.wg.Go(func() {
		defer stop()
		r.run(ctx)
	})
}

// closeOrphans closes the logs that an earlier server began and whose pods went while there was none.
func (a *Archive) closeOrphans(ctx context.Context) error {
	live, err := a.c.Store.LiveLogs(ctx)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range live {
		if t := a.pods[l.PodUID]; t != nil && t.logs[instance{l.Container, l.Restart}] != nil {
			continue
		}
		r := newRecording(a, l)
		r.resume, r.known, r.gone = true, true, true
		a.begin(r)
		a.tell(l.RunID)
	}
	return nil
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

// tell wakes who waits for something in a run; mu is held. Runs in which nothing goes on are forgotten.
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

// Why tells what a pod waits for, as far as is known.
func (a *Archive) Why(namespace, pod string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := a.names[namespace+"/"+pod]; t != nil {
		return t.pod.Why
	}
	return ""
}

// live gives the recordings of a run, or all.
func (a *Archive) live(run string) (all []*recording) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if run != "" {
		if act := a.runs[run]; act != nil {
			all = slices.Clone(act.recordings)
		}
		return all
	}
	for _, act := range a.runs {
		all = append(all, act.recordings...)
	}
	return all
}

// List gives the logs of a run, or of one node of it, in the order in which they began, those that grow as they are now.
func (a *Archive) List(ctx context.Context, run, node string) ([]Log, error) {
	list, _, err := a.list(ctx, run, node)
	return list, err
}

func (a *Archive) list(ctx context.Context, run, node string) ([]Log, []*recording, error) {
	live := a.live(run) // before the store: what ends meanwhile is there
	list, err := a.c.Store.Logs(ctx, run, node)
	if err != nil {
		return nil, nil, err
	}
	recordings := make([]*recording, len(list))
	for _, r := range live {
		l := r.now()
		if node != "" && l.NodeID != node {
			continue
		}
		if i := slices.IndexFunc(list, l.same); i < 0 {
			list, recordings = append(list, l), append(recordings, r)
		} else if list[i].State == Live {
			list[i], recordings[i] = l, r
		}
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return inOrder(list[i], list[j]) })
	sorted, theirs := make([]Log, len(list)), make([]*recording, len(list))
	for to, from := range order {
		sorted[to], theirs[to] = list[from], recordings[from]
	}
	return sorted, theirs, nil
}

func inOrder(x, y Log) int {
	return cmp.Or(cmp.Compare(x.Attempt, y.Attempt), x.StartedAt.Compare(y.StartedAt), cmp.Compare(x.Role, y.Role),
		cmp.Compare(x.Rank, y.Rank), cmp.Compare(x.Pod, y.Pod), cmp.Compare(x.Container, y.Container), cmp.Compare(x.Restart, y.Restart))
}

// now is the log as it is now.
func (r *recording) now() Log {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.log
	l.Lines, l.Bytes = r.open.lines(), r.open.bytes()
	if t := r.open.lastAt(); !t.IsZero() {
		l.LastAt = t
	}
	return l
}

// turn waits until a log may be followed; one that someone reads may at once.
func (a *Archive) turn(ctx context.Context, r *recording) (release func(), err error) {
	a.waiting.Add(1)
	defer a.waiting.Add(-1)
	for {
		r.mu.Lock()
		wanted, other := r.wanted > 0, r.ended || r.gone || r.missed
		r.mu.Unlock()
		if wanted || other {
			return func() {}, nil
		}
		select {
		case a.follows <- struct{}{}:
			return func() { <-a.follows }, nil
		case <-r.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func take(ctx context.Context, slots chan struct{}) (release func(), err error) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
