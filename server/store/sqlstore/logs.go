package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

var _ logs.Store = (*Store)(nil)

// PodLogs implements logs.Store.
func (s *podLogs) PodLogs(ctx context.Context, runID, podUID string) ([]logs.Log, int64, error) {
	q := s.read()
	row, err := q.RunRow(ctx, runID)
	if err != nil {
		return nil, 0, missing("run", runID, err)
	}
	rows, err := q.PodLogs(ctx, query.PodLogsParams{Run: row.Seq, PodUid: podUID})
	if err != nil {
		return nil, 0, trouble("read logs", err)
	}
	return logsOf(runID, "", rows), row.Attempt, nil
}

// Logs implements logs.Store.
func (s *podLogs) Logs(ctx context.Context, runID, nodeID string) ([]logs.Log, error) {
	rows, err := s.read().RunLogs(ctx, runID)
	if err != nil {
		return nil, trouble("read logs", err)
	}
	return logsOf(runID, nodeID, rows), nil
}

// LiveLogs implements logs.Store.
func (s *podLogs) LiveLogs(ctx context.Context) ([]logs.Log, error) {
	rows, err := s.read().LiveLogs(ctx)
	if err != nil {
		return nil, trouble("read logs", err)
	}
	live := make([]logs.Log, len(rows))
	for i, row := range rows {
		live[i] = logOf(row.RunID, row.Log)
	}
	return live, nil
}

// PutLog implements logs.Store.
func (s *podLogs) PutLog(ctx context.Context, l logs.Log, part *logs.Part) error {
	return s.change(ctx, l.RunID, func(q *query.Queries, row query.Run) error {
		seq, err := q.PutLog(ctx, query.PutLogParams{
			Run: row.Seq, NodeID: l.NodeID, Attempt: l.Attempt, Namespace: l.Namespace, Pod: l.Pod, PodUid: l.PodUID,
			Container: l.Container, Restart: l.Restart, Role: l.Role, Rank: l.Rank,
			StartedAt: micros(l.StartedAt), LastAt: micros(l.LastAt), LineCount: l.Lines, ByteCount: l.Bytes, State: l.State, Message: l.Message,
		})
		if err != nil || part == nil {
			return trouble("put log", err)
		}
		return trouble("put log part", q.PutLogPart(ctx, query.PutLogPartParams{
			Log: seq, Number: int64(part.Number), LineCount: part.Lines, ByteCount: part.Bytes, LastAt: micros(part.LastAt),
		}))
	})
}

// LogParts implements logs.Store.
func (s *podLogs) LogParts(ctx context.Context, l logs.Log) ([]logs.Part, error) {
	q := s.read()
	seq, err := q.LogSeq(ctx, query.LogSeqParams{ID: l.RunID, PodUid: l.PodUID, Container: l.Container, Restart: l.Restart})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, trouble("read log", err)
	}
	rows, err := q.LogParts(ctx, seq)
	if err != nil {
		return nil, trouble("read log parts", err)
	}
	parts := make([]logs.Part, len(rows))
	for i, row := range rows {
		parts[i] = logs.Part{Number: int(row.Number), Lines: row.LineCount, Bytes: row.ByteCount, LastAt: timeOf(row.LastAt)}
	}
	return parts, nil
}

// LogTotals implements logs.Store.
func (s *podLogs) LogTotals(ctx context.Context) (logs.Totals, error) {
	row, err := s.read().LogTotals(ctx)
	return logs.Totals{Logs: row.Logs, Parts: row.Parts, Bytes: row.Bytes}, trouble("count logs", err)
}

// DeleteLogs implements logs.Store.
func (s *podLogs) DeleteLogs(ctx context.Context, runID string) error {
	return s.change(ctx, runID, func(q *query.Queries, row query.Run) error {
		return trouble("delete logs", q.DeleteLogs(ctx, row.Seq))
	})
}

func logsOf(runID, nodeID string, rows []query.Log) []logs.Log {
	list := make([]logs.Log, 0, len(rows))
	for _, row := range rows {
		if nodeID == "" || row.NodeID == nodeID {
			list = append(list, logOf(runID, row))
		}
	}
	return list
}

func logOf(runID string, row query.Log) logs.Log {
	return logs.Log{
		RunID: runID, NodeID: row.NodeID, Attempt: row.Attempt, Namespace: row.Namespace, Pod: row.Pod, PodUID: row.PodUid,
		Container: row.Container, Restart: row.Restart, Role: row.Role, Rank: row.Rank,
		StartedAt: timeOf(row.StartedAt), LastAt: timeOf(row.LastAt), Lines: row.LineCount, Bytes: row.ByteCount,
		State: row.State, Message: row.Message,
	}
}
