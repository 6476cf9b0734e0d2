package sqlstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
)

// A Plan is a statement and the steps of its execution, or the columns that are read.
type Plan struct {
	Statement string   `json:"statement"`
	Steps     []string `json:"steps"`
}

// Plans lists runs and gives the plan of every statement that this took. It is for benchmarks and tests.
func (s *runIndex) Plans(ctx context.Context, q listing.Query, sc run.Scope) ([]Plan, error) {
	type query struct {
		statement string
		args      []any
	}
	var seen []query
	db := s.driver.conn(s.reads)
	db.seen = func(statement string, args []any) { seen = append(seen, query{statement, args}) }
	var plans []Plan
	db.read = func(p Plan) { plans = append(plans, p) }
	if _, err := s.choose(ctx, db, q, sc); err != nil {
		return nil, err
	}
	for _, q := range seen {
		steps, err := s.steps(ctx, q.statement, q.args)
		if err != nil {
			return nil, fmt.Errorf("explain %s: %w", q.statement, err)
		}
		plans = append(plans, Plan{q.statement, steps})
	}
	return plans, nil
}

func (s *db) steps(ctx context.Context, statement string, args []any) ([]string, error) {
	rows, err := s.reads.QueryContext(ctx, s.driver.Explain+s.driver.conn(s.reads).text(statement), Plain(args)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	depth := map[int]int{}
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		into := []any{&id, &parent, &unused, &detail} // as SQLite has them
		if len(columns) == 1 {
			into = []any{&detail}
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		if len(columns) > 1 {
			depth[id] = depth[parent] + 1
			detail = strings.Repeat("  ", depth[id]-1) + detail
		}
		steps = append(steps, detail)
	}
	return steps, rows.Err()
}
