package api

import (
	"context"

	wire "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/task"
)

type tasks struct {
	wire.UnimplementedTaskServiceServer
	service *task.Service
}

func (s *tasks) CreateTask(ctx context.Context, r *wire.CreateTaskRequest) (*wire.Task, error) {
	t := r.GetTask()
	if t == nil {
		return nil, apierr.New(apierr.Invalid, "the task is missing")
	}
	created, err := s.service.Create(ctx, task.Task{
		ID: t.GetId(), Namespace: t.GetNamespace(), Pipeline: t.GetPipelineName(), RunID: t.GetRunId(), Execution: t.GetMlmdExecutionID(),
		Fingerprint: t.GetFingerprint(), CreatedAt: timeOf(t.GetCreatedAt()), FinishedAt: timeOf(t.GetFinishedAt()),
	})
	if err != nil {
		return nil, err
	}
	return wireTask(created), nil
}

func (s *tasks) ListTasks(ctx context.Context, r *wire.ListTasksRequest) (*wire.ListTasksResponse, error) {
	q, next, err := query(r)
	if err != nil {
		return nil, err
	}
	sc := task.Scope{}
	switch key := r.GetResourceReferenceKey(); key.GetType() {
	case wire.ResourceType_UNKNOWN_RESOURCE_TYPE:
	case wire.ResourceType_PIPELINE:
		sc.Pipeline = key.GetId()
	case wire.ResourceType_NAMESPACE:
		sc.Namespace = key.GetId()
	default:
		return nil, apierr.New(apierr.Invalid, "resource_reference_key.type %s: tasks can be listed by PIPELINE and NAMESPACE", key.GetType())
	}
	p, err := s.service.List(ctx, q, sc)
	if err != nil {
		return nil, err
	}
	answer := &wire.ListTasksResponse{TotalSize: int32(p.Total)}
	for _, item := range p.Items {
		answer.Tasks = append(answer.Tasks, wireTask(item))
	}
	answer.NextPageToken, err = next(p.Next)
	return answer, err
}

func wireTask(t task.Task) *wire.Task {
	return &wire.Task{
		Id: t.ID, Namespace: t.Namespace, PipelineName: t.Pipeline, RunId: t.RunID, MlmdExecutionID: t.Execution,
		Fingerprint: t.Fingerprint, CreatedAt: wireTime(t.CreatedAt), FinishedAt: wireTime(t.FinishedAt),
	}
}
