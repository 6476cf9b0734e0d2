package sqlstore

import (
	"context"

	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

// addWaits says of runs, by their numbers, what they wait for: one query for all that have not ended.
func addWaits(ctx context.Context, q *query.Queries, runs map[int64]*run.Run) error {
	var open []int64
	for seq, r := range runs {
		if !run.Final(r.Status) && r.Status != run.Terminating {
			open = append(open, seq)
		}
	}
	if len(open) == 0 {
		return nil
	}
	rows, err := q.WaitingNodes(ctx, open)
	if err != nil {
		return trouble("read what runs wait for", err)
	}
	for _, row := range rows { // of each run, what most steps wait for comes first
		r := runs[row.Run]
		if r.Waits == nil {
			r.Waits = &run.Waits{NodeID: row.ID, Step: row.DisplayName, Why: row.Why}
		}
		r.Waits.Steps += int(row.Steps)
	}
	return nil
}
