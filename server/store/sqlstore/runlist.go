package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/columns"
)

var runFields = map[string]field{
	"id": {"runs.id", text}, "name": {"runs.name", text}, "description": {"runs.description", text},
	"status": {"runs.status", text}, "storage_state": {"runs.storage_state", text},
	"experiment_id": {"runs.experiment_id", text}, "pipeline_id": {"runs.pipeline_id", text},
	"created_at": {"runs.created_at", moment}, "scheduled_at": {"runs.scheduled_at", moment}, "started_at": {"runs.started_at", moment},
	"finished_at": {"runs.finished_at", moment},
}

// kinds are the fields that run_counts counts by, beside storage_state.
var kinds = []string{"experiment_id", "schedule_id", "pipeline_id", "status"}

// A runList is a page of runs that is being chosen. The conditions of scope and filter fall into those on what run_counts
// counts by, so that their matches are known without a look at the runs, and the others.
type runList struct {
	db      conn
	q       listing.Query
	limit   int
	states  []string // storage states that the filter allows
	kinds   []condition
	leads   []lead // the fields of the filter with a single wanted value
	others  []listing.Predicate
	filters []columns.Filter // all of it
}

// A lead is a field with a single wanted value that an index begins with.
type lead struct {
	name  string
	value any
}

func newRunList(db conn, q listing.Query, sc run.Scope) (*runList, error) {
	l := &runList{db: db, q: q, limit: min(max(q.Size, 1), 200) + 1}
	allowed := table{table: "runs", fields: runFields}
	states := []string{available, archived}
	if sc.ExperimentID != "" {
		l.lead("experiment_id", sc.ExperimentID)
		l.filters = append(l.filters, is("experiment_id", sc.ExperimentID))
	}
	if sc.ScheduleID != "" {
		l.lead("schedule_id", sc.ScheduleID)
		l.filters = append(l.filters, is("schedule_id", sc.ScheduleID))
	}
	for _, p := range q.Filter {
		c, err := allowed.predicate(p)
		if err != nil {
			return nil, err
		}
		l.filters = append(l.filters, columnFilter(p))
		switch {
		case p.Key == "storage_state":
			states = slices.DeleteFunc(states, func(state string) bool { return !allows(p, state) })
		case slices.Contains(kinds, p.Key) && p.Op == listing.Equals:
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
		return nil, apierr.New(apierr.Invalid, "runs cannot be sorted by %q; %s", q.SortBy, allowed.known())
	}
	return l, nil
}

func (l *runList) lead(name string, value any) {
	l.leads = append(l.leads, lead{name, value})
	l.kinds = append(l.kinds, equals(name, value))
}

func is(column, value string) columns.Filter {
	return columnFilter(listing.Predicate{Key: column, Op: listing.Equals, Values: []any{value}})
}

func equals(name string, value any) condition {
	if name == "schedule_id" { // as its indexes have it
		return condition{"runs.schedule_id = ? AND runs.schedule_id <> ''", []any{value}}
	}
	return condition{"runs." + name + " = ?", []any{value}}
}

// allows evaluates a predicate that is known to be in order on a text.
func allows(p listing.Predicate, text string) bool {
	if p.Op == listing.In {
		return slices.Contains(p.Values, any(text))
	}
	value, _ := p.Values[0].(string)
	switch p.Op {
	case listing.NotEquals:
		return text != value
	case listing.Substring:
		return strings.Contains(strings.ToLower(text), strings.ToLower(value))
	}
	return compares(p.Op, strings.Compare(text, value))
}

// chooseRuns chooses the rows of a page: along an index, if there is one that has the list in its order or if there are few
// to sort; otherwise by columns.
func (s *runIndex) chooseRuns(ctx context.Context, q listing.Query, sc run.Scope) (rows, error) {
	tx, err := s.reads.BeginTx(ctx, &s.driver.Snapshot) // the count and the rows shall agree
	if err != nil {
		return rows{}, trouble("begin", err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing to keep
	return s.choose(ctx, s.driver.conn(tx), q, sc)
}

func (s *runIndex) choose(ctx context.Context, db conn, q listing.Query, sc run.Scope) (rows, error) {
	l, err := newRunList(db, q, sc)
	if err != nil {
		return rows{}, err
	}
	if l.known() && !byMetric(l.q.SortBy) {
		return l.meant(ctx)
	}
	if len(l.others) == 0 && !byMetric(l.q.SortBy) {
		parts, err := l.count(ctx)
		if err != nil {
			return rows{}, err
		}
		if ways, ok := l.ways(parts); ok {
			found, err := l.along(ctx, ways)
			return rowsOf(found, l.limit-1, total(parts)), err
		}
	}
	table, err := s.runColumns(ctx)
	if err != nil {
		return rows{}, err
	}
	return l.byColumns(ctx, table)
}

// start gives the value and the id of the cursor; nil if there is none.
func (l *runList) start() (from []any, err error) {
	if l.q.Start == nil {
		return nil, nil
	}
	value, err := runFields[l.q.SortBy].cursorValue(l.q.Start.Value)
	return []any{value, l.q.Start.ID}, err
}

// order is that of the list in SQL, with the condition of its cursor.
func (l *runList) order() (order string, from []condition, err error) {
	by := l.q.SortBy
	word, compare := direction(l.q.Desc)
	start, err := l.start()
	if by == "id" {
		if start != nil {
			from = []condition{{fmt.Sprintf("runs.id %s ?", compare), start[1:]}}
		}
		return fmt.Sprintf(" ORDER BY runs.id %s LIMIT ?", word), from, err
	}
	if start != nil {
		from = []condition{{fmt.Sprintf("(runs.%s, runs.id) %s (?, ?)", by, compare), start}}
	}
	return fmt.Sprintf(" ORDER BY runs.%s %s, runs.id %s LIMIT ?", by, word, word), from, err
}

// along lists runs by an index of each storage state, and merges what they give.
func (l *runList) along(ctx context.Context, ways []way) ([]entry, error) {
	order, from, err := l.order()
	if err != nil {
		return nil, err
	}
	var statements []string
	var args []any
	for _, w := range ways {
		where := slices.Concat([]condition{{"runs.storage_state = '" + w.state + "'", nil}}, l.kinds, from)
		statements = append(statements, fmt.Sprintf("SELECT runs.seq AS seq, runs.id AS id, runs.%s AS value FROM runs%s%s%s",
			l.q.SortBy, l.db.hint(w.index), whereClause(where), order))
		args = append(append(args, arguments(where)...), l.limit)
	}
	switch len(statements) {
	case 0:
		return nil, nil
	case 1:
		return entries(ctx, l.db, statements[0], args)
	}
	word, _ := direction(l.q.Desc)
	statement := fmt.Sprintf("SELECT seq, id, value FROM (%s) AS a UNION ALL SELECT seq, id, value FROM (%s) AS b ORDER BY value %s, id %s LIMIT ?",
		statements[0], statements[1], word, word)
	return entries(ctx, l.db, statement, append(args, l.limit))
}

// known tells whether ids are asked for, which are found at once; not beside what columns alone compare.
func (l *runList) known() bool {
	return !slices.ContainsFunc(l.others, byColumnAlone) && slices.ContainsFunc(l.others, func(o listing.Predicate) bool { return o.Key == "id" && (o.Op == listing.Equals || o.Op == listing.In) })
}

// byID is SQLite's own index on the ids of runs.
const byID = "sqlite_autoindex_runs_1"

// meant lists runs whose ids are asked for.
func (l *runList) meant(ctx context.Context) (rows, error) {
	where := slices.Clone(l.kinds)
	for _, o := range l.others {
		c, err := table{table: "runs", fields: runFields}.predicate(o)
		if err != nil {
			return rows{}, err
		}
		where = append(where, c)
	}
	switch len(l.states) {
	case 0:
		return rows{}, nil
	case 1:
		where = append(where, condition{"runs.storage_state = ?", []any{l.states[0]}})
	}
	from := " FROM runs" + l.db.hint(byID)
	var n int64
	if err := l.db.QueryRowContext(ctx, "SELECT COUNT(*)"+from+whereClause(where), arguments(where)...).Scan(&n); err != nil {
		return rows{}, trouble("count runs", err)
	}
	order, start, err := l.order()
	if err != nil {
		return rows{}, err
	}
	where = append(where, start...)
	found, err := entries(ctx, l.db, "SELECT runs.seq, runs.id, runs."+l.q.SortBy+from+whereClause(where)+order, append(arguments(where), l.limit))
	return rowsOf(found, l.limit-1, n), err
}

func total(parts []part) int64 {
	var n int64
	for _, p := range parts {
		n += p.matches
	}
	return n
}
