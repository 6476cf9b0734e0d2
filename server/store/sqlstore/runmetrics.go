package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// byMetric tells whether a list is sorted by a metric.
func byMetric(sortBy string) bool {
	return strings.HasPrefix(sortBy, metricPrefix) && sortBy != metricPrefix
}

// ofRun is SQLite's own index on the metrics of a run.
const ofRun = "sqlite_autoindex_run_metrics_1"

// lackingShare is what part of the runs of a list is thought to lack a metric.
const lackingShare = 0.2

// byMetric gives the runs that have the metric in the order of their first value of it, then those that have it not; ties are
// broken by the order in which the runs came. A cursor names the place in that order in the place of the id, and one without
// a value stands in the second part.
func (l *runList) byMetric(ctx context.Context, name string, parts []part) ([]entry, error) {
	var place int64
	var value float64
	if start := l.q.Start; start != nil {
		var err error
		if place, err = strconv.ParseInt(start.ID, 10, 64); err != nil {
			return nil, staleCursor()
		}
		if v, ok := start.Value.(float64); ok {
			value = v
		} else if start.Value != nil {
			return nil, staleCursor()
		}
	}
	where, err := l.conditions(l.others)
	if err != nil {
		return nil, err
	}
	where = slices.Concat(l.kinds, where)
	word, compare := direction(l.q.Desc)
	var found []entry
	if l.q.Start == nil || l.q.Start.Value != nil {
		having := append([]condition{{"m.name = ? AND m.leads = 1", []any{name}}}, where...)
		if l.q.Start != nil {
			having = append(having, condition{fmt.Sprintf("(m.value, m.run) %s (?, ?)", compare), []any{value, place}})
		}
		if found, err = l.having(ctx, having, parts, word); err != nil || len(found) == l.limit {
			return found, err
		}
	}
	lacking := append([]condition{{
		"NOT EXISTS (SELECT 1 FROM run_metrics AS m" + l.db.hint(ofRun) + " WHERE m.run = runs.seq AND m.name = ? AND m.leads = 1)", []any{name},
	}}, where...)
	if l.q.Start != nil && l.q.Start.Value == nil {
		lacking = append(lacking, condition{fmt.Sprintf("runs.seq %s ?", compare), []any{place}})
	}
	rest, err := l.lacking(ctx, lacking, parts, word, l.limit-len(found))
	return append(found, rest...), err
}

// having lists runs by their metric: along the metrics in their order, those of the experiment if one is asked for, or, when
// that would pass too many by, through the runs.
func (l *runList) having(ctx context.Context, where []condition, parts []part, word string) ([]entry, error) {
	const columns = "SELECT runs.seq AS seq, CAST(runs.seq AS TEXT) AS id, m.value AS value FROM "
	metrics, passed := "run_metrics_value", float64(l.seqs)
	if i := slices.IndexFunc(l.leads, func(lead lead) bool { return lead.name == "experiment_id" }); i >= 0 {
		metrics, passed = "run_metrics_experiment", 0
		for _, p := range parts {
			passed += float64(p.ofLead["experiment_id"])
		}
		where = append([]condition{{"m.experiment_id = ?", []any{l.leads[i].value}}}, where...)
	}
	matches, through := total(parts), 0.0
	for _, p := range parts {
		through += p.gather(l, l.leads) + 3*float64(p.matches)*visit
	}
	order := fmt.Sprintf(" ORDER BY m.value %s, m.run %s LIMIT ?", word, word)
	if passed/float64(max(matches, 1))*float64(l.limit) <= through {
		where = append(where, l.ofStates())
		return entries(ctx, l.db, columns+"run_metrics AS m"+l.db.hint(metrics)+" JOIN runs ON runs.seq = m.run"+whereClause(where)+order,
			append(arguments(where), l.limit))
	}
	return l.merged(ctx, parts, word, "seq", l.limit, func(p part) string {
		return columns + "runs" + l.db.hint(l.cheapest(p, l.leads, l.others)) + " JOIN run_metrics AS m" + l.db.hint(ofRun) + " ON m.run = runs.seq"
	}, where, order)
}

// lacking lists the runs in the order in which they came.
func (l *runList) lacking(ctx context.Context, where []condition, parts []part, word string, limit int) ([]entry, error) {
	const columns = "SELECT runs.seq AS seq, CAST(runs.seq AS TEXT) AS id, NULL AS value FROM runs"
	matches, through := total(parts), 0.0
	for _, p := range parts {
		through += p.gather(l, l.leads) + float64(p.matches)*visit
	}
	order := fmt.Sprintf(" ORDER BY runs.seq %s LIMIT ?", word)
	if float64(l.seqs)/(lackingShare*float64(max(matches, 1)))*float64(limit) <= through {
		where = append(where, l.ofStates())
		return entries(ctx, l.db, columns+l.db.hint(byRow)+whereClause(where)+order, append(arguments(where), limit))
	}
	return l.merged(ctx, parts, word, "seq", limit, func(p part) string {
		return columns + l.db.hint(l.cheapest(p, l.leads, l.others))
	}, where, order)
}

// ofStates is the condition of the storage states that are asked for.
func (l *runList) ofStates() condition {
	switch len(l.states) {
	case 0:
		return condition{"1 = 0", nil}
	case 1:
		return condition{"runs.storage_state = ?", []any{l.states[0]}}
	}
	return condition{"1 = 1", nil}
}

func total(parts []part) int64 {
	var n int64
	for _, p := range parts {
		n += p.matches
	}
	return n
}
