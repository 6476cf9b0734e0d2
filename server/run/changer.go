package run

import (
	"context"

	"github.com/argosy-ml/argosy/server/apierr"
)

// Changer changes, stops, retries and removes runs. Changes of one run take turns.
type Changer struct {
	c      *Config
	outbox *Outbox
}

// Warn keeps a warning on a run, once.
func (s *Changer) Warn(ctx context.Context, id, warning string) error {
	if err := s.c.Store.AddWarning(ctx, id, warning); err != nil {
		return err
	}
	s.c.Feed.Publish(id)
	return nil
}

// Archive sets or clears the archived flag.
func (s *Changer) Archive(ctx context.Context, id string, archived bool) error {
	if err := s.c.Store.ArchiveRun(ctx, id, archived); err != nil {
		return err
	}
	s.c.Feed.Publish(id)
	return nil
}

// Terminate stops a run: its status is Terminating until the cluster has stopped every step. Only a run that has not ended can be stopped.
func (s *Changer) Terminate(ctx context.Context, id string) error {
	defer s.outbox.locks.lock(id)()
	r, err := s.c.Store.Run(ctx, id)
	if err != nil {
		return err
	}
	switch r.Status {
	case "", Pending, Running:
	case Terminating:
		return nil
	default:
		return apierr.New(apierr.Invalid, "the run has ended (%s); only a run that is pending or running can be terminated", r.Status)
	}
	if err := s.c.Store.SetStatus(ctx, id, Terminating, ""); err != nil {
		return err
	}
	defer s.c.Feed.Publish(id)
	// The intent is stored, so the reconciler or the outbox carries it out when the cluster answers again.
	if err := s.outbox.stop(ctx, r); err != nil {
		s.c.Log.Warn("run could not be stopped yet", "run", id, "error", err)
		s.outbox.nudge()
	}
	return nil
}

// Delete stops a run that is still going, and removes it with its logs.
func (s *Changer) Delete(ctx context.Context, id string) error {
	defer s.outbox.locks.lock(id)()
	r, err := s.c.Store.Run(ctx, id)
	if err != nil {
		return err
	}
	if err := s.c.Engine.DeleteWorkflow(ctx, r.Namespace, r.Workflow); err != nil {
		return err
	}
	if err := s.c.Logs.Delete(ctx, id); err != nil {
		s.c.Log.Warn("logs of a deleted run stay behind", "run", id, "error", err)
	}
	if err := s.c.Store.DeleteRun(ctx, id); err != nil {
		return err
	}
	s.c.Feed.Publish(id)
	return nil
}
