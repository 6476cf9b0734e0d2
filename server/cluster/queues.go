package cluster

import (
	"context"
	"regexp"
	"slices"

	"github.com/argosy-ml/argosy/server/apierr"
)

// QueueChange describes a new queue, or the changes of an existing one; empty fields stay as they are.
type QueueChange struct {
	Name, Parent string
	Weight       int32
	// Amounts by resource, as Kubernetes writes them; an empty one takes a limit away.
	Capability, Deserved map[string]string
	Open                 *bool // it takes gangs; nil: as it is
}

// Queues are where queues of the gang scheduler are changed; server/engine implements it. Errors are *apierr.Error.
type Queues interface {
	CreateQueue(ctx context.Context, q QueueChange) error
	SetQueue(ctx context.Context, q QueueChange) error
	DeleteQueue(ctx context.Context, name string) error
}

// queueName is what Kubernetes takes for one.
var queueName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$`)

// ListQueues gives the queues of the gang scheduler.
func (s *Service) ListQueues(ctx context.Context) ([]Queue, error) {
	o, err := s.Overview(ctx)
	if err != nil || o.Queues != nil {
		return o.Queues, err
	}
	for _, right := range o.Missing {
		if right.Resource == "queues.scheduling.volcano.sh" {
			return nil, apierr.New(apierr.Invalid, "the server may not list queues: apply manifests/base to give it the right")
		}
	}
	return nil, apierr.New(apierr.NotFound, "the cluster has no Volcano, and queues are Volcano's: install it (https://volcano.sh), or use the embedded cluster, which has it")
}

// Queue gives one queue.
func (s *Service) Queue(ctx context.Context, name string) (Queue, error) {
	queues, err := s.ListQueues(ctx)
	if err != nil {
		return Queue{}, err
	}
	i := slices.IndexFunc(queues, func(q Queue) bool { return q.Name == name })
	if i < 0 {
		return Queue{}, apierr.New(apierr.NotFound, "there is no queue %s", name)
	}
	return queues[i], nil
}

// CreateQueue makes a queue.
func (s *Service) CreateQueue(ctx context.Context, q QueueChange) (Queue, error) {
	if !queueName.MatchString(q.Name) {
		return Queue{}, apierr.New(apierr.Invalid, "queue %q: a name has lower-case letters, digits and hyphens, at most 63", q.Name)
	}
	if q.Weight < 0 {
		return Queue{}, apierr.New(apierr.Invalid, "weight is %d; it must be 1 or more", q.Weight)
	}
	if err := s.source.CreateQueue(ctx, q); err != nil {
		return Queue{}, err
	}
	return s.Queue(ctx, q.Name)
}

// SetQueue changes a queue. That it is open or closed shows when Volcano has done so.
func (s *Service) SetQueue(ctx context.Context, q QueueChange) (Queue, error) {
	if q.Weight < 0 {
		return Queue{}, apierr.New(apierr.Invalid, "weight is %d; it must be 1 or more", q.Weight)
	}
	if _, err := s.Queue(ctx, q.Name); err != nil {
		return Queue{}, err
	}
	if err := s.source.SetQueue(ctx, q); err != nil {
		return Queue{}, err
	}
	return s.Queue(ctx, q.Name)
}

// DeleteQueue deletes a queue that has no gangs.
func (s *Service) DeleteQueue(ctx context.Context, name string) error {
	q, err := s.Queue(ctx, name)
	switch {
	case err != nil:
		return err
	case name == "default" || name == "root":
		return apierr.New(apierr.Invalid, "queue %s belongs to Volcano and cannot be deleted", name)
	case q.Running > 0 || len(q.Waiting) > 0:
		return apierr.New(apierr.Aborted, "queue %s has %d gangs that run and %d that wait: close it and wait for them, or delete their runs", name, q.Running, len(q.Waiting))
	}
	return s.source.DeleteQueue(ctx, name)
}
