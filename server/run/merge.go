package run

import (
	"context"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/logs"
)

// Merge gives several logs of a step as one, or all of them where queries are empty; those of the run where of names no step. With
// of.Follow it goes on: a log that is not there yet joins when it comes, and when all logs are meant the merge ends with the step or run.
// The caller closes it.
func (s *Logs) Merge(ctx context.Context, of logs.Query, queries []logs.Query) (*logs.Merged, error) {
	j := &joining{s: s, of: of, several: s.c.Logs.Several(of, queries), stop: func() {}}
	last, err := j.over(ctx)
	if err != nil {
		return nil, err
	}
	found, err := j.several.Find(ctx)
	if err != nil {
		return nil, err
	}
	if of.Follow && !last {
		return logs.Merge(found, j), nil
	}
	missing := j.several.Missing
	if missing == nil && len(queries) == 0 && len(found) == 0 {
		missing = &of
	}
	if missing != nil {
		return nil, s.missing(ctx, *missing)
	}
	return logs.Merge(found, nil), nil
}

// missing says why a step, or a run, has no such log.
func (s *Logs) missing(ctx context.Context, q logs.Query) error {
	if q.NodeID == "" && q.Pod == "" {
		return apierr.New(apierr.NotFound, "run %s has no log: none of its steps has started a container", q.RunID)
	}
	if q.NodeID == "" {
		return apierr.New(apierr.NotFound, "run %s has no log of container %s of pod %s", q.RunID, q.Container, q.Pod)
	}
	n, err := s.reader.node(ctx, q.RunID, q.NodeID)
	if err != nil {
		return err
	}
	return s.none(ctx, q, n)
}

// FindIn finds the lines of several logs of a step or run that hold what is wanted, or of all; see logs.FindIn. It tells which logs it read.
func (s *Logs) FindIn(ctx context.Context, of logs.Query, queries []logs.Query, what logs.Wanted, skip, most int64) (logs.FoundIn, []logs.Log, error) {
	merged, err := s.Merge(ctx, of, queries)
	if err != nil {
		return logs.FoundIn{}, nil, err
	}
	defer merged.Close()
	found, err := logs.FindIn(ctx, merged, what, skip, most)
	return found, merged.Logs(0), err
}

// joining adds the logs of a step, or of a run, to a merge as they come.
type joining struct {
	s       *Logs
	of      logs.Query
	several *logs.Several
	stop    func() // of watching the run
}

// over tells whether no more logs will come.
func (j *joining) over(ctx context.Context) (bool, error) {
	r, err := j.s.c.Store.Run(ctx, j.of.RunID)
	if err != nil {
		return false, err
	}
	over := Final(r.Status) && r.Settled
	if j.of.NodeID == "" {
		return over, nil
	}
	n, err := j.s.reader.node(ctx, j.of.RunID, j.of.NodeID)
	return n.Harvested || over, err
}

// Join implements logs.Joining.
func (j *joining) Join(ctx context.Context) ([]logs.Opening, <-chan struct{}, error) {
	changed, stop := j.s.c.Logs.Watch(j.of.RunID) // before the look, so that no change falls between
	j.stop()
	j.stop = stop
	last, err := j.over(ctx) // before it too
	if err != nil {
		return nil, nil, err
	}
	found, err := j.several.Find(ctx)
	if last || j.several.All() {
		changed = nil
	}
	return found, changed, err
}

// Close implements logs.Joining.
func (j *joining) Close() { j.stop() }
