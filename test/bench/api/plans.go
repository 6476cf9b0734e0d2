package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/store/sqlstore"
)

// A planned is how the database carries a list out.
type planned struct {
	Store string          `json:"store"`
	Shape string          `json:"shape"`
	Page  string          `json:"page"`
	Plans []sqlstore.Plan `json:"plans"`
}

// scan is a step that reads a table from end to end, and not along an index.
var (
	scan           = regexp.MustCompile(`^\s*SCAN (runs|run_metrics|m|run_parameters|nodes)\b`)
	scanOfPostgres = regexp.MustCompile(`Seq Scan on (runs|run_metrics|run_parameters|run_labels|nodes)\b`)
)

// checkPlan refuses a list that reads the runs, or their metrics, one after the other: unless it stops when the page is
// full, or an index tells all that it wants to know.
func checkPlan(p sqlstore.Plan) error {
	stops := strings.Contains(p.Statement, "LIMIT") && !strings.Contains(strings.Join(p.Steps, "\n"), "TEMP B-TREE")
	for _, step := range p.Steps {
		if scanOfPostgres.MatchString(step) {
			return fmt.Errorf("a list reads a whole table: %s\n%s\n%s", step, p.Statement, strings.Join(p.Steps, "\n"))
		}
		if scan.MatchString(step) && !strings.Contains(step, "INDEX") && !stops && !strings.Contains(p.Statement, "FROM run_counts AS runs") {
			return fmt.Errorf("a list reads a whole table: %s\n%s\n%s", step, p.Statement, strings.Join(p.Steps, "\n"))
		}
	}
	return nil
}

// planLists gives and checks the plan of every page of every shape.
func planLists(ctx context.Context, s *sqlstore.Store, kind string, m *model, shapes []shape) ([]planned, error) {
	var all []planned
	for _, sh := range shapes {
		rows := m.list(sh)
		for _, p := range pages(len(rows)) {
			var start *listing.Cursor
			if p.value > 0 {
				start = m.cursor(sh, rows[p.value])
			}
			plans, err := s.Plans(ctx, listing.Query{Size: pageSize, SortBy: sh.sortBy, Desc: sh.desc, Filter: sh.where, Start: start}, sh.at)
			if err != nil {
				return nil, fmt.Errorf("%s, %s page: %w", sh, p.name, err)
			}
			for _, plan := range plans {
				if err := checkPlan(plan); err != nil {
					return nil, fmt.Errorf("%s, %s page: %w", sh, p.name, err)
				}
			}
			all = append(all, planned{kind, sh.String(), p.name, plans})
		}
	}
	return all, nil
}
