package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/argosy-ml/argosy/server/retention"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

var _ retention.Store = (*Store)(nil)

// Neither is among the queries: sqlc does not read window functions of SQLite, and hints are SQLite's alone.
const (
	// aged goes along the end of runs, past those that are kept.
	aged = `
SELECT id, finished_at, 0 AS place, artifacts_gone, logs_gone FROM runs%s
WHERE storage_state = 'STORAGESTATE_AVAILABLE' AND settled = 1 AND finished_at < ?1
  AND (finished_at < ?2 OR artifacts_gone = 0 AND finished_at < ?3 OR logs_gone = 0 AND finished_at < ?4)
  AND (finished_at, id) > (?5, ?6)
ORDER BY finished_at, id
LIMIT ?7`
	// ranked counts through the runs of each experiment.
	ranked = `
WITH ranked AS (
    SELECT id, finished_at, settled, artifacts_gone, logs_gone,
           ROW_NUMBER() OVER (PARTITION BY experiment_id ORDER BY created_at DESC, id DESC) AS place
    FROM runs WHERE storage_state = 'STORAGESTATE_AVAILABLE'
)
SELECT id, finished_at, place, artifacts_gone, logs_gone FROM ranked
WHERE settled = 1
  AND (finished_at < ?1 OR place > ?2
    OR artifacts_gone = 0 AND (finished_at < ?3 OR place > ?4)
    OR logs_gone = 0 AND (finished_at < ?5 OR place > ?6))
  AND (finished_at > ?7 OR finished_at = ?7 AND id > ?8)
ORDER BY finished_at, id
LIMIT ?9`
)

// Prunable implements retention.Store.
func (s *retained) Prunable(ctx context.Context, runs, artifacts, logs retention.Cut, after retention.Candidate, limit int) (found []retention.Candidate, err error) {
	db := s.driver.conn(s.reads)
	ofRuns, ofArtifacts, ofLogs := micros(runs.Before), micros(artifacts.Before), micros(logs.Before)
	statement, args := ranked, []any{ofRuns, runs.Newest, ofArtifacts, artifacts.Newest, ofLogs, logs.Newest, micros(after.FinishedAt), after.ID, limit}
	if min(runs.Newest, artifacts.Newest, logs.Newest) == math.MaxInt64 {
		statement = fmt.Sprintf(aged, db.hint(index(available, "", "finished_at")))
		args = []any{max(ofRuns, ofArtifacts, ofLogs), ofRuns, ofArtifacts, ofLogs, micros(after.FinishedAt), after.ID, limit}
	}
	rows, err := db.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, trouble("find old runs", err)
	}
	defer func() { err = errors.Join(err, trouble("find old runs", rows.Close())) }()
	for rows.Next() {
		var c retention.Candidate
		var finished int64
		if err := rows.Scan(&c.ID, &finished, &c.Place, &c.ArtifactsGone, &c.LogsGone); err != nil {
			return nil, trouble("find old runs", err)
		}
		c.FinishedAt = timeOf(finished)
		found = append(found, c)
	}
	return found, trouble("find old runs", rows.Err())
}

// DropCacheEntries implements run.Store.
func (s *retained) DropCacheEntries(ctx context.Context, id string) error {
	return s.change(ctx, id, func(q *query.Queries, row query.Run) error {
		return trouble("drop cache entries", q.DropCacheEntries(ctx, row.Seq))
	})
}

// Takers implements run.Store.
func (s *retained) Takers(ctx context.Context, id string) ([]string, error) {
	takers, err := s.read().Takers(ctx, id)
	return takers, trouble("read the cache", err)
}

// SetPruned implements run.Store.
func (s *retained) SetPruned(ctx context.Context, id string, artifacts, logs bool, why string) error {
	return s.change(ctx, id, func(q *query.Queries, row query.Run) error {
		var warnings []string
		if err := fromJSON(row.Warnings, &warnings); err != nil {
			return err
		}
		if !slices.Contains(warnings, why) {
			warnings = append(warnings, why)
		}
		revision, err := q.Tick(ctx)
		if err != nil {
			return trouble("tick", err)
		}
		if logs {
			if err := q.ForgetLogs(ctx, query.ForgetLogsParams{Run: row.Seq, Revision: revision}); err != nil {
				return trouble("forget logs", err)
			}
		}
		if artifacts { // what people look at is made of them
			if err := q.DeleteVisuals(ctx, row.Seq); err != nil {
				return trouble("remove visuals", err)
			}
		}
		err = q.SetRunPruned(ctx, query.SetRunPrunedParams{
			Seq: row.Seq, ArtifactsGone: row.ArtifactsGone || artifacts, LogsGone: row.LogsGone || logs,
			Warnings: toJSON(warnings), Revision: revision,
		})
		return trouble("note what was removed", err)
	})
}
