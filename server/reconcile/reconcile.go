// Package reconcile updates the store to the state of the cluster. It is the only writer of run state that comes from the cluster. It works
// from the current state and not from events, so it can stop at any moment and continue later.
package reconcile

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/artifact"
	"github.com/argosy-ml/argosy/server/cache"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/run"
)

// Cluster is what the reconciler needs of a cluster; server/engine implements it.
type Cluster interface {
	// Watch calls back for each Workflow of a run and for each change until ctx ends; the callback must not block.
	Watch(ctx context.Context, changed func(run.Seen)) error
	// Find reads one Workflow; one that is not there is Gone.
	Find(ctx context.Context, namespace, workflow string) (run.Seen, error)
	Terminate(ctx context.Context, namespace, workflow string) error
	// MarkPersisted marks a Workflow as recorded whole; one that is being deleted goes then.
	MarkPersisted(ctx context.Context, namespace, workflow string) error
	// Release lets a Workflow go that no run is kept for.
	Release(ctx context.Context, namespace, workflow string) error
	// Waiting calls back for each step that waits to hear whether it must run, until ctx ends; the callback must not block.
	Waiting(ctx context.Context, waits func(cache.Step)) error
	// Proceed lets a step run that waits; Reuse ends it with the outputs of an entry.
	Proceed(ctx context.Context, s cache.Step) error
	Reuse(ctx context.Context, s cache.Step, e cache.Entry) error
	// Key gives the cache key and the family of a step that has run; empty when its outputs are not to be kept.
	Key(ctx context.Context, namespace, pod string) (key, family string, err error)
	// Outputs reads what the nodes of a Workflow left; nothing for a node means that it left what cannot be kept.
	Outputs(workflow []byte) (map[string][]byte, error)
}

// Config holds what the reconciler needs; all of it is required.
type Config struct {
	Store     run.Store
	Cache     cache.Store
	Cluster   Cluster
	Artifacts artifact.Store
	Logs      *logs.Archive
	Feed      *run.Feed
	Log       *slog.Logger
	NoCache   bool // steps always run
}

// How many runs are worked on at once, and how often runs are looked at that no event spoke of.
const (
	recorders  = 16
	harvesters = 8
	sweepEvery = 30 * time.Second
)

// Reconciler has three work queues. One records what Workflows say, at once; one, which may take its time, brings in the logs and
// metrics of steps that ended, and then settles the run; and one tells steps whether they must run.
type Reconciler struct {
	c         Config
	records   *workqueue
	harvests  *workqueue
	decisions *workqueue
	asking    asking

	mu     sync.Mutex
	latest map[string]run.Seen  // by run: seen and not recorded yet
	since  map[string]time.Time // by run: since when there is something to record
}

// New makes a reconciler; it works while Run runs.
func New(c Config) *Reconciler {
	r := &Reconciler{c: c, latest: map[string]run.Seen{}, since: map[string]time.Time{}, asking: asking{steps: map[string]cache.Step{}}}
	r.records = newWorkqueue("recording a run", recorders, c.Log, r.record)
	r.harvests = newWorkqueue("harvesting a run", harvesters, c.Log, r.harvest)
	r.decisions = newWorkqueue("deciding on a step", deciders, c.Log, r.decide)
	return r
}

// Run reconciles until ctx ends, and returns when all its work has stopped.
func (r *Reconciler) Run(ctx context.Context) error {
	defer r.harvests.wait()
	defer r.records.wait()
	defer r.decisions.wait()
	g, ctx := errgroup.WithContext(ctx)
	r.c.Logs.OnWaiting(func(run string) { r.records.enqueue(ctx, run) })
	g.Go(func() error {
		return r.c.Cluster.Watch(ctx, func(s run.Seen) {
			if s.RunID == "" {
				return
			}
			r.mu.Lock()
			r.latest[s.RunID] = s
			if _, waits := r.since[s.RunID]; !waits {
				r.since[s.RunID] = time.Now()
			}
			r.mu.Unlock()
			r.records.enqueue(ctx, s.RunID)
		})
	})
	g.Go(func() error { return r.watchGate(ctx) })
	g.Go(func() error { return r.sweep(ctx) })
	return g.Wait()
}

