package api

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/listing"
)

type experiments struct {
	kfpv1.UnimplementedExperimentServiceServer
	service *experiment.Service
}

func (s *experiments) CreateExperiment(ctx context.Context, r *kfpv1.CreateExperimentRequest) (*kfpv1.Experiment, error) {
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

func (s *experiments) GetExperiment(ctx context.Context, r *kfpv1.GetExperimentRequest) (*kfpv1.Experiment, error) {
	e, err := s.service.Recall(ctx, r.GetId())
	if err != nil {
		return nil, err
	}
	return wireExperiment(e), nil
}

// ListExperiment refuses a namespace as scope, as KFP does where there is one user: the list would hold more than was asked for.
func (s *experiments) ListExperiment(ctx context.Context, r *kfpv1.ListExperimentsRequest) (*kfpv1.ListExperimentsResponse, error) {
	items, total, token, err := listPage(r, func(q listing.Query) (listing.Page[experiment.Experiment], error) {
		if err := noNamespace(r.GetResourceReferenceKey()); err != nil {
			return listing.Page[experiment.Experiment]{}, err
		}
		return s.service.List(ctx, q)
	}, wireExperiment)
	if err != nil {
		return nil, err
	}
	return &kfpv1.ListExperimentsResponse{Experiments: items, TotalSize: total, NextPageToken: token}, nil
}

func (s *experiments) DeleteExperiment(ctx context.Context, r *kfpv1.DeleteExperimentRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.Delete(ctx, r.GetId())
}

func (s *experiments) ArchiveExperiment(ctx context.Context, r *kfpv1.ArchiveExperimentRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.Archive(ctx, r.GetId(), true)
}

func (s *experiments) UnarchiveExperiment(ctx context.Context, r *kfpv1.UnarchiveExperimentRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.service.Archive(ctx, r.GetId(), false)
}

func wireExperiment(e experiment.Experiment) *kfpv1.Experiment {
	state := kfpv1.Experiment_STORAGESTATE_AVAILABLE
	if e.Archived {
		state = kfpv1.Experiment_STORAGESTATE_ARCHIVED
	}
	return &kfpv1.Experiment{
		Id: e.ID, Name: e.Name, Description: e.Description, CreatedAt: wireTime(e.CreatedAt), StorageState: state,
	}
}

// ownExperiments is what argosy.v1 adds to experiments.
type ownExperiments struct {
	argosyv1.UnimplementedExperimentServiceServer
	service *experiment.Service
}

func (s *ownExperiments) RestoreExperiment(ctx context.Context, r *argosyv1.RestoreExperimentRequest) (*argosyv1.RestoreExperimentResponse, error) {
	e, err := s.service.Restore(ctx, r.GetExperiment())
	if err != nil {
		return nil, err
	}
	return &argosyv1.RestoreExperimentResponse{Id: e.ID, Name: e.Name}, nil
}

func (s *ownExperiments) ListDeletedExperiments(ctx context.Context, _ *argosyv1.ListDeletedExperimentsRequest) (*argosyv1.ListDeletedExperimentsResponse, error) {
	list, total, err := s.service.Deleted(ctx)
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.ListDeletedExperimentsResponse{TotalSize: int32(total)}
	for _, e := range list {
		answer.Experiments = append(answer.Experiments, &argosyv1.DeletedExperiment{
			Id: e.ID, Name: e.Name, Description: e.Description, CreatedAt: ownTime(e.CreatedAt), DeletedAt: ownTime(e.DeletedAt), Runs: int32(e.Runs),
		})
	}
	return answer, nil
}
