package reconcile

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/cache"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/run"
)

// deciders is how many steps are decided on at once.
const deciders = 16

// asking are the steps that wait to hear whether they must run, by pod.
type asking struct {
	mu    sync.Mutex
	steps map[string]cache.Step
}

func (a *asking) put(s cache.Step) (key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key = s.Namespace + "/" + s.Pod
	a.steps[key] = s
	return key
}

func (a *asking) get(key string) (cache.Step, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.steps[key]
	return s, ok
}

func (a *asking) drop(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.steps, key)
}

// watchGate queues steps that wait at the gate. They are listed as long as they wait, so that none is lost when the server stops.
func (r *Reconciler) watchGate(ctx context.Context) error {
	return r.c.Cluster.Waiting(ctx, func(s cache.Step) { r.decisions.enqueue(ctx, r.asking.put(s)) })
}

// decide has a step take what an earlier one left, or run. What cannot be found out does not stop it from running.
func (r *Reconciler) decide(ctx context.Context, key string, attempt int) error {
	step, ok := r.asking.get(key)
	if !ok {
		return nil
	}
	entry, found, err := r.find(ctx, step)
	switch {
	case err != nil && attempt < maxAttempts:
		return err
	case err != nil:
		r.c.Log.Warn("a step runs that might not have to", "run", step.RunID, "step", step.NodeID, "error", err)
	}
	if found {
		err = r.c.Cluster.Reuse(ctx, step, entry)
	} else {
		if err := ignoreMissing(r.c.Cache.ForgetReuse(ctx, step.RunID, step.NodeID)); err != nil {
			return err
		}
		err = r.c.Cluster.Proceed(ctx, step)
	}
	if err == nil {
		r.asking.drop(key)
	}
	return err
}

// find looks for an entry that counts: young enough, with its run and all of its artifacts there. It notes that the step
// takes it, which keeps the artifacts from then on.
func (r *Reconciler) find(ctx context.Context, s cache.Step) (cache.Entry, bool, error) {
	none := cache.Entry{}
	if s.Key == "" || r.c.NoCache {
		return none, false, nil
	}
	age, limited, err := cache.MaxAge(s.Staleness)
	if err != nil {
		return none, false, ignoreMissing(r.c.Store.AddWarning(ctx, s.RunID, fmt.Sprintf("step %s: %s; it runs", s.Pod, err)))
	}
	since := time.Time{}
	if limited {
		since = time.Now().Add(-age)
	}
	entries, err := r.c.Cache.CacheEntries(ctx, s.Key, since)
	if err != nil {
		return none, false, err
	}
	for _, e := range entries {
		there, err := r.present(ctx, e.Artifacts)
		if err != nil {
			return none, false, err
		}
		if len(there) < len(e.Artifacts) {
			if err := ignoreMissing(r.c.Cache.DropCacheEntry(ctx, e.RunID, e.NodeID)); err != nil {
				return none, false, err
			}
			continue
		}
		switch err := r.c.Cache.Reuse(ctx, s.RunID, s.NodeID, e); {
		case err == nil:
			return e, true, nil
		case apierr.KindOf(err) != apierr.NotFound: // otherwise it has just gone
			return none, false, err
		}
	}
	return none, false, nil
}

// present gives those of the artifacts that are there.
func (r *Reconciler) present(ctx context.Context, keys []string) (there []string, err error) {
	for _, key := range keys {
		switch _, err := r.c.Artifacts.Size(ctx, key); {
		case err == nil:
			there = append(there, key)
		case apierr.KindOf(err) != apierr.NotFound:
			return nil, err
		}
	}
	return there, nil
}

// keep makes what a step left available to later ones that are given the same.
func (r *Reconciler) keep(ctx context.Context, of run.Run, n run.Node, outputs func() (map[string][]byte, error)) error {
	if r.c.NoCache || n.Phase != run.Succeeded || n.PodName == "" || n.CachedFrom != nil {
		return nil
	}
	key, family, err := r.c.Cluster.Key(ctx, of.Namespace, n.PodName)
	if err != nil || key == "" || family == "" {
		return err
	}
	all, err := outputs()
	if err != nil || all[n.ID] == nil {
		return err
	}
	keys := make([]string, len(n.Artifacts))
	for i, a := range n.Artifacts {
		keys[i] = a.Key
	}
	keys, err = r.present(ctx, keys) // the others are optional, and were never made
	if err != nil {
		return err
	}
	return r.c.Cache.PutCacheEntry(ctx, cache.Entry{
		Key: key, Family: family, RunID: of.ID, NodeID: n.ID, FinishedAt: n.FinishedAt, Outputs: all[n.ID], Artifacts: keys,
	})
}

// copyLog gives a step that did not run the log of the one that it took its outputs from; none when that is gone.
func (r *Reconciler) copyLog(ctx context.Context, of run.Run, n run.Node) (key string, err error) {
	from := logs.Query{RunID: n.CachedFrom.RunID, NodeID: n.CachedFrom.NodeID}
	key, err = r.c.Logs.Copy(ctx, from, logs.Step{RunID: of.ID, NodeID: n.ID, Namespace: of.Namespace, Pod: n.PodName, Attempt: of.Attempt})
	return key, ignoreMissing(err)
}
