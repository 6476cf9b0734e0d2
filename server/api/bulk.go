package api

import (
	"context"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
)

func (s *views) TerminateRuns(ctx context.Context, r *argosyv1.BulkRequest) (*argosyv1.BulkResponse, error) {
	return s.bulk(ctx, run.TerminateAll, r)
}

func (s *views) DeleteRuns(ctx context.Context, r *argosyv1.BulkRequest) (*argosyv1.BulkResponse, error) {
	if r.GetArtifacts() {
		return s.bulk(ctx, run.DeleteWithArtifacts, r)
	}
	return s.bulk(ctx, run.DeleteAll, r)
}

func (s *views) ArchiveRuns(ctx context.Context, r *argosyv1.BulkRequest) (*argosyv1.BulkResponse, error) {
	return s.bulk(ctx, run.ArchiveAll, r)
}

func (s *views) UnarchiveRuns(ctx context.Context, r *argosyv1.BulkRequest) (*argosyv1.BulkResponse, error) {
	return s.bulk(ctx, run.UnarchiveAll, r)
}

func (s *views) bulk(ctx context.Context, a run.Action, r *argosyv1.BulkRequest) (*argosyv1.BulkResponse, error) {
	filter, err := searchFilter(r)
	if err != nil {
		return nil, err
	}
	chosen := run.Selection{
		IDs: r.GetRunIds(), Limit: int(r.GetLimit()), Scope: run.Scope{ExperimentID: r.GetExperimentId(), ScheduleID: r.GetScheduleId()},
	}
	if chosen.Filter, err = predicates(filter); err != nil {
		return nil, err
	}
	searched := len(chosen.Filter) > 0 || chosen.Scope != run.Scope{}
	switch {
	case len(chosen.IDs) > 0 && searched:
		return nil, apierr.New(apierr.Invalid, "name runs by run_ids or search for them, not both")
	case len(chosen.IDs) == 0 && !searched:
		return nil, apierr.New(apierr.Invalid, "say which runs: by run_ids, or by experiment_id, schedule_id, status, parameter, metric, label, text, archived or filter")
	case r.GetArtifacts() && a != run.DeleteWithArtifacts:
		return nil, apierr.New(apierr.Invalid, "artifacts is for runs:delete alone")
	case r.GetLimit() < 0:
		return nil, apierr.New(apierr.Invalid, "limit is %d; it cannot be negative", r.GetLimit())
	}
	results, more, err := s.service.Changer.Bulk(ctx, a, chosen, r.GetDryRun())
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.BulkResponse{More: more}
	for _, result := range results {
		answer.Results = append(answer.Results, &argosyv1.BulkResult{
			RunId: result.RunID, Name: result.Name, Outcome: argosyv1.BulkResult_Outcome(result.Outcome), Message: result.Message,
		})
	}
	return answer, nil
}
