package logs

import (
	"context"
	"slices"
	"time"

	"github.com/argosy-ml/argosy/server/apierr"
)

// runningPatience is how long containers are waited for that still run when their step has ended.
const runningPatience = 15 * time.Second

// Step is a step whose pod has ended, or is about to.
type Step struct {
	RunID, NodeID  string
	Namespace, Pod string
	Attempt        int64 // that the run is at
}

// Finish waits until what an ended step printed is in: its own pod's logs, and those of its distributed job's containers
// that have ended. What still runs is saved as far as it goes, and is followed further. It gives the key of the log of
// the step's main container, which is empty when that never began. NotFound: its pod went before anything was read.
func (a *Archive) Finish(ctx context.Context, s Step) (key string, err error) {
	f := finisher{a: a, s: s, failed: map[*recording]int{}}
	for more := true; more; {
		if more, err = f.wait(ctx); err != nil {
			return "", err
		}
	}
	for _, r := range a.live(s.RunID) {
		if r.of.NodeID == s.NodeID {
			if err := r.save(ctx, false); err != nil {
				return "", err
			}
		}
	}
	return a.mainKey(ctx, s)
}

type finisher struct {
	a        *Archive
	s        Step
	failed   map[*recording]int // how often they had failed when they were first waited for
	patience <-chan time.Time
}

// wait waits until something has changed, and tells whether there is more to wait for.
func (f *finisher) wait(ctx context.Context) (more bool, err error) {
	changed, stop := f.a.Watch(f.s.RunID)
	defer stop()
	w, err := f.a.waits(ctx, f.s)
	if err != nil || w.last == nil && !w.starting {
		return false, err
	}
	if w.last != nil {
		if err := f.hurry(w.last); err != nil {
			return false, err
		}
		if w.running && !w.starting && f.patience == nil {
			f.patience = time.After(runningPatience)
		}
	}
	select {
	case <-ctx.Done():
		return false, apierr.New(apierr.Unavailable, "the log was not read to its end in time").Because(ctx.Err())
	case <-changed:
		return true, nil
	case <-f.patience:
		return false, nil
	}
}

// hurry has a recording that failed try again at once, and gives what it fails of then.
func (f *finisher) hurry(r *recording) error {
	r.notify()
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, known := f.failed[r]; !known {
		f.failed[r] = r.fails
	} else if r.fails > before && apierr.KindOf(r.err) != apierr.NotFound { // that its pod went, it is about to hear
		return r.err
	}
	return nil
}

// waits is what the end of a step waits for.
type waits struct {
	last     *recording // one that is not over
	running  bool       // it runs, and so do all others that are not over
	starting bool       // the pod has not been seen, or its main container not begun
}

func (a *Archive) waits(ctx context.Context, s Step) (w waits, err error) {
	for _, r := range a.live(s.RunID) {
		runs := r.runs()
		if r.of.NodeID == s.NodeID && (r.of.Pod == s.Pod || !runs) && (w.last == nil || w.running) {
			w.last, w.running = r, runs
		}
	}
	a.mu.Lock()
	t := a.names[s.Namespace+"/"+s.Pod]
	known := t != nil && (t.attempt == s.Attempt || t.foreign)
	if known && !t.foreign && !t.pod.Ended {
		for _, c := range t.pod.Containers {
			w.starting = w.starting || c.Name == Main && !c.Begun
		}
	}
	a.mu.Unlock()
	if known || w.last != nil {
		return w, nil
	}
	pod, err := a.c.Cluster.FindPod(ctx, s.Namespace, s.Pod)
	if err == nil {
		pod.RunID, pod.NodeID = s.RunID, s.NodeID
		a.push(sighting{pod, true})
		w.starting = true
		return w, nil
	}
	if apierr.KindOf(err) != apierr.NotFound {
		return w, err
	}
	kept, more := a.c.Store.Logs(ctx, s.RunID, s.NodeID)
	if more != nil {
		return w, more
	}
	for _, l := range kept {
		if l.Pod == s.Pod && l.Attempt == s.Attempt {
			w.starting = w.starting || l.State == Live // it is about to be closed
			err = nil
		}
	}
	return w, err
}

// runs tells whether the container runs, as far as is known.
func (r *recording) runs() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.ended && !r.gone && !r.missed
}

func (a *Archive) mainKey(ctx context.Context, s Step) (string, error) {
	list, err := a.List(ctx, s.RunID, s.NodeID)
	if err != nil {
		return "", err
	}
	for _, l := range slices.Backward(list) {
		if l.Pod == s.Pod && l.Container == Main && l.Attempt == s.Attempt {
			return l.Key(0), nil
		}
	}
	return "", nil
}
