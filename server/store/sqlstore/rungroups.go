package sqlstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
)

// Groups implements run.Store.
func (s *runIndex) Groups(ctx context.Context, filter []listing.Predicate, sc run.Scope, g run.Grouping) ([]run.Group, int, error) {
	l, err := newRunList(s.driver.conn(s.reads), listing.Query{Filter: filter}, sc)
	if err != nil {
		return nil, 0, err
	}
	table, err := s.runColumns(ctx)
	if err != nil {
		return nil, 0, err
	}
	of := make([]string, len(g.Metrics))
	for i, name := range g.Metrics {
		of[i] = metricPrefix + name
	}
	found, n, err := table.Group(ctx, l.filters, parameterPrefix+g.By, of, g.Limit)
	if err != nil {
		return nil, 0, trouble("group runs", err)
	}
	groups := make([]run.Group, len(found))
	for i, f := range found {
		groups[i] = run.Group{Value: f.Text, Lacks: f.Lacks, Runs: f.Rows}
		for _, sum := range f.Sums {
			groups[i].Spread = append(groups[i].Spread, run.Spread{Runs: sum.Rows, Mean: sum.Mean, Deviation: sum.Deviation(), Min: sum.Min, Max: sum.Max})
		}
	}
	slices.SortFunc(groups, byValue)
	return groups, n, nil
}

// byValue orders groups: numbers by their size, then texts, then what lacks a value.
func byValue(a, b run.Group) int {
	rank := func(g run.Group) (rank int, number float64) {
		if g.Lacks {
			return 2, 0
		}
		if number, ok := numberIn(g.Value); ok {
			return 0, number
		}
		return 1, 0
	}
	rankA, numberA := rank(a)
	rankB, numberB := rank(b)
	return cmp.Or(cmp.Compare(rankA, rankB), cmp.Compare(numberA, numberB), cmp.Compare(a.Value, b.Value))
}
