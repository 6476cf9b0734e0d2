package run

import (
	"context"

	"github.com/argosy-ml/argosy/server/logs"
)

// Merge gives several logs of a step as one, or all of them where queries are empty. With node.Follow it goes on: a log that is not there
// yet joins when it comes, and when all logs are meant the merge ends with the step. The caller closes it.
func (s *Logs) Merge(ctx context.Context, node logs.Query, queries []logs.Query) (*logs.Merged, error) {
	n, err := s.reader.node(ctx, node.RunID, node.NodeID)
	if err != nil {
		return nil, err
	}
	j := &joining{s: s, node: node, several: s.c.Logs.Several(node, queries), stop: func() {}}
	last, err := j.over(ctx)
	if err != nil {
		return nil, err
	}
	opened, err := j.several.Open(ctx)
	if err != nil {
		return nil, err
	}
	if !node.Follow || last {
		missing := j.several.Missing
		if missing == nil && len(queries) == 0 && len(opened) == 0 {
			missing = &node
		}
		if missing == nil {
			return logs.Merge(opened, nil), nil
		}
		logs.Merge(opened, nil).Close()
		return nil, s.none(ctx, *missing, n)
	}
	return logs.Merge(opened, j), nil
}

// FindIn finds the lines of several logs of a step that hold what is wanted, or of all; see logs.FindIn. It tells which logs it read.
func (s *Logs) FindIn(ctx context.Context, node logs.Query, queries []logs.Query, what logs.Wanted, skip, most int64) (logs.FoundIn, []logs.Log, error) {
	merged, err := s.Merge(ctx, node, queries)
	if err != nil {
		return logs.FoundIn{}, nil, err
	}
	defer merged.Close()
	found, err := logs.FindIn(ctx, merged, what, skip, most)
	return found, merged.Logs(0), err
}

// joining adds the logs of a step to a merge as they come.
type joining struct {
	s       *Logs
	node    logs.Query
	several *logs.Several
	stop    func() // of watching the run
}

// over tells whether no more logs of the step will come.
func (j *joining) over(ctx context.Context) (bool, error) {
	r, err := j.s.c.Store.Run(ctx, j.node.RunID)
	if err != nil {
		return false, err
	}
	n, err := j.s.reader.node(ctx, j.node.RunID, j.node.NodeID)
	return n.Harvested || Final(r.Status) && r.Settled, err
}

// Join implements logs.Joining.
func (j *joining) Join(ctx context.Context) ([]logs.Lines, <-chan struct{}, error) {
	changed, stop := j.s.c.Logs.Watch(j.node.RunID) // before the look, so that no change falls between
	j.stop()
	j.stop = stop
	last, err := j.over(ctx) // before it too
	if err != nil {
		return nil, nil, err
	}
	opened, err := j.several.Open(ctx)
	if last || j.several.All() {
		changed = nil
	}
	return opened, changed, err
}

// Close implements logs.Joining.
func (j *joining) Close() { j.stop() }