// sweep looks at every open run now and then: its Workflow may have gone without an event.
func (r *Reconciler) sweep(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		open, err := r.c.Store.Unsettled(ctx)
		if err != nil && ctx.Err() == nil {
			r.c.Log.Error("the open runs cannot be listed", "error", err)
		}
		for _, o := range open {
			r.records.enqueue(ctx, o.ID)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// record brings one run up to what its Workflow says.
func (r *Reconciler) record(ctx context.Context, id string, _ int) error {
	s, ok := r.take(id)
	err := r.recordSeen(ctx, id, s, ok)
	if err != nil && ok {
		r.putBack(id, s)
	}
	if err == nil {
		r.recorded(id)
	}
	return err
}

func (r *Reconciler) recordSeen(ctx context.Context, id string, s run.Seen, known bool) error {
	before, err := r.c.Store.Run(ctx, id)
	if err != nil && apierr.KindOf(err) == apierr.NotFound && s.Deleting {
		return r.c.Cluster.Release(ctx, s.Namespace, s.Workflow) // no run records it
	}
	if err != nil {
		return ignoreMissing(err) // deleted, or another server's
	}
	if before.Settled && (!known || s.Gone) {
		return nil
	}
	if !known || s.Gone { // what the watch shows as gone may only be labelled otherwise
		if waits, err := r.inOutbox(ctx, id); err != nil || waits {
			return err // a retry creates the Workflow again after its last attempt is gone
		}
		if s, err = r.c.Cluster.Find(ctx, before.Namespace, before.Workflow); err != nil {
			return err
		}
	}
	if s.Gone {
		return r.vanished(ctx, before)
	}
	state, err := s.State()
	if err != nil {
		return err
	}
	if state.Attempt > before.Attempt { // the run was retried since it was read
		if before, err = r.c.Store.Run(ctx, id); err != nil {
			return ignoreMissing(err)
		}
	}
	if state.Attempt < before.Attempt {
		return nil // the run was retried, which the outbox is about to tell the cluster
	}
	if before.Settled {
		return r.leftOver(ctx, s, state)
	}
	if s.Deleting && run.Final(before.Status) { // what its steps still do counts no more
		r.harvests.enqueue(ctx, id)
		return nil
	}
	if run.Final(state.Status) && !run.Final(before.Status) {
		r.metricsFirst(ctx, before, state.Nodes)
	}
	if err := r.addWaiting(ctx, before, state.Nodes); err != nil {
		return ignoreMissing(err)
	}
	changed, err := r.c.Store.Record(ctx, id, state)
	if err != nil {
		return ignoreMissing(err)
	}
	if changed {
		r.c.Feed.Publish(id)
	}
	r.harvests.enqueue(ctx, id)
	if s.Deleting && state.CutShort && !s.Stopping { // so that the steps end now, and their logs with them
		return ignoreMissing(r.c.Cluster.Terminate(ctx, s.Namespace, s.Workflow))
	}
	// What the user asked for is kept in the store, so it is said again until the cluster has heard it.
	if (before.Status == run.Terminating || run.Final(before.Status)) && !run.Final(state.Status) && !s.Stopping {
		return ignoreMissing(r.c.Cluster.Terminate(ctx, s.Namespace, s.Workflow))
	}
	return nil
}

// leftOver deals with the Workflow of a run that is settled: it needs its mark, or, if the run was given up, an end.
func (r *Reconciler) leftOver(ctx context.Context, s run.Seen, state run.State) error {
	switch {
	case s.Deleting:
		return r.c.Cluster.MarkPersisted(ctx, s.Namespace, s.Workflow)
	case run.Final(state.Status) && !s.Persisted:
		return r.c.Cluster.MarkPersisted(ctx, s.Namespace, s.Workflow)
	case !run.Final(state.Status) && !s.Stopping:
		return ignoreMissing(r.c.Cluster.Terminate(ctx, s.Namespace, s.Workflow))
	}
	return nil
}

// vanished ends a run whose Workflow was deleted.
func (r *Reconciler) vanished(ctx context.Context, before run.Run) error {
	if !run.Final(before.Status) {
		nodes, err := r.c.Store.Nodes(ctx, before.ID)
		if err != nil {
			return ignoreMissing(err)
		}
		now := time.Now()
		for i := range nodes {
			if n := &nodes[i]; !run.Final(n.Phase) {
				n.Phase, n.Message, n.Waiting, n.FinishedAt = run.Error, "the workflow was deleted", "", now
			}
		}
		_, err = r.c.Store.Record(ctx, before.ID, run.State{
			Status: run.Error, StartedAt: before.StartedAt, FinishedAt: now, Nodes: nodes, Attempt: before.Attempt,
			Message: fmt.Sprintf("workflow %s/%s was deleted from the cluster before it ended", before.Namespace, before.Workflow),
		})
		if err != nil {
			return ignoreMissing(err)
		}
		r.c.Feed.Publish(before.ID)
	}
	r.harvests.enqueue(ctx, before.ID)
	return nil
}

// inOutbox says whether a run's Workflow is still to be made.
func (r *Reconciler) inOutbox(ctx context.Context, id string) (bool, error) {
	accepted, err := r.c.Store.Unsubmitted(ctx)
	return slices.ContainsFunc(accepted, func(a run.Accepted) bool { return a.RunID == id }), err
}

// take gives what was last seen of a run, once.
func (r *Reconciler) take(id string) (run.Seen, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.latest[id]
	delete(r.latest, id)
	return s, ok
}

// recorded takes note that what was seen of a run is in the store, unless something newer was seen meanwhile.
func (r *Reconciler) recorded(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, newer := r.latest[id]; newer {
		r.since[id] = time.Now()
	} else {
		delete(r.since, id)
	}
}

// Lag is for how long the oldest change of a Workflow waits to be recorded; 0 when none does.
func (r *Reconciler) Lag() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	lag := time.Duration(0)
	for _, since := range r.since {
		lag = max(lag, time.Since(since))
	}
	return lag
}

// putBack keeps what could not be recorded, unless something newer was seen meanwhile.
func (r *Reconciler) putBack(id string, s run.Seen) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, newer := r.latest[id]; !newer {
		r.latest[id] = s
	}
}

func ignoreMissing(err error) error {
	if err != nil && apierr.KindOf(err) == apierr.NotFound {
		return nil
	}
	return err
}
