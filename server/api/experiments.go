package api

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	wire "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/fault"
)

type experiments struct {
	wire.UnimplementedExperimentServiceServer
	service *experiment.Service
}

func (s *experiments) CreateExperiment(ctx context.Context, r *wire.CreateExperimentRequest) (*wire.Experiment, error) {
	if r.GetExperiment() == nil {
		return nil, fault.New(fault.Invalid, "the experiment is missing")
	}
	e, err := s.service.Create(ctx, r.GetExperiment().GetName(), r.GetExperiment().GetDescription())
	if err != nil {
		return nil, err
	}
	return wireExperiment(e), nil
}

func (s *experiments) GetExperiment(ctx context.Context, r *wire.GetExperimentRequest) (*wire.Experiment, error) {
	e, err := s.service.Get(ctx, r.GetId())
	if err != nil {
		return nil, err
	}
	return wireExperiment(e), nil
}

// ListExperiment takes a namespace as scope for the sake of multi-user clients; there is one, so it does not matter.
func (s *experiments) ListExperiment(ctx context.Context, r *wire.ListExperimentsRequest) (*wire.ListExperimentsResponse, error) {
	q, next, err := query(r)
	if err != nil {
		return nil, err
	}
	p, err := s.service.List(ctx, q)
	if err != nil {
		return nil, err
	}
	answer := &wire.ListExperimentsResponse{TotalSize: int32(p.Total)}
	for _, e := range p.Items {
		answer.Experiments = append(answer.Experiments, wireExperiment(e))
	}
	answer.NextPageToken, err = next(p.Next)
	return answer, err
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
