package sqlstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/server/page"
)

// A part is what a list has of one storage state.
type part struct {
	state   string
	matches int64            // runs that are in the list
	runs    int64            // all runs of the state, or about as many
	ofLead  map[string]int64 // runs of each lead
}

// count tells how many runs match, exactly: out of run_counts, if the filter is on nothing else.
func (l *runList) count(ctx context.Context) ([]part, error) {
	parts, err := l.countKinds(ctx)
	if err != nil || len(l.others) == 0 {
		return parts, err
	}
	for i := range parts {
		if parts[i].matches == 0 {
			continue
		}
		if parts[i].matches, err = l.countOthers(ctx, parts[i], l.others); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// countKinds reads run_counts: what matches, and how many runs each lead has.
func (l *runList) countKinds(ctx context.Context) ([]part, error) {
	if err := l.db.QueryRowContext(ctx, "SELECT COALESCE(MAX(seq), 0) FROM runs").Scan(&l.seqs); err != nil {
		return nil, trouble("count runs", err)
	}
	sum := func(cs ...condition) condition {
		if len(cs) == 0 {
			return condition{sql: "CAST(SUM(runs.n) AS BIGINT)"}
		}
		return condition{"CAST(SUM(CASE WHEN " + strings.TrimPrefix(whereClause(cs), " WHERE ") + " THEN runs.n ELSE 0 END) AS BIGINT)", arguments(cs)}
	}
	columns, where := []condition{sum(l.kinds...), sum()}, []condition(nil)
	for _, lead := range l.leads {
		columns = append(columns, sum(equals(lead.name, lead.value)))
	}
	// With nothing but leads, the rows of one are enough: what others there are is known well enough.
	narrow := len(l.leads) > 0 && len(l.kinds) == len(l.leads) && (l.leads[0].name == "experiment_id" || l.leads[0].name == "schedule_id") && len(l.leads) == 1
	if narrow {
		where = l.kinds
	}
	var texts []string
	for _, c := range columns {
		texts = append(texts, c.sql)
	}
	statement := fmt.Sprintf("SELECT runs.storage_state, %s FROM run_counts AS runs%s GROUP BY runs.storage_state", strings.Join(texts, ", "), whereClause(where))
	result, err := l.db.QueryContext(ctx, statement, append(arguments(columns), arguments(where)...)...)
	if err != nil {
		return nil, trouble("count runs", err)
	}
	defer result.Close() //nolint:errcheck // Err tells
	var parts []part
	for result.Next() {
		p := part{ofLead: map[string]int64{}}
		ofLeads := make([]int64, len(l.leads))
		into := []any{&p.state, &p.matches, &p.runs}
		for i := range ofLeads {
			into = append(into, &ofLeads[i])
		}
		if err := result.Scan(into...); err != nil {
			return nil, trouble("count runs", err)
		}
		for i, lead := range l.leads {
			p.ofLead[lead.name] = ofLeads[i]
		}
		if narrow {
			p.runs = l.seqs
		}
		if slices.Contains(l.states, p.state) {
			parts = append(parts, p)
		}
	}
	return parts, trouble("count runs", result.Err())
}

// countOthers counts the runs of a part that meet further predicates. What is not equal is all but what is equal, which an
// index finds.
func (l *runList) countOthers(ctx context.Context, p part, others []page.Predicate) (int64, error) {
	if len(others) == 0 {
		return p.matches, nil
	}
	if i := slices.IndexFunc(others, func(o page.Predicate) bool { return o.Op == page.NotEquals }); i >= 0 {
		without := slices.Delete(slices.Clone(others), i, i+1)
		equal := others[i]
		equal.Op = page.Equals
		all, err := l.countOthers(ctx, p, without)
		if err != nil {
			return 0, err
		}
		but, err := l.countOthers(ctx, p, append(without, equal))
		return all - but, err
	}
	conditions, err := l.conditions(others)
	if err != nil {
		return 0, err
	}
	where := slices.Concat([]condition{{"runs.storage_state = '" + p.state + "'", nil}}, l.kinds, conditions)
	statement := fmt.Sprintf("SELECT COUNT(*) FROM runs%s%s", l.db.hint(l.cheapest(p, l.leads, others)), whereClause(where))
	var n int64
	err = l.db.QueryRowContext(ctx, statement, arguments(where)...).Scan(&n)
	return n, trouble("count runs", err)
}

// A group is one value of a kind, with how many runs of each storage state have it, if nothing else is asked for.
type group struct {
	kind  string
	value any
	n     map[string]int64
}

// of gives the parts of a list within a group.
func (g group) of(parts []part) []part {
	var of []part
	for _, p := range parts {
		p.matches = min(p.matches, g.n[p.state])
		p.ofLead = maps.Clone(p.ofLead)
		p.ofLead[g.kind] = g.n[p.state] // or more, where other kinds are asked for too
		of = append(of, p)
	}
	return of
}

// groups gives the values of a kind that the list has, in its order, beginning with the one of the cursor.
func (l *runList) groups(ctx context.Context, f field, from any) ([]group, error) {
	where := slices.Clone(l.kinds)
	word, compare := direction(l.q.Desc)
	if from != nil {
		where = append(where, condition{fmt.Sprintf("%s %s ?", f.column, compare), []any{from}})
	}
	statement := fmt.Sprintf("SELECT %s, runs.storage_state, CAST(SUM(runs.n) AS BIGINT) FROM run_counts AS runs%s GROUP BY %s, runs.storage_state ORDER BY %s %s",
		f.column, whereClause(where), f.column, f.column, word)
	if l.q.SortBy == "storage_state" {
		statement = strings.Replace(statement, " GROUP BY runs.storage_state, ", " GROUP BY ", 1)
	}
	result, err := l.db.QueryContext(ctx, statement, arguments(where)...)
	if err != nil {
		return nil, trouble("group runs", err)
	}
	defer result.Close() //nolint:errcheck // Err tells
	var groups []group
	for result.Next() {
		var value, state string
		var n int64
		if err := result.Scan(&value, &state, &n); err != nil {
			return nil, trouble("group runs", err)
		}
		if len(groups) == 0 || groups[len(groups)-1].value != value {
			groups = append(groups, group{kind: l.q.SortBy, value: value, n: map[string]int64{}})
		}
		groups[len(groups)-1].n[state] = n
	}
	return groups, trouble("group runs", result.Err())
}
