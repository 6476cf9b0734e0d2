package logs

import (
	"context"
	"errors"
	"sync"
	"time"
)

// follow reads as long as the container runs.
func (r *recording) follow(ctx context.Context) error {
	release, err := r.a.turn(ctx, r)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !r.mayFollow(func() { cancel(errYield) }) {
		return nil
	}
	defer r.yield(cancel)()
	if err := r.read(ctx, false); err != nil { // so that readers know when they have what there is
		return r.yielded(ctx, err)
	}
	r.setFresh(true)
	defer r.setFresh(false)
	if err := r.read(ctx, true); err != nil {
		return r.yielded(ctx, err)
	}
	return r.hear(ctx)
}

func (r *recording) mayFollow(quit func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.quit = quit
	return !r.ended && !r.gone
}

// yielded tells a stream that was given up from one that broke off.
func (r *recording) yielded(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errYield) {
		return errYield
	}
	return err
}

// hear waits, after the end of a stream, for word that the container has ended. Where none comes it looks: the container
// may have been restarted, and what is read next would be another log's.
func (r *recording) hear(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.wake:
		return nil
	case <-time.After(lookAgain):
	}
	pod, err := r.a.c.Cluster.FindPod(ctx, r.of.Namespace, r.of.Pod)
	if err != nil || pod.UID != r.of.PodUID {
		return err
	}
	for _, c := range pod.Containers {
		if c.Name == r.of.Container && c.Restarts > r.of.Restart {
			r.see(r.restarted)
		}
	}
	return nil
}

// yield gives the turn back once it has lasted long enough and others wait.
func (r *recording) yield(cancel context.CancelCauseFunc) (stop func()) {
	turn := r.a.c.Limits.Turn
	timer := time.NewTimer(turn)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-timer.C:
			}
			r.mu.Lock()
			wanted := r.wanted
			r.mu.Unlock()
			if wanted == 0 && r.a.waiting.Load() > 0 {
				cancel(errYield)
				return
			}
			timer.Reset(turn / 10)
		}
	})
	return func() {
		close(done)
		timer.Stop()
		wg.Wait()
	}
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
