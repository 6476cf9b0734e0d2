package sqlstore

import (
	"context"
	"slices"
	"time"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

var _ run.Store = (*Store)(nil)

// Accept implements run.Store.
func (s *runs) Accept(ctx context.Context, r run.Run, manifest, workflow []byte) error {
	if err := checkName("a run", r.Name); err != nil {
		return err
	}
	return s.write(ctx, func(q *query.Queries) error {
		kept, err := keepManifest(ctx, q, manifest)
		if err != nil {
			return err
		}
		revision, err := q.Tick(ctx)
		if err != nil {
			return trouble("tick", err)
		}
		seq, err := q.InsertRun(ctx, query.InsertRunParams{
			ID: r.ID, Name: r.Name, Description: r.Description, ExperimentID: r.ExperimentID,
			PipelineID: r.PipelineID, PipelineName: r.PipelineName, VersionID: r.VersionID, VersionName: r.VersionName,
			ServiceAccount: r.ServiceAccount, Namespace: r.Namespace, Workflow: r.Workflow,
			Status: r.Status, Message: r.Message, StorageState: storageState(r.Archived), Warnings: toJSON(r.Warnings),
			CreatedAt: micros(r.CreatedAt), ScheduledAt: micros(r.ScheduledAt),
			StartedAt: micros(r.StartedAt), FinishedAt: micros(r.FinishedAt), Manifest: kept,
			ScheduleID: r.ScheduleID, ScheduleName: r.ScheduleName, ByVersion: r.ByVersion, Revision: revision,
		})
		if err != nil {
			return s.taken(err, "runs.id", "a run with id %s exists already", r.ID)
		}
		for i, p := range slices.Concat(r.Parameters, r.Defaults) {
			err := q.InsertRunParameter(ctx, query.InsertRunParameterParams{
				Run: seq, Position: int64(i), Name: p.Name, Value: p.Value, Given: i < len(r.Parameters),
			})
			if err != nil {
				return trouble("insert parameter", err)
			}
		}
		if err := putLabels(ctx, q, seq, r.Labels); err != nil {
			return err
		}
		err = q.PutRunWorkflow(ctx, query.PutRunWorkflowParams{Run: seq, Digest: digest(workflow), Data: pack(workflow)})
		return trouble("insert workflow", err)
	})
}

// Submitted implements run.Store.
func (s *runs) Submitted(ctx context.Context, id string) error {
	return s.write(ctx, func(q *query.Queries) error {
		n, err := q.SetSubmitted(ctx, id)
		if err != nil || n == 0 {
			return orNotFound("run", id, err)
		}
		return nil
	})
}

// Unsubmitted implements run.Store.
func (s *runs) Unsubmitted(ctx context.Context) ([]run.Accepted, error) {
	rows, err := s.read().UnsubmittedRuns(ctx)
	if err != nil {
		return nil, trouble("read outbox", err)
	}
	accepted := make([]run.Accepted, len(rows))
	for i, row := range rows {
		accepted[i].RunID = row.ID
		if accepted[i].Workflow, err = unpack(row.Data); err != nil {
			return nil, err
		}
	}
	return accepted, nil
}

// Unsettled implements run.Store.
func (s *runs) Unsettled(ctx context.Context) ([]run.Run, error) {
	rows, err := s.read().UnsettledRuns(ctx)
	if err != nil {
		return nil, trouble("read runs", err)
	}
	runs := make([]run.Run, len(rows))
	for i, row := range rows {
		if runs[i], err = runOf(row, ""); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// Run implements run.Store.
func (s *runs) Run(ctx context.Context, id string) (run.Run, error) {
	row, err := s.read().Run(ctx, id)
	if err != nil {
		return run.Run{}, missing("run", id, err)
	}
	found, err := complete(ctx, s.read(), []query.RunsBySeqRow{query.RunsBySeqRow(row)})
	return found[row.Run.Seq], err
}

// Runs implements run.Store.
func (s *runIndex) Runs(ctx context.Context, q listing.Query, sc run.Scope) (listing.Page[run.Run], error) {
	chosen, err := s.chooseRuns(ctx, q, sc)
	if err != nil {
		return listing.Page[run.Run]{}, err
	}
	rows, err := s.read().RunsBySeq(ctx, chosen.seqs)
	if err != nil {
		return listing.Page[run.Run]{}, trouble("read runs", err)
	}
	bySeq, err := complete(ctx, s.read(), rows)
	return pageOf(chosen, bySeq), err
}

// complete adds to the rows of runs what lies beside them: five queries, however many runs.
func complete(ctx context.Context, q *query.Queries, rows []query.RunsBySeqRow) (map[int64]run.Run, error) {
	seqs, runs := make([]int64, len(rows)), make(map[int64]*run.Run, len(rows))
	for i, row := range rows {
		r, err := runOf(row.Run, row.ExperimentName)
		if err != nil {
			return nil, err
		}
		seqs[i], runs[row.Run.Seq] = row.Run.Seq, &r
	}
	parameters, err := q.RunParameters(ctx, seqs)
	if err != nil {
		return nil, trouble("read parameters", err)
	}
	for _, p := range parameters {
		r := runs[p.Run]
		if p.Given {
			r.Parameters = append(r.Parameters, run.Parameter{Name: p.Name, Value: p.Value})
		} else {
			r.Defaults = append(r.Defaults, run.Parameter{Name: p.Name, Value: p.Value})
		}
	}
	labels, err := q.RunLabels(ctx, seqs)
	if err != nil {
		return nil, trouble("read labels", err)
	}
	for _, l := range labels {
		r := runs[l.Run]
		if r.Labels == nil {
			r.Labels = map[string]string{}
		}
		r.Labels[l.Name] = l.Value
	}
	metrics, err := q.RunMetrics(ctx, seqs)
	if err != nil {
		return nil, trouble("read metrics", err)
	}
	for _, m := range metrics {
		r := runs[m.Run]
		r.Metrics = append(r.Metrics, run.Metric{NodeID: m.NodeID, Name: m.Name, Value: m.Value, Format: m.Format})
	}
	curves, err := q.Curves(ctx, seqs)
	if err != nil {
		return nil, trouble("read curves", err)
	}
	for _, c := range curves {
		r := runs[c.Run]
		r.Curves = run.JoinCurves(r.Curves, curveOf(c.Name, c.Format, c.Least, c.Greatest, c.Latest, c.Newest))
	}
	if err := addWaits(ctx, q, runs); err != nil {
		return nil, err
	}
	bySeq := make(map[int64]run.Run, len(runs))
	for seq, r := range runs {
		bySeq[seq] = *r
	}
	return bySeq, nil
}

// Workflow implements run.Store.
func (s *runs) Workflow(ctx context.Context, id string) ([]byte, error) {
	data, err := s.read().RunWorkflow(ctx, id)
	if err != nil {
		return nil, missing("run", id, err)
	}
	return unpack(data)
}

// RunManifest implements run.Store.
func (s *runs) RunManifest(ctx context.Context, id string) ([]byte, error) {
	data, err := s.read().RunManifest(ctx, id)
	if err != nil {
		return nil, missing("run", id, err)
	}
	return unpack(data)
}

// RunManifests implements run.Store.
func (s *runs) RunManifests(ctx context.Context, ids []string) (manifests [][]byte, of map[string]int, err error) {
	rows, err := s.read().ManifestsOfRuns(ctx, ids)
	if err != nil {
		return nil, nil, trouble("read manifests", err)
	}
	var p pile
	for _, row := range rows {
		if err := p.add(row.ID, row.Seq, row.Data); err != nil {
			return nil, nil, err
		}
	}
	return p.manifests, p.of, nil
}

// SetStatus implements run.Store.
func (s *runs) SetStatus(ctx context.Context, id, status, message string) error {
	return s.change(ctx, id, func(q *query.Queries, row query.Run) error {
		finished := row.FinishedAt
		if run.Final(status) && finished == 0 {
			finished = micros(time.Now())
		}
		revision, err := q.Tick(ctx)
		if err != nil {
			return trouble("tick", err)
		}
		err = q.SetRunStatus(ctx, query.SetRunStatusParams{Seq: row.Seq, Status: status, Message: message, FinishedAt: finished, Revision: revision})
		return trouble("set status", err)
	})
}

// Retry implements run.Store.
func (s *runs) Retry(ctx context.Context, id string, attempt int64, again run.Again) error {
	return s.change(ctx, id, func(q *query.Queries, row query.Run) error {
		revision, err := q.Tick(ctx)
		if err != nil {
			return trouble("tick", err)
		}
		if err := q.RetryRun(ctx, query.RetryRunParams{Seq: row.Seq, Status: run.Running, Attempt: attempt, Revision: revision}); err != nil {
			return trouble("retry", err)
		}
		if len(again.Warnings) > 0 {
			var warnings []string
			if err := fromJSON(row.Warnings, &warnings); err != nil {
				return err
			}
			all := toJSON(append(warnings, again.Warnings...))
			if err := q.SetRunWarnings(ctx, query.SetRunWarningsParams{Seq: row.Seq, Warnings: all, Revision: revision}); err != nil {
				return trouble("add warnings", err)
			}
		}
		for _, p := range again.Parameters {
			if n, err := q.SetRunParameter(ctx, query.SetRunParameterParams{Run: row.Seq, Name: p.Name, Value: p.Value}); err != nil || n == 0 {
				return orNotFound("parameter", p.Name, err)
			}
		}
		for _, node := range again.Dropped {
			if err := q.DeleteNodeMetrics(ctx, query.DeleteNodeMetricsParams{Run: row.Seq, NodeID: node}); err != nil {
				return trouble("remove metrics", err)
			}
			if err := q.DeleteSeriesOfNode(ctx, query.DeleteSeriesOfNodeParams{Run: row.Seq, NodeID: node}); err != nil {
				return trouble("remove series", err)
			}
			if err := q.DeleteScan(ctx, query.DeleteScanParams{Run: row.Seq, NodeID: node}); err != nil {
				return trouble("remove scan", err)
			}
			if err := q.DeleteVisualsOfNode(ctx, query.DeleteVisualsOfNodeParams{Run: row.Seq, NodeID: node}); err != nil {
				return trouble("remove visuals", err)
			}
			n, err := q.DeleteNode(ctx, query.DeleteNodeParams{Run: row.Seq, ID: node})
			if err != nil {
				return trouble("remove node", err)
			}
			if n == 0 {
				continue
			}
			if err := q.InsertRemoval(ctx, query.InsertRemovalParams{Revision: revision, RunID: row.ID, NodeID: node}); err != nil {
				return trouble("note a removed node", err)
			}
		}
		if err := q.LeadMetrics(ctx, row.Seq); err != nil {
			return trouble("order metrics", err)
		}
		if err := forgetCached(ctx, q, row.Seq, again.Dropped); err != nil {
			return err
		}
		_, err = recordWorkflow(ctx, q, row.Seq, again.Workflow)
		return err
	})
}

// Settle implements run.Store.
func (s *runs) Settle(ctx context.Context, id string) error {
	return s.change(ctx, id, func(q *query.Queries, row query.Run) error {
		if row.Settled {
			return nil
		}
		revision, err := q.Tick(ctx)
		if err != nil {
			return trouble("tick", err)
		}
		_, err = q.SetSettled(ctx, query.SetSettledParams{ID: id, Revision: revision})
		return trouble("settle", err)
	})
}

// AddMetrics implements run.Store.
func (s *runs) AddMetrics(ctx context.Context, id string, ms []run.Metric) (duplicates []run.Metric, err error) {
	err = s.change(ctx, id, func(q *query.Queries, row query.Run) error {
		duplicates = nil
		for _, m := range ms {
			n, err := q.InsertMetric(ctx, query.InsertMetricParams{Run: row.Seq, NodeID: m.NodeID, Name: m.Name, Value: m.Value, Format: m.Format})
			if err != nil {
				return trouble("insert metric", err)
			}
			if n == 0 {
				duplicates = append(duplicates, m)
			}
		}
		if len(duplicates) == len(ms) {
			return nil
		}
		_, err := bump(ctx, q, row)
		return err
	})
	return duplicates, err
}

// AddWarning implements run.Store.
func (s *runs) AddWarning(ctx context.Context, id, warning string) error {
	return s.change(ctx, id, func(q *query.Queries, row query.Run) error {
		var warnings []string
		if err := fromJSON(row.Warnings, &warnings); err != nil || slices.Contains(warnings, warning) {
			return err
		}
		revision, err := q.Tick(ctx)
		if err != nil {
			return trouble("tick", err)
		}
		err = q.SetRunWarnings(ctx, query.SetRunWarningsParams{Seq: row.Seq, Warnings: toJSON(append(warnings, warning)), Revision: revision})
		return trouble("add warning", err)
	})
}

// ArchiveRun implements run.Store.
func (s *runs) ArchiveRun(ctx context.Context, id string, isArchived bool) error {
	return s.change(ctx, id, func(q *query.Queries, _ query.Run) error {
		revision, err := q.Tick(ctx)
		if err != nil {
			return trouble("tick", err)
		}
		_, err = q.SetRunStorageState(ctx, query.SetRunStorageStateParams{ID: id, StorageState: storageState(isArchived), Revision: revision})
		return trouble("archive", err)
	})
}

// SetLabels implements run.Store.
func (s *runs) SetLabels(ctx context.Context, id string, labels map[string]string) error {
	return s.change(ctx, id, func(q *query.Queries, row query.Run) error {
		if err := q.DeleteRunLabels(ctx, row.Seq); err != nil {
			return trouble("remove labels", err)
		}
		if err := putLabels(ctx, q, row.Seq, labels); err != nil {
			return err
		}
		_, err := bump(ctx, q, row)
		return err
	})
}

func putLabels(ctx context.Context, q *query.Queries, run int64, labels map[string]string) error {
	for name, value := range labels {
		if err := q.PutRunLabel(ctx, query.PutRunLabelParams{Run: run, Name: name, Value: value}); err != nil {
			return trouble("insert label", err)
		}
	}
	return nil
}

// DeleteRun implements run.Store.
func (s *runs) DeleteRun(ctx context.Context, id string) error {
	return s.change(ctx, id, func(q *query.Queries, row query.Run) error {
		if err := q.DeleteRun(ctx, row.Seq); err != nil {
			return trouble("delete run", err)
		}
		if err := noteRemoved(ctx, q, id); err != nil {
			return err
		}
		return dropManifests(ctx, q, row.Manifest)
	})
}

// change runs f on the row of a run in one transaction.
func (s *db) change(ctx context.Context, id string, f func(*query.Queries, query.Run) error) error {
	return s.write(ctx, func(q *query.Queries) error {
		row, err := q.RunRow(ctx, id)
		if err != nil {
			return missing("run", id, err)
		}
		return f(q, row)
	})
}

func runOf(row query.Run, experimentName string) (run.Run, error) {
	r := run.Run{
		ID: row.ID, Name: row.Name, Description: row.Description,
		ExperimentID: row.ExperimentID, ExperimentName: experimentName,
		PipelineID: row.PipelineID, PipelineName: row.PipelineName, VersionID: row.VersionID, VersionName: row.VersionName,
		ScheduleID: row.ScheduleID, ScheduleName: row.ScheduleName, ByVersion: row.ByVersion,
		ServiceAccount: row.ServiceAccount, Namespace: row.Namespace, Workflow: row.Workflow,
		Status: row.Status, Message: row.Message, Archived: row.StorageState == archived,
		CreatedAt: timeOf(row.CreatedAt), ScheduledAt: timeOf(row.ScheduledAt),
		StartedAt: timeOf(row.StartedAt), FinishedAt: timeOf(row.FinishedAt),
		Settled: row.Settled, Attempt: row.Attempt, Revision: row.Revision,
	}
	return r, fromJSON(row.Warnings, &r.Warnings)
}
