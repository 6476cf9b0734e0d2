package run

import (
	"maps"
	"slices"
	"sync"
)

// Feed notifies subscribers of the ids of changed runs. It carries no data: a slow subscriber costs only the ids that it has not fetched,
// and reads the newest state from the store. The zero Feed is ready to use.
type Feed struct {
	mu   sync.Mutex
	subs map[*Subscription]struct{}
}

// Subscription receives changes until Close.
type Subscription struct {
	feed    *Feed
	run     string
	c       chan struct{}
	changed map[string]struct{} // guarded by feed.mu
}

// Subscribe returns a subscription to one run, or to all runs for an empty id.
func (f *Feed) Subscribe(run string) *Subscription {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.subs == nil {
		f.subs = map[*Subscription]struct{}{}
	}
	s := &Subscription{feed: f, run: run, c: make(chan struct{}, 1), changed: map[string]struct{}{}}
	f.subs[s] = struct{}{}
	return s
}

// Publish says that a run changed; it never blocks.
func (f *Feed) Publish(run string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.subs {
		if s.run != "" && s.run != run {
			continue
		}
		s.changed[run] = struct{}{}
		select {
		case s.c <- struct{}{}:
		default:
		}
	}
}

// C has a value whenever Changed has something to give; it is never closed.
func (s *Subscription) C() <-chan struct{} { return s.c }

// Changed gives the ids of the runs that changed since the last call.
func (s *Subscription) Changed() []string {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	ids := slices.Sorted(maps.Keys(s.changed))
	clear(s.changed)
	return ids
}

// Close ends the subscription; it may be called twice.
func (s *Subscription) Close() {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	delete(s.feed.subs, s)
}
