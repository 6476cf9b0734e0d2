package api

import (
	"context"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/sample"
)

type samples struct {
	argosyv1.UnimplementedSampleServiceServer
	service *sample.Service
}

func (s *samples) ListSamples(ctx context.Context, _ *argosyv1.ListSamplesRequest) (*argosyv1.ListSamplesResponse, error) {
	all, err := s.service.List(ctx)
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.ListSamplesResponse{}
	for _, one := range all {
		wire := &argosyv1.Sample{Name: one.Name, Description: one.Description, Distributed: one.Distributed, Lacks: one.Lacks}
		for _, p := range one.Parameters {
			wire.Parameters = append(wire.Parameters, &argosyv1.SampleParameter{Name: p.Name, Value: p.Value})
		}
		answer.Samples = append(answer.Samples, wire)
	}
	return answer, nil
}

func (s *samples) StartSample(ctx context.Context, r *argosyv1.StartSampleRequest) (*argosyv1.StartSampleResponse, error) {
	started, err := s.service.Start(ctx, r.GetName())
	if err != nil {
		return nil, err
	}
	return &argosyv1.StartSampleResponse{
		RunId: started.ID, RunName: started.Name, PipelineId: started.PipelineID, PipelineVersionId: started.VersionID,
	}, nil
}
