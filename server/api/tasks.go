package api

import (
	"context"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/task"
)

type tasks struct {
	kfpv1.UnimplementedTaskServiceServer
	service *task.Service
}

func (s *tasks) CreateTask(ctx context.Context, r *kfpv1.CreateTaskRequest) (*kfpv1.Task, error) {
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

func (s *tasks) ListTasks(ctx context.Context, r *kfpv1.ListTasksRequest) (*kfpv1.ListTasksResponse, error) {
	items, total, token, err := listPage(r, func(q listing.Query) (listing.Page[task.Task], error) {
		sc, err := taskScope(r.GetResourceReferenceKey())
		if err != nil {
			return listing.Page[task.Task]{}, err
		}
		return s.service.List(ctx, q, sc)
	}, wireTask)
	if err != nil {
		return nil, err
	}
	return &kfpv1.ListTasksResponse{Tasks: items, TotalSize: total, NextPageToken: token}, nil
}

// taskScope is the pipeline or the namespace whose tasks a list holds; all without a key.
func taskScope(key *kfpv1.ResourceKey) (task.Scope, error) {
	switch key.GetType() {
	case kfpv1.ResourceType_UNKNOWN_RESOURCE_TYPE:
		return task.Scope{}, nil
	case kfpv1.ResourceType_PIPELINE:
		return task.Scope{Pipeline: key.GetId()}, nil
	case kfpv1.ResourceType_NAMESPACE:
		return task.Scope{Namespace: key.GetId()}, nil
	default:
		return task.Scope{}, apierr.New(apierr.Invalid, "resource_reference_key.type %s: tasks can be listed by PIPELINE and NAMESPACE", key.GetType())
	}
}

func wireTask(t task.Task) *kfpv1.Task {
	return &kfpv1.Task{
		Id: t.ID, Namespace: t.Namespace, PipelineName: t.Pipeline, RunId: t.RunID, MlmdExecutionID: t.Execution,
		Fingerprint: t.Fingerprint, CreatedAt: wireTime(t.CreatedAt), FinishedAt: wireTime(t.FinishedAt),
	}
}
