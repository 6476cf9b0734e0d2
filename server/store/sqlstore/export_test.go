package sqlstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/argosy-ml/argosy/server/page"
	"github.com/argosy-ml/argosy/server/run"
)

// Explain gives SQLite's plan for choosing a page of runs.
func (s *Store) Explain(ctx context.Context, q page.Query, sc run.Scope) (string, error) {
	l := runList(sc)
	where, err := l.where(q)
	if err != nil {
		return "", err
	}
	statement, args, err := l.statement(where, q, q.Size+1)
	if err != nil {
		return "", err
	}
	rows, err := s.reads.QueryContext(ctx, "EXPLAIN QUERY PLAN "+statement, args...)
	if err != nil {
		return "", err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return "", err
		}
		fmt.Fprintln(&plan, detail)
	}
	return plan.String(), rows.Err()
}
