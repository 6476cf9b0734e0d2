package run

import (
	"context"
	"io"
	"time"

	"github.com/argosy-ml/argosy/server/fault"
	"github.com/argosy-ml/argosy/server/logs"
)

// pollNode is how often a step that has no pod yet is looked at again.
const pollNode = 500 * time.Millisecond

// Log streams the log of a step: the archived one if there is one, else that of the live pod. With follow it waits for
// the step to start and ends when the step does.
func (s *Service) Log(ctx context.Context, id, nodeID string, follow bool) (io.ReadCloser, error) {
	for {
		r, err := s.c.Store.Run(ctx, id)
		if err != nil {
			return nil, err
		}
		n, err := s.node(ctx, id, nodeID)
		if err != nil {
			return nil, err
		}
		if n.LogKey != "" {
			return logs.Open(ctx, s.c.Artifacts, n.LogKey)
		}
		if n.PodName == "" {
			return nil, noPod(n)
		}
		if from := n.CachedFrom; from != nil {
			return s.cachedLog(ctx, n, *from)
		}
		live, err := s.c.Engine.Log(ctx, r.Namespace, n.PodName, follow)
		if err == nil {
			return live, nil
		}
		if kind := fault.KindOf(err); kind != fault.NotFound && kind != fault.Conflict {
			return nil, err
		}
		if n.Harvested || !follow || Final(r.Status) && r.Settled {
			return nil, noLog(n, err)
		}
		// The pod is not made yet, or its log is just being archived: what the store says will change.
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pollNode):
		}
	}
}

// cachedLog streams the log of the step that a step took its outputs from.
func (s *Service) cachedLog(ctx context.Context, n Node, from Origin) (io.ReadCloser, error) {
	origin, err := s.node(ctx, from.RunID, from.NodeID)
	if err == nil && origin.LogKey != "" {
		return logs.Open(ctx, s.c.Artifacts, origin.LogKey)
	}
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return nil, err
	}
	return nil, fault.New(fault.NotFound, "step %s did not run: it took the outputs of step %s of run %s, whose log is gone", n.DisplayName, from.NodeID, from.RunID)
}

// noPod says why a step ran no container.
func noPod(n Node) error {
	switch {
	case n.Type == "Pod":
		return fault.New(fault.NotFound, "step %s ran nothing, so it has no log: it was %s", n.DisplayName, n.Message)
	case n.Type == "Skipped" && n.Message != "":
		return fault.New(fault.NotFound, "step %s was skipped, so it has no log: %s", n.DisplayName, n.Message)
	case n.Type == "Skipped":
		return fault.New(fault.NotFound, "step %s was skipped, so it has no log", n.DisplayName)
	}
	return fault.New(fault.NotFound, "step %s is a %s and runs no container, so it has no log", n.DisplayName, n.Type)
}

// noLog says why a step has no log, as far as is known.
func noLog(n Node, err error) error {
	if n.Message != "" {
		return fault.New(fault.NotFound, "step %s has no log: it is %s: %s", n.DisplayName, n.Phase, n.Message).Because(err)
	}
	return fault.New(fault.NotFound, "step %s, which is %s, has no log: %s", n.DisplayName, n.Phase, err).Because(err)
}
