package sqlstore

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

// ticker gives the revision of a transaction, which is the same for all that it changes; the first who asks moves the
// clock. The clock's row stays locked until the transaction ends, so revisions become visible in their order.
func ticker(ctx context.Context, q *query.Queries) func() (int64, error) {
	var revision int64
	return func() (int64, error) {
		if revision > 0 {
			return revision, nil
		}
		var err error
		revision, err = q.Tick(ctx)
		return revision, trouble("tick", err)
	}
}

// bump says that something of a run changed that does not lie in its row.
func bump(ctx context.Context, q *query.Queries, row query.Run) (revision int64, err error) {
	if revision, err = q.Tick(ctx); err != nil {
		return 0, trouble("tick", err)
	}
	return revision, trouble("bump revision", q.BumpRevision(ctx, query.BumpRevisionParams{Seq: row.Seq, Revision: revision}))
}

// noteRemoved tells those who watch that a run is gone.
func noteRemoved(ctx context.Context, q *query.Queries, id string) error {
	revision, err := q.Tick(ctx)
	if err != nil {
		return trouble("tick", err)
	}
	if err := q.PruneRemovals(ctx, revision-run.KeptRemovals); err != nil {
		return trouble("forget removals", err)
	}
	return trouble("note a removed run", q.InsertRemoval(ctx, query.InsertRemovalParams{Revision: revision, RunID: id}))
}

// look runs f in a transaction that only reads, so that all it reads is of one moment.
func (s *db) look(ctx context.Context, f func(*query.Queries) error) error {
	tx, err := s.reads.BeginTx(ctx, &s.driver.Snapshot)
	if err != nil {
		return trouble("begin", err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing to keep
	return f(query.New(s.driver.conn(tx)))
}

// NewEpoch gives the statement that begins another epoch, for a store that was restored: what it counts from here on are not
// the numbers that were given out after the backup was made.
func NewEpoch() string {
	return fmt.Sprintf("UPDATE clock SET epoch = %d WHERE id = 1", 1+rand.Int64N(1<<40))
}

// Now implements run.Changes.
func (s *changes) Now(ctx context.Context) (run.Clock, error) {
	now, err := s.read().Now(ctx)
	return run.Clock(now), trouble("read the clock", err)
}

// Changed implements run.Changes.
func (s *changes) Changed(ctx context.Context, after run.Mark, most int) (changes []run.Change, seen run.Mark, err error) {
	err = s.look(ctx, func(q *query.Queries) error {
		now, err := q.Now(ctx)
		if err != nil {
			return trouble("read the clock", err)
		}
		seq := after.Seq
		if seq == 0 {
			seq = math.MaxInt64
		}
		rows, err := q.ChangedRuns(ctx, query.ChangedRunsParams{Revision: after.Revision, Seq: seq, Most: int64(most)})
		if err != nil {
			return trouble("read changes", err)
		}
		seen = run.Mark{Revision: now.Revision}
		if len(rows) == most {
			seen = run.Mark{Revision: rows[most-1].Revision, Seq: rows[most-1].Seq}
		}
		for _, row := range rows {
			changes = append(changes, run.Change{Mark: run.Mark{Revision: row.Revision, Seq: row.Seq}, RunID: row.ID})
		}
		gone, err := q.RemovedRuns(ctx, query.RemovedRunsParams{Above: after.Revision, Upto: seen.Revision})
		for _, row := range gone {
			changes = append(changes, run.Change{Mark: run.Mark{Revision: row.Revision}, RunID: row.RunID, Removed: true})
		}
		slices.SortStableFunc(changes, func(a, b run.Change) int {
			return int(min(max(a.Revision-b.Revision, -1), 1))
		})
		return trouble("read removals", err)
	})
	return changes, seen, err
}

// Matching implements run.Changes.
func (s *runIndex) Matching(ctx context.Context, ids []string, filter []listing.Predicate, sc run.Scope) ([]run.Run, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	them := listing.Predicate{Key: "id", Op: listing.In}
	for _, id := range ids {
		them.Values = append(them.Values, id)
	}
	chosen, err := s.chooseRuns(ctx, listing.Query{Size: len(ids), Filter: append(slices.Clip(filter), them)}, sc)
	if err != nil {
		return nil, err
	}
	rows, err := s.read().RunsBySeq(ctx, chosen.seqs)
	if err != nil {
		return nil, trouble("read runs", err)
	}
	bySeq, err := complete(ctx, s.read(), rows)
	return pageOf(chosen, bySeq).Items, err
}

// Delta implements run.Changes.
func (s *changes) Delta(ctx context.Context, id string, after, until int64) (d run.Delta, err error) {
	err = s.look(ctx, func(q *query.Queries) error {
		row, err := q.Run(ctx, id)
		if err != nil {
			return missing("run", id, err)
		}
		found, err := complete(ctx, q, []query.RunsBySeqRow{query.RunsBySeqRow(row)})
		if err != nil {
			return err
		}
		d.Run = found[row.Run.Seq]
		if until == 0 {
			until = d.Run.Revision
		}
		nodes, err := q.ChangedNodes(ctx, query.ChangedNodesParams{Run: row.Run.Seq, Above: after, Upto: until})
		if err != nil {
			return trouble("read nodes", err)
		}
		if d.Nodes, err = nodesOf(nodes); err != nil || after == 0 {
			return err
		}
		gone, err := q.RemovedNodes(ctx, query.RemovedNodesParams{RunID: id, Above: after, Upto: until})
		d.Removed = slices.DeleteFunc(gone, func(id string) bool { // it came back
			return slices.ContainsFunc(d.Nodes, func(n run.Node) bool { return n.ID == id })
		})
		return trouble("read removals", err)
	})
	return d, err
}
