package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A part is what a list has of one storage state.
type part struct {
	state   string
	matches int64            // runs that are in the list
	runs    int64            // all runs of the state, or as many as the only lead has
	ofLead  map[string]int64 // runs of each lead
}

// count reads run_counts: how many runs match, exactly, and how many each lead has.
func (l *runList) count(ctx context.Context) ([]part, error) {
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
		if slices.Contains(l.states, p.state) {
			parts = append(parts, p)
		}
	}
	return parts, trouble("count runs", result.Err())
}
