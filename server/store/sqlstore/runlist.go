package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/server/fault"
	"github.com/argosy-ml/argosy/server/page"
	"github.com/argosy-ml/argosy/server/run"
)

var runFields = map[string]field{
	"id": {"runs.id", text}, "name": {"runs.name", text}, "description": {"runs.description", text},
	"status": {"runs.status", text}, "storage_state": {"runs.storage_state", text},
	"experiment_id": {"runs.experiment_id", text}, "pipeline_id": {"runs.pipeline_id", text},
	"created_at": {"runs.created_at", moment}, "scheduled_at": {"runs.scheduled_at", moment}, "finished_at": {"runs.finished_at", moment},
}

// kinds are the fields that run_counts counts by, beside storage_state. To sort by one of them is to list one value after
// the other.
var kinds = []string{"experiment_id", "schedule_id", "pipeline_id", "status"}

// A runList is a page of runs that is being chosen. The conditions of scope and filter fall into those on what run_counts
// counts by, so that their matches are known without a look at the runs, and the others.
type runList struct {
	db     conn
	q      page.Query
	limit  int
	states []string // storage states that the filter allows; every statement asks for one of them
	kinds  []condition
	leads  []lead           // of the kinds, those of which one value is asked for
	others []page.Predicate // the rest, for statements
	seqs   int64            // about how many runs there are
}

// A lead is a field of which one value is asked for, and which indexes begin with.
type lead struct {
	name  string
	value any
}

func newRunList(db conn, q page.Query, sc run.Scope) (*runList, error) {
	l := &runList{db: db, q: q, limit: min(max(q.Size, 1), 200) + 1}
	allowed := listing{table: "runs", fields: runFields}
	states := []string{available, archived}
	if sc.ExperimentID != "" {
		l.lead("experiment_id", sc.ExperimentID)
	}
	if sc.ScheduleID != "" {
		l.lead("schedule_id", sc.ScheduleID)
	}
	for _, p := range q.Filter {
		c, err := allowed.predicate(p)
		switch {
		case err != nil:
			return nil, err
		case p.Key == "storage_state":
			states = slices.DeleteFunc(states, func(state string) bool { return !allows(p, state) })
		case slices.Contains(kinds, p.Key) && p.Op == page.Equals:
			l.lead(p.Key, p.Values[0])
		case slices.Contains(kinds, p.Key):
			l.kinds = append(l.kinds, c)
		default:
			l.others = append(l.others, p)
		}
	}
	l.states = states
	if l.q.SortBy == "" {
		l.q.SortBy = defaultSort
	}
	if _, ok := runFields[l.q.SortBy]; !ok && !byMetric(l.q.SortBy) {
		return nil, fault.New(fault.Invalid, "runs cannot be sorted by %q; %s", q.SortBy, allowed.known())
	}
	return l, nil
}

func (l *runList) lead(name string, value any) {
	l.leads = append(l.leads, lead{name, value})
	l.kinds = append(l.kinds, equals(name, value))
}

func equals(name string, value any) condition {
	if name == "schedule_id" { // as its indexes have it
		return condition{"runs.schedule_id = ? AND runs.schedule_id <> ''", []any{value}}
	}
	return condition{"runs." + name + " = ?", []any{value}}
}

// allows evaluates a predicate that is known to be in order on a text.
func allows(p page.Predicate, text string) bool {
	if p.Op == page.In {
		return slices.Contains(p.Values, any(text))
	}
	value, _ := p.Values[0].(string)
	c := strings.Compare(text, value)
	switch p.Op {
	case page.Equals:
		return c == 0
	case page.NotEquals:
		return c != 0
	case page.GreaterThan:
		return c > 0
	case page.GreaterThanOrEqual:
		return c >= 0
	case page.LessThan:
		return c < 0
	case page.LessThanOrEqual:
		return c <= 0
	}
	return strings.Contains(strings.ToLower(text), strings.ToLower(value))
}

