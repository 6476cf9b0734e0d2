package sqlstore

import (
	"context"
	"time"
)

// RunsByStatus counts all runs by their status.
func (s *runs) RunsByStatus(ctx context.Context) (map[string]int64, error) {
	rows, err := s.read().RunsByStatus(ctx)
	counts := make(map[string]int64, len(rows))
	for _, row := range rows {
		counts[row.Status] = row.N
	}
	return counts, trouble("count runs", err)
}

// OutboxSize counts the runs that were accepted and whose Workflow may not exist yet.
func (s *runs) OutboxSize(ctx context.Context) (int64, error) {
	n, err := s.read().OutboxSize(ctx)
	return n, trouble("count the outbox", err)
}

// OnWrite has f called with the time that each change took, waiting for its turn included. It is for before the first one.
func (s *db) OnWrite(f func(took time.Duration, failed bool)) { s.onWrite = f }
