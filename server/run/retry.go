package run

import (
	"cmp"
	"context"
	"time"

	"github.com/argosy-ml/argosy/server/apierr"
)

// settleTimeout is how long a retry waits for a run that has just ended to be recorded whole.
const settleTimeout = 15 * time.Second

// Retry continues a failed run: failed steps and those after them run again, and successful ones stay. If the cluster does not answer, the
// retry happens later.
func (s *Changer) Retry(ctx context.Context, id string) error {
	_, _, err := s.RetryFrom(ctx, id, From{}, false)
	return err
}

// RetryFrom continues an ended run from its failures or from a given step, and returns the steps that run again and the number of the
// attempt. A dry run only returns them.
func (s *Changer) RetryFrom(ctx context.Context, id string, from From, dryRun bool) (Again, int64, error) {
	if err := s.awaitSettled(ctx, id, from); err != nil {
		return Again{}, 0, err
	}
	defer s.outbox.locks.lock(id)()
	r, err := s.c.Store.Run(ctx, id)
	if err != nil {
		return Again{}, 0, err
	}
	if !retryable(r, from) || !r.Settled {
		return Again{}, 0, notRetryable(r, from)
	}
	ended, err := s.c.Store.Workflow(ctx, id)
	if err != nil {
		return Again{}, 0, err
	}
	again, err := s.c.Engine.Again(ended, r.Attempt+1, from)
	if err != nil || dryRun {
		return again, r.Attempt + 1, err
	}
	if err := s.c.Store.Retry(ctx, id, r.Attempt+1, again); err != nil {
		return Again{}, 0, err
	}
	defer s.c.Feed.Publish(id)
	// From here on the retry is accepted, and goes on even when the caller hangs up.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(s.c.PromptTime, promptTimeout))
	defer cancel()
	if err := s.outbox.submit(ctx, Accepted{RunID: id, Workflow: again.Workflow}); err != nil {
		s.c.Log.Warn("retry waits for the cluster", "run", id, "error", err)
		s.outbox.nudge()
	}
	return again, r.Attempt + 1, nil
}

// retryable tells whether a run can go on: one that succeeded only from a step on.
func retryable(r Run, from From) bool {
	return r.Status == Failed || r.Status == Error || r.Status == Terminated || r.Status == Succeeded && from.Step != ""
}

// awaitSettled waits until the logs and metrics of a run that ended are in: a retry replaces the pods that they come from.
func (s *Changer) awaitSettled(ctx context.Context, id string, from From) error {
	changes := s.c.Feed.Subscribe(id)
	defer changes.Close()
	limit := time.NewTimer(settleTimeout)
	defer limit.Stop()
	for {
		r, err := s.c.Store.Run(ctx, id)
		switch {
		case err != nil:
			return err
		case !retryable(r, from):
			return notRetryable(r, from)
		case r.Settled:
			return nil
		}
		select {
		case <-changes.C():
			changes.Changed()
		case <-limit.C:
			return apierr.New(apierr.Unavailable, "the logs and metrics of the run are still being read; try again in a moment")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func notRetryable(r Run, from From) error {
	status := r.Status
	if status == "" {
		status = "accepted"
	}
	if from.Step != "" {
		return apierr.New(apierr.Aborted, "the run is %s; it can go on from a step only when it has ended", status)
	}
	return apierr.New(apierr.Aborted, "the run is %s; only a run that has failed can be retried", status)
}
