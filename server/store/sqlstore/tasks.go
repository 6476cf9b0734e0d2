package sqlstore

import (
	"context"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
	"github.com/argosy-ml/argosy/server/task"
)

var _ task.Store = (*Store)(nil)

func taskList(sc task.Scope) table {
	l := table{table: "tasks", fields: map[string]field{
		"id": {"id", text}, "namespace": {"namespace", text}, "pipelineName": {"pipeline_name", text}, "runId": {"run_id", text},
		"mlmdExecutionID": {"execution_id", text}, "fingerprint": {"fingerprint", text},
		"created_at": {"created_at", moment}, "finished_at": {"finished_at", moment},
	}}
	if sc.Pipeline != "" {
		l.scope = append(l.scope, condition{"pipeline_name = ?", []any{sc.Pipeline}})
	}
	if sc.Namespace != "" {
		l.scope = append(l.scope, condition{"namespace = ?", []any{sc.Namespace}})
	}
	return l
}

// CreateTask implements task.Store.
func (s *tasks) CreateTask(ctx context.Context, t task.Task) error {
	return s.write(ctx, func(q *query.Queries) error {
		n, err := q.InsertTask(ctx, query.InsertTaskParams{
			ID: t.ID, RunID: t.RunID, Namespace: t.Namespace, PipelineName: t.Pipeline, ExecutionID: t.Execution,
			Fingerprint: t.Fingerprint, CreatedAt: micros(t.CreatedAt), FinishedAt: micros(t.FinishedAt),
		})
		if err != nil {
			return s.taken(err, "tasks.id", "a task with id %s exists already", t.ID)
		}
		if n == 0 {
			return notFound("run", t.RunID)
		}
		return nil
	})
}

// Tasks implements task.Store.
func (s *tasks) Tasks(ctx context.Context, q listing.Query, sc task.Scope) (listing.Page[task.Task], error) {
	chosen, err := s.page(ctx, taskList(sc), q)
	if err != nil {
		return listing.Page[task.Task]{}, err
	}
	found, err := s.read().TasksBySeq(ctx, chosen.seqs)
	bySeq := map[int64]task.Task{}
	for _, row := range found {
		bySeq[row.Seq] = task.Task{
			ID: row.ID, Namespace: row.Namespace, Pipeline: row.PipelineName, RunID: row.RunID, Execution: row.ExecutionID,
			Fingerprint: row.Fingerprint, CreatedAt: timeOf(row.CreatedAt), FinishedAt: timeOf(row.FinishedAt),
		}
	}
	return pageOf(chosen, bySeq), trouble("read tasks", err)
}