// chooseRuns chooses the rows of a page. It costs the page, not the runs: see plan.
func (s *Store) chooseRuns(ctx context.Context, q page.Query, sc run.Scope) (rows, error) {
	tx, err := s.reads.BeginTx(ctx, &s.driver.Snapshot) // the count and the rows shall agree
	if err != nil {
		return rows{}, trouble("begin", err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing to keep
	return chooseRuns(ctx, s.driver.conn(tx), q, sc)
}

func chooseRuns(ctx context.Context, db conn, q page.Query, sc run.Scope) (rows, error) {
	l, err := newRunList(db, q, sc)
	if err != nil {
		return rows{}, err
	}
	parts, err := l.count(ctx)
	if err != nil {
		return rows{}, err
	}
	var found []entry
	switch name, metric := strings.CutPrefix(l.q.SortBy, metricPrefix); {
	case metric:
		found, err = l.byMetric(ctx, name, parts)
	case l.q.SortBy == "storage_state" || slices.Contains(kinds, l.q.SortBy):
		found, err = l.byKind(ctx, parts)
	default:
		found, err = l.byField(ctx, parts)
	}
	if err != nil {
		return rows{}, err
	}
	return rowsOf(found, l.limit-1, total(parts)), nil
}

// byField lists in the order of a field of the runs.
func (l *runList) byField(ctx context.Context, parts []part) ([]entry, error) {
	f := runFields[l.q.SortBy]
	var from []any
	if l.q.Start != nil {
		value, err := f.cursorValue(l.q.Start.Value)
		if err != nil {
			return nil, err
		}
		if from = []any{value, l.q.Start.ID}; l.q.SortBy == "id" {
			from = from[1:]
		}
	}
	return l.entries(ctx, l.q.SortBy, nil, from, l.limit, parts)
}

// byKind lists one value of a kind after the other, the runs of each by id.
func (l *runList) byKind(ctx context.Context, parts []part) ([]entry, error) {
	f := runFields[l.q.SortBy]
	var after any
	if l.q.Start != nil {
		value, err := f.cursorValue(l.q.Start.Value)
		if err != nil {
			return nil, err
		}
		after = value
	}
	groups, err := l.groups(ctx, f, after)
	if err != nil {
		return nil, err
	}
	var found []entry
	for _, g := range groups {
		var from []any
		if l.q.Start != nil && g.value == after {
			from = []any{l.q.Start.ID}
		}
		more, err := l.entries(ctx, "id", &g, from, l.limit-len(found), g.of(parts))
		if err != nil {
			return nil, err
		}
		for i := range more {
			more[i].value = g.value
		}
		if found = append(found, more...); len(found) == l.limit {
			break
		}
	}
	return found, nil
}

// entries lists runs in the order of a field and then of their ids: those of each storage state by an index of its own,
// merged. A group is a further condition.
func (l *runList) entries(ctx context.Context, by string, g *group, from []any, limit int, parts []part) ([]entry, error) {
	where, leads := slices.Clone(l.kinds), l.leads
	if g != nil && g.kind != "storage_state" {
		where, leads = append(where, equals(g.kind, g.value)), append(slices.Clone(leads), lead{g.kind, g.value})
	}
	others, err := l.conditions(l.others)
	if err != nil {
		return nil, err
	}
	where = append(where, others...)
	word, compare := direction(l.q.Desc)
	order := fmt.Sprintf("runs.%s %s, runs.id %s", by, word, word)
	if by == "id" {
		order = "runs.id " + word
	}
	if len(from) > 0 {
		key := condition{fmt.Sprintf("(runs.%s, runs.id) %s (?, ?)", by, compare), from}
		if by == "id" {
			key.sql = fmt.Sprintf("runs.id %s ?", compare)
		}
		where = append(where, key)
	}
	return l.merged(ctx, parts, word, "id", limit, func(p part) string {
		return fmt.Sprintf("SELECT runs.seq AS seq, runs.id AS id, runs.%s AS value FROM runs%s", by, l.db.hint(l.plan(p, by, leads)))
	}, where, fmt.Sprintf(" ORDER BY %s LIMIT ?", order))
}

// merged runs a statement for each storage state that has matches, and merges what they give by value and then.
func (l *runList) merged(ctx context.Context, parts []part, word, then string, limit int, from func(part) string, where []condition, order string) ([]entry, error) {
	var statements []string
	var args []any
	for _, p := range parts {
		if p.matches == 0 {
			continue
		}
		of := append([]condition{{"runs.storage_state = '" + p.state + "'", nil}}, where...)
		statements = append(statements, from(p)+whereClause(of)+order)
		args = append(append(args, arguments(of)...), limit)
	}
	switch len(statements) {
	case 0:
		return nil, nil
	case 1:
		return entries(ctx, l.db, statements[0], args)
	}
	statement := fmt.Sprintf("SELECT seq, id, value FROM (%s) AS a UNION ALL SELECT seq, id, value FROM (%s) AS b ORDER BY value %s, %s %s LIMIT ?",
		statements[0], statements[1], word, then, word)
	return entries(ctx, l.db, statement, append(args, limit))
}

func (l *runList) conditions(ps []page.Predicate) ([]condition, error) {
	var cs []condition
	for _, p := range ps {
		c, err := listing{table: "runs", fields: runFields}.predicate(p)
		if err != nil {
			return nil, err
		}
		cs = append(cs, c)
	}
	return cs, nil
}
