package run

import (
	"compress/gzip"
	"context"
	"errors"
	"io"

	"github.com/argosy-ml/argosy/server/fault"
)

// Log streams the log of a step: the archived one if there is one, else that of the live pod. With follow it waits for
// the step to start and ends when the step does.
func (s *Service) Log(ctx context.Context, id, nodeID string, follow bool) (io.ReadCloser, error) {
	r, err := s.c.Store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	n, err := s.node(ctx, id, nodeID)
	if err != nil {
		return nil, err
	}
	if n.LogKey != "" {
		return s.archivedLog(ctx, n.LogKey)
	}
	if n.Type != "Pod" {
		return nil, fault.New(fault.NotFound, "step %s is a %s and runs no container, so it has no log", n.DisplayName, n.Type)
	}
	live, err := s.c.Engine.Log(ctx, r.Namespace, n.PodName, follow)
	if err == nil || fault.KindOf(err) != fault.NotFound {
		return live, err
	}
	// It may have been archived, and its pod removed, since the node was read.
	if again, e := s.node(ctx, id, nodeID); e == nil && again.LogKey != "" {
		return s.archivedLog(ctx, again.LogKey)
	}
	if n.Message != "" {
		return nil, fault.New(fault.NotFound, "step %s has no log: %s (the step is %s: %s)", n.DisplayName, err, n.Phase, n.Message)
	}
	return nil, err
}

func (s *Service) archivedLog(ctx context.Context, key string) (io.ReadCloser, error) {
	packed, err := s.c.Artifacts.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	text, err := gzip.NewReader(packed)
	if err != nil {
		return nil, errors.Join(fault.New(fault.Internal, "the archived log is damaged").Because(err), packed.Close())
	}
	return unzipped{text, packed}, nil
}

// unzipped closes the object under the decompressor too.
type unzipped struct {
	*gzip.Reader
	packed io.Closer
}

func (u unzipped) Close() error { return errors.Join(u.Reader.Close(), u.packed.Close()) }
