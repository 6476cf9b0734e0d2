package reconcile

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Pauses of a work queue between attempts that fail.
const (
	firstPause = 200 * time.Millisecond
	maxPause   = 10 * time.Second
)

// workqueue does the work for keys: one worker a key, and a key that is enqueued while it is worked on is worked on once more.
// Work that fails is done again after a growing pause. An idle work queue has no goroutines.
type workqueue struct {
	name  string
	work  func(ctx context.Context, key string, attempt int) error // attempt counts failures in a row before this one
	slots chan struct{}                                            // bounds how many work at once
	log   *slog.Logger

	mu   sync.Mutex
	busy map[string]*job
	wg   sync.WaitGroup
}

type job struct{ again bool }

func newWorkqueue(name string, size int, log *slog.Logger, work func(context.Context, string, int) error) *workqueue {
	return &workqueue{name: name, work: work, slots: make(chan struct{}, size), log: log, busy: map[string]*job{}}
}

// enqueue has the key worked on, soon; it never blocks. The worker ends with ctx.
func (c *workqueue) enqueue(ctx context.Context, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if j := c.busy[key]; j != nil {
		j.again = true
		return
	}
	if ctx.Err() != nil {
		return
	}
	j := &job{}
	c.busy[key] = j
	c.wg.Go(func() { c.run(ctx, key, j) })
}

// wait returns when all workers have ended.
func (c *workqueue) wait() { c.wg.Wait() }

func (c *workqueue) run(ctx context.Context, key string, j *job) {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = firstPause, maxPause
	for more := true; more; {
		attempt := 0
		_, err := backoff.Retry(ctx, func() (struct{}, error) {
			attempt++
			return struct{}{}, c.once(ctx, key, attempt-1)
		}, backoff.WithBackOff(pause), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, wait time.Duration) {
			c.log.Warn(c.name+" failed; will try again", "run", key, "attempt", attempt, "pause", wait, "error", err)
		}))
		more = err == nil && ctx.Err() == nil && !c.done(key, j)
	}
}

func (c *workqueue) once(ctx context.Context, key string, attempt int) error {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
		return c.work(ctx, key, attempt)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// done ends the worker of a key unless there is more to do.
func (c *workqueue) done(key string, j *job) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if j.again {
		j.again = false
		return false
	}
	delete(c.busy, key)
	return true
}
