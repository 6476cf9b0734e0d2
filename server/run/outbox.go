package run

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"github.com/argosy-ml/argosy/server/apierr"
)

// How long one attempt to hand a Workflow to the cluster may take: in the background, and while a caller waits for its run.
const (
	submitTimeout = 10 * time.Second
	promptTimeout = 3 * time.Second // unless the configuration says otherwise
)

// replayers is how many runs of the outbox are handed to the cluster at once.
const replayers = 8

// Outbox hands accepted runs to the cluster: those of the store that the cluster has not taken yet.
type Outbox struct {
	c       *Config
	locks   locks
	wake    chan struct{}  // has a value when there is work
	handing sync.WaitGroup // runs that are being handed to the cluster
}

// Run works the outbox until ctx ends: runs that were accepted and whose Workflow may not exist yet are created, at start
// (the server may have died in between) and, with growing pauses, while the cluster does not answer.
func (s *Outbox) Run(ctx context.Context) error {
	defer s.handing.Wait()
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = 200*time.Millisecond, 10*time.Second
	for {
		left, err := s.replay(ctx)
		if err != nil && ctx.Err() == nil {
			s.c.Log.Error("outbox", "error", err)
		}
		var retry <-chan time.Time
		if left || err != nil {
			retry = time.After(pause.NextBackOff())
		} else {
			pause.Reset()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-retry:
		case <-s.wake:
		}
	}
}

func (s *Outbox) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// replay tries every run of the outbox once and tells whether any is left.
func (s *Outbox) replay(ctx context.Context) (left bool, err error) {
	accepted, err := s.c.Store.Unsubmitted(ctx)
	if err != nil {
		return true, err
	}
	failed := make([]error, len(accepted))
	var workers errgroup.Group
	workers.SetLimit(replayers)
	for i, a := range accepted {
		workers.Go(func() error {
			failed[i] = s.replayOne(ctx, a)
			return failed[i]
		})
	}
	return workers.Wait() != nil, errors.Join(failed...)
}

func (s *Outbox) replayOne(ctx context.Context, a Accepted) error {
	defer s.locks.lock(a.RunID)()
	r, err := s.c.Store.Run(ctx, a.RunID)
	if apierr.KindOf(err) == apierr.NotFound && err != nil {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, submitTimeout)
	defer cancel()
	defer s.c.Feed.Publish(r.ID)
	if r.Status == Terminating && r.Attempt == 0 {
		return s.stop(ctx, r)
	}
	err = s.submit(ctx, a)
	if err == nil && r.Status == Terminating { // the Workflow of the attempt before has ended: only the new one can be stopped
		return s.stop(ctx, r)
	}
	if kind := apierr.KindOf(err); err == nil || kind == apierr.Unavailable || kind == apierr.Internal {
		return err
	}
	s.c.Log.Error("the cluster refuses an accepted run", "run", r.ID, "error", err)
	return s.abandon(ctx, r.ID, "the cluster refuses the workflow: "+err.Error())
}

// submit hands an accepted run to the cluster; doing it twice makes one Workflow.
func (s *Outbox) submit(ctx context.Context, a Accepted) error {
	if err := s.c.Engine.Submit(ctx, a.Workflow); err != nil {
		return err
	}
	return s.c.Store.Submitted(ctx, a.RunID)
}

// abandon ends a run that the cluster will never take.
func (s *Outbox) abandon(ctx context.Context, id, message string) error {
	if err := s.c.Store.SetStatus(ctx, id, Error, message); err != nil {
		return err
	}
	if err := s.c.Store.Submitted(ctx, id); err != nil {
		return err
	}
	return s.c.Store.Settle(ctx, id)
}

// stop tells the cluster to terminate a run's Workflow; a run whose Workflow was never made ends here.
func (s *Outbox) stop(ctx context.Context, r Run) error {
	err := s.c.Engine.Terminate(ctx, r.Namespace, r.Workflow)
	if apierr.KindOf(err) != apierr.NotFound || err == nil {
		return err
	}
	if err := s.c.Store.SetStatus(ctx, r.ID, Terminated, "terminated before its workflow was created"); err != nil {
		return err
	}
	if err := s.c.Store.Submitted(ctx, r.ID); err != nil {
		return err
	}
	return s.c.Store.Settle(ctx, r.ID)
}
