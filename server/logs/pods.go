package logs

import (
	"context"
	"slices"
	"time"

	"github.com/argosy-ml/argosy/server/apierr"
)

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

func (a *Archive) push(p sighting) {
	a.mu.Lock()
	a.news = append(a.news, p)
	a.mu.Unlock()
	a.notify()
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
		if len(news) == 0 && synced {
			a.mu.Lock()
			a.looked = true
			a.mu.Unlock()
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
		foreign := err != nil && apierr.KindOf(err) == apierr.NotFound
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
	before := t.pod
	t.pod = p
	a.pods[p.UID] = t
	if old := a.names[name]; old == nil || !p.Gone {
		a.names[name] = t
	}
	if !t.foreign {
		for _, c := range p.Containers {
			a.container(t, c)
		}
		a.noteWaiting(before, p)
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
	tell(r) // first, since the follower reads what r holds
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
