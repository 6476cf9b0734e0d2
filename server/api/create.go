package api

import (
	"context"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/run"
)

func (s *views) CreateRun(ctx context.Context, r *argosyv1.CreateRunRequest) (*argosyv1.CreateRunResponse, error) {
	request := run.Request{
		Name: r.GetName(), Description: r.GetDescription(), ExperimentID: r.GetExperimentId(), PipelineID: r.GetPipelineId(),
		VersionID: r.GetVersionId(), Manifest: []byte(r.GetManifest()), ServiceAccount: r.GetServiceAccount(),
	}
	for _, p := range r.GetParameters() {
		request.Parameters = append(request.Parameters, run.Parameter{Name: p.GetName(), Value: p.GetValue()})
	}
	if !r.GetDryRun() {
		created, err := s.service.Creator.Create(ctx, request)
		if err != nil {
			return nil, err
		}
		return &argosyv1.CreateRunResponse{Run: RunView(created, nil)}, nil
	}
	planned, prepared, err := s.service.Creator.Check(ctx, request)
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.CreateRunResponse{Run: RunView(planned, nil), Checked: prepared.Checked}
	for _, short := range prepared.Shortages {
		answer.Shortages = append(answer.Shortages, &argosyv1.Shortage{
			Step: short.Step, Asks: short.Asks, Has: short.Has, Change: short.Change, Parameters: short.Parameters,
		})
	}
	for _, c := range prepared.Concerns {
		answer.Concerns = append(answer.Concerns, &argosyv1.Concern{Step: c.Step, Why: c.Why})
	}
	return answer, nil
}
