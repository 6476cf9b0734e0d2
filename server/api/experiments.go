package api

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	wire "github.com/argosy-ml/argosy/proto/api"
	own "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/page"
)

type experiments struct {
	wire.UnimplementedExperimentServiceServer
	service *experiment.Service
}

func (s *experiments) CreateExperiment(ctx context.Context, r *wire.CreateExperimentRequest) (*wire.Experiment, error) {
	switch e := r.GetExperiment(); {
	case e == nil:
		return nil, apierr.New(apierr.Invalid, "the experiment is missing")
	case len(e.GetResourceReferences()) > 0: // a client that names a namespace may rely on others not seeing the experiment
		return nil, apierr.New(apierr.Invalid, "resource_references: an experiment belongs to nothing, as there is one namespace and one user; leave them out")
	}
	e, err := s.service.Create(ctx, r.GetExperiment().GetName(), r.GetExperiment().GetDescription())
	if err != nil {
		return nil, err
	}
	return wireExperiment(e), nil
}

func (s *experiments) GetExperiment(ctx context.Context, r *wire.GetExperimentRequest) (*wire.Experiment, error) {
	e, err := s.service.Recall(ctx, r.GetId())
	if err != nil {
		return nil, err
	}
	return wireExperiment(e), nil
}

// ListExperiment refuses a namespace as scope, as KFP does where there is one user: the list would hold more than was asked for.
func (s *experiments) ListExperiment(ctx context.Context, r *wire.ListExperimentsRequest) (*wire.ListExperimentsResponse, error) {
	items, total, token, err := listPage(r, func(q page.Query) (page.Page[experiment.Experiment], error) {
		if err := noNamespace(r.GetResourceReferenceKey()); err != nil {
			return page.Page[experiment.Experiment]{}, err
		}
		return s.service.List(ctx, q)
	}, wireExperiment)
	if err != nil {
		return nil, err
	}
	return &wire.ListExperimentsResponse{Experiments: items, TotalSize: total, NextPageToken: token}, nil
}

func (s *experiments) DeleteExperiment(ctx context.Context, r *wire.DeleteExperimentRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.Delete(ctx, r.GetId())
}

func (s *experiments) ArchiveExperiment(ctx context.Context, r *wire.ArchiveExperimentRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.Archive(ctx, r.GetId(), true)
}

func (s *experiments) UnarchiveExperiment(ctx context.Context, r *wire.UnarchiveExperimentRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.Archive(ctx, r.GetId(), false)
}

func wireExperiment(e experiment.Experiment) *wire.Experiment {
	state := wire.Experiment_STORAGESTATE_AVAILABLE
	if e.Archived {
		state = wire.Experiment_STORAGESTATE_ARCHIVED
	}
	return &wire.Experiment{
		Id: e.ID, Name: e.Name, Description: e.Description, CreatedAt: wireTime(e.CreatedAt), StorageState: state,
	}
}

// ownExperiments is what argosy.v1 adds to experiments.
type ownExperiments struct {
	own.UnimplementedExperimentServiceServer
	service *experiment.Service
}

func (s *ownExperiments) RestoreExperiment(ctx context.Context, r *own.RestoreExperimentRequest) (*own.RestoreExperimentResponse, error) {
	e, err := s.service.Restore(ctx, r.GetExperiment())
	if err != nil {
		return nil, err
	}
	return &own.RestoreExperimentResponse{Id: e.ID, Name: e.Name}, nil
}

func (s *ownExperiments) ListDeletedExperiments(ctx context.Context, _ *own.ListDeletedExperimentsRequest) (*own.ListDeletedExperimentsResponse, error) {
	list, total, err := s.service.Deleted(ctx)
	if err != nil {
		return nil, err
	}
	answer := &own.ListDeletedExperimentsResponse{TotalSize: int32(total)}
	for _, e := range list {
		answer.Experiments = append(answer.Experiments, &own.DeletedExperiment{
			Id: e.ID, Name: e.Name, Description: e.Description, CreatedAt: ownTime(e.CreatedAt), DeletedAt: ownTime(e.DeletedAt), Runs: int32(e.Runs),
		})
	}
	return answer, nil
}
