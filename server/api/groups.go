package api

import (
	"context"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
)

const (
	maxGroups       = 200
	maxGroupMetrics = 20
)

func (s *views) GroupRuns(ctx context.Context, r *argosyv1.GroupRunsRequest) (*argosyv1.GroupRunsResponse, error) {
	switch n := len(r.GetOf()); {
	case r.GetBy() == "":
		return nil, apierr.New(apierr.Invalid, "by is missing; name the parameter to group by")
	case n > maxGroupMetrics:
		return nil, apierr.New(apierr.Invalid, "of names %d metrics; at most %d can be summed up", n, maxGroupMetrics)
	}
	text, err := searchFilter(r)
	if err != nil {
		return nil, err
	}
	filter, err := predicates(text)
	if err != nil {
		return nil, err
	}
	scope := run.Scope{ExperimentID: r.GetExperimentId(), ScheduleID: r.GetScheduleId()}
	groups, total, err := s.service.Reader.Groups(ctx, filter, scope, run.Grouping{By: r.GetBy(), Metrics: r.GetOf(), Limit: maxGroups})
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.GroupRunsResponse{TotalSize: int32(total)}
	for _, g := range groups {
		group := &argosyv1.RunGroup{Runs: int32(g.Runs)}
		if !g.Lacks {
			group.Value = &g.Value
		}
		for i, spread := range g.Spread {
			if spread.Runs > 0 {
				group.Metrics = append(group.Metrics, &argosyv1.Spread{
					Name: r.GetOf()[i], Runs: int32(spread.Runs), Mean: spread.Mean, Deviation: finite(spread.Deviation), Min: spread.Min, Max: spread.Max,
				})
			}
		}
		answer.Groups = append(answer.Groups, group)
	}
	return answer, nil
}
