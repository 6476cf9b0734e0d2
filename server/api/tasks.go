package api

import (
	"context"

	wire "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/page"
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
	items, total, token, err := listPage(r, func(q page.Query) (page.Page[task.Task], error) {
		sc, err := taskScope(r.GetResourceReferenceKey())
		if err != nil {
			return page.Page[task.Task]{}, err
		}
		return s.service.List(ctx, q, sc)
	}, wireTask)
	if err != nil {
		return nil, err
	}
	return &wire.ListTasksResponse{Tasks: items, TotalSize: total, NextPageToken: token}, nil
}

// taskScope is the pipeline or the namespace whose tasks a list holds; all without a key.
func taskScope(key *wire.ResourceKey) (task.Scope, error) {
	switch key.GetType() {
	case wire.ResourceType_UNKNOWN_RESOURCE_TYPE:
		return task.Scope{}, nil
	case wire.ResourceType_PIPELINE:
		return task.Scope{Pipeline: key.GetId()}, nil
	case wire.ResourceType_NAMESPACE:
		return task.Scope{Namespace: key.GetId()}, nil
	default:
		return task.Scope{}, apierr.New(apierr.Invalid, "resource_reference_key.type %s: tasks can be listed by PIPELINE and NAMESPACE", key.GetType())
	}
}

func wireTask(t task.Task) *wire.Task {
	return &wire.Task{
		Id: t.ID, Namespace: t.Namespace, PipelineName: t.Pipeline, RunId: t.RunID, MlmdExecutionID: t.Execution,
		Fingerprint: t.Fingerprint, CreatedAt: wireTime(t.CreatedAt), FinishedAt: wireTime(t.FinishedAt),
	}
}
