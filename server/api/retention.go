package api

import (
	"context"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/retention"
	"github.com/argosy-ml/argosy/server/run"
)

type pruning struct {
	argosyv1.UnimplementedRetentionServiceServer
	pruner *retention.Pruner
}

func (s *pruning) Prune(ctx context.Context, r *argosyv1.PruneRequest) (*argosyv1.PruneResponse, error) {
	policy := s.pruner.Policy
	if r.GetKeepRuns() != "" || r.GetKeepArtifacts() != "" || r.GetKeepLogs() != "" {
		var errs [3]error
		policy.Runs, errs[0] = retention.Keep(r.GetKeepRuns())
		policy.Artifacts, errs[1] = retention.Keep(r.GetKeepArtifacts())
		policy.Logs, errs[2] = retention.Keep(r.GetKeepLogs())
		for i, field := range []string{"keep_runs", "keep_artifacts", "keep_logs"} {
			if errs[i] != nil {
				return nil, apierr.New(apierr.Invalid, "%s: %v", field, errs[i])
			}
		}
	}
	if policy == (retention.Policy{}) {
		return nil, apierr.New(apierr.Invalid, "the server keeps everything by default; set what to keep, as in keep_runs: \"90d,1000\"")
	}
	answer := &argosyv1.PruneResponse{Policy: policy.String()}
	err := s.pruner.Prune(ctx, policy, r.GetDryRun(), func(p run.Pruned) {
		answer.Runs = append(answer.Runs, prunedRun(p))
		answer.Bytes += p.Bytes()
	})
	return answer, err
}

func prunedRun(p run.Pruned) *argosyv1.PrunedRun {
	answer := &argosyv1.PrunedRun{
		RunId: p.Run.ID, Name: p.Run.Name, Experiment: p.Run.ExperimentName, FinishedAt: ownTime(p.Run.FinishedAt),
		Run: p.Parts.Run, Bytes: p.Bytes(), Kept: p.Kept,
	}
	for _, o := range p.Artifacts {
		answer.Artifacts = append(answer.Artifacts, &argosyv1.StoredObject{Key: o.Key, Bytes: o.Bytes})
	}
	for _, o := range p.Logs {
		answer.Logs = append(answer.Logs, &argosyv1.StoredObject{Key: o.Key, Bytes: o.Bytes})
	}
	return answer
}
