package run

import (
	"cmp"
	"context"
	"time"

	"github.com/argosy-ml/argosy/server/apierr"
)

// promptWait is the default time for which a caller waits for the cluster to accept or refuse its run. After that the call returns
// and the run goes on.
const promptWait = 250 * time.Millisecond

// launch prepares and accepts a run and hands it to the cluster. A cluster that takes its time does not hold up the caller.
func (s *Creator) launch(ctx context.Context, r *Run, manifest []byte, serviceAccount string, o *Tick) error {
	prepared, err := s.c.Engine.Prepare(ctx, manifest, s.options(*r, serviceAccount, o))
	if err != nil {
		return err
	}
	r.Workflow, r.ServiceAccount, r.Defaults, r.Labels = prepared.Name, prepared.ServiceAccount, prepared.Defaults, prepared.Labels
	r.Warnings = prepared.Warnings()
	if o != nil { // the schedule shows the parameters as given, each run as they were filled in
		r.Parameters = prepared.Parameters
	}

	unlock := s.outbox.locks.lock(r.ID)
	if err := s.c.Store.Accept(ctx, *r, manifest, prepared.Workflow); err != nil {
		unlock()
		return err
	}
	// From here on the run is accepted: it must go on even when the caller hangs up.
	answer, left := make(chan error), make(chan struct{})
	defer close(left)
	accepted := Accepted{RunID: r.ID, Workflow: prepared.Workflow}
	s.outbox.handing.Go(func() {
		defer unlock()
		s.handOver(context.WithoutCancel(ctx), accepted, answer, left)
	})
	wait := time.NewTimer(cmp.Or(s.c.PromptWait, promptWait))
	defer wait.Stop()
	select {
	case err := <-answer:
		if err != nil { // the cluster will never take it, and the caller learns so now: nothing was promised yet
			if dropped := s.c.Store.DeleteRun(context.WithoutCancel(ctx), r.ID); dropped != nil {
				s.c.Log.Error("a refused run could not be removed", "run", r.ID, "error", dropped)
			}
		}
		return err
	case <-wait.C:
	case <-ctx.Done():
	}
	return nil
}

// handOver gives an accepted run to the cluster and answers the caller, if it has not left yet.
func (s *Creator) handOver(ctx context.Context, a Accepted, answer chan<- error, left <-chan struct{}) {
	bounded, cancel := context.WithTimeout(ctx, cmp.Or(s.c.PromptTime, promptTimeout))
	defer cancel()
	err := s.outbox.submit(bounded, a)
	kind := apierr.KindOf(err)
	if err != nil && (kind == apierr.Unavailable || kind == apierr.Internal) { // it may have been created all the same
		s.c.Log.Warn("run waits for the cluster", "run", a.RunID, "error", err)
		s.outbox.nudge()
		err = nil
	}
	select {
	case answer <- err:
		<-left // a refused run is removed meanwhile
		return
	case <-left:
	}
	defer s.c.Feed.Publish(a.RunID)
	if err == nil {
		return
	}
	if failed := s.outbox.abandon(ctx, a.RunID, "the cluster refuses the workflow: "+err.Error()); failed != nil {
		s.c.Log.Error("a refused run could not be ended", "run", a.RunID, "error", failed)
	}
}
