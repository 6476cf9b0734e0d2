package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
)

// A table has pages that a caller may sort and filter. Only names out of fields, all of our own,
// ever reach the text of a query; values are always bound.
type table struct {
	table  string
	fields map[string]field
	scope  []condition
}

type field struct {
	column string
	kind   kind
}

type kind int

const (
	text   kind = iota
	moment      // microseconds; compared in whole seconds, as KFP v1 does
)

// Fields that KFP v1 knows, and that are the same for every row of ours. They are expressions over columns, as PostgreSQL
// sorts by no constant.
var (
	noNamespace = field{"SUBSTR(name, 1, 0)", text}
	ready       = field{"'READY' || SUBSTR(name, 1, 0)", text}
)

type condition struct {
	sql  string
	args []any
}

const (
	defaultSort  = "created_at"
	metricPrefix = "metric:"
)

// rows is one page of a table: which rows, where the next page starts, and how many match in all.
type rows struct {
	seqs  []int64
	next  *listing.Cursor
	total int64
}

// page chooses the rows of a page. It costs the page, not the table, wherever an index fits the sort; only the count of all matches reads more.
func (s *db) page(ctx context.Context, l table, q listing.Query) (rows, error) {
	where, err := l.where(q)
	if err != nil {
		return rows{}, err
	}
	tx, err := s.reads.BeginTx(ctx, &s.driver.Snapshot) // the count and the rows shall agree
	if err != nil {
		return rows{}, trouble("begin", err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing to keep
	db := s.driver.conn(tx)
	var total int64
	count := fmt.Sprintf("SELECT COUNT(*) FROM %s%s", l.table, whereClause(where))
	if err := db.QueryRowContext(ctx, count, arguments(where)...).Scan(&total); err != nil {
		return rows{}, trouble("count "+l.table, err)
	}
	size := min(max(q.Size, 1), 200)
	statement, args, err := l.statement(where, q, size+1)
	if err != nil {
		return rows{}, err
	}
	found, err := entries(ctx, db, statement, args)
	if err != nil {
		return rows{}, err
	}
	return rowsOf(found, size, total), nil
}

// rowsOf makes a page of the rows that were found, one more than its size if there is a next page.
func rowsOf(found []entry, size int, total int64) rows {
	r := rows{total: total}
	if len(found) > size {
		r.next = &listing.Cursor{Value: found[size].value, ID: found[size].id}
		found = found[:size]
	}
	for _, e := range found {
		r.seqs = append(r.seqs, e.seq)
	}
	return r
}

// entry is a chosen row with what a cursor needs.
type entry struct {
	seq   int64
	id    string
	value any
}

// where gives the conditions of scope and filter.
func (l table) where(q listing.Query) ([]condition, error) {
	where := slices.Clone(l.scope)
	for _, p := range q.Filter {
		c, err := l.predicate(p)
		if err != nil {
			return nil, err
		}
		where = append(where, c)
	}
	return where, nil
}

// statement chooses rows in the order of a field; ties are broken by id.
func (l table) statement(where []condition, q listing.Query, limit int) (string, []any, error) {
	sortBy := q.SortBy
	if sortBy == "" {
		sortBy = defaultSort
	}
	f, ok := l.sortField(sortBy)
	if !ok {
		return "", nil, apierr.New(apierr.Invalid, "%s cannot be sorted by %q; %s", l.noun(), sortBy, l.known())
	}
	direction, compare := direction(q.Desc)
	if q.Start != nil {
		value, err := f.cursorValue(q.Start.Value)
		if err != nil {
			return "", nil, err
		}
		where = append(where[:len(where):len(where)], condition{
			fmt.Sprintf("(%s, id) %s (?, ?)", f.column, compare), []any{value, q.Start.ID},
		})
	}
	statement := fmt.Sprintf("SELECT seq, id, %s FROM %s%s ORDER BY %s %s, id %s LIMIT ?",
		f.column, l.table, whereClause(where), f.column, direction, direction)
	return statement, append(arguments(where), limit), nil
}

// sortField finds a field by its name in any case: the API gives it in lower case.
func (l table) sortField(name string) (field, bool) {
	for known, f := range l.fields {
		if strings.EqualFold(known, name) {
			return f, true
		}
	}
	return field{}, false
}

func entries(ctx context.Context, db conn, statement string, args []any) ([]entry, error) {
	result, err := db.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, trouble("list", err)
	}
	defer result.Close() //nolint:errcheck // Err tells
	var found []entry
	for result.Next() {
		var e entry
		if err := result.Scan(&e.seq, &e.id, &e.value); err != nil {
			return nil, trouble("list", err)
		}
		found = append(found, e)
	}
	return found, trouble("list", result.Err())
}

func direction(desc bool) (word, compare string) {
	if desc {
		return "DESC", "<="
	}
	return "ASC", ">="
}

// predicate turns a filter's predicate into SQL.
func (l table) predicate(p listing.Predicate) (condition, error) {
	if l.table == "runs" {
		if c, ok, err := search(p); ok {
			return c, err
		}
	}
	f, ok := l.fields[p.Key]
	if !ok {
		return condition{}, apierr.New(apierr.Invalid, "%s cannot be filtered by %q; %s", l.noun(), p.Key, l.known())
	}
	if len(p.Values) != 1 && p.Op != listing.In {
		return condition{}, apierr.New(apierr.Invalid, "the filter on %q needs exactly one value", p.Key)
	}
	if f.kind == moment {
		return f.moment(p)
	}
	values := make([]any, len(p.Values))
	for i, v := range p.Values {
		s, ok := v.(string)
		if !ok {
			return condition{}, apierr.New(apierr.Invalid, "the filter on %q needs a string value", p.Key)
		}
		values[i] = s
	}
	switch p.Op {
	case listing.In:
		if len(values) == 0 {
			return condition{"1 = 0", nil}, nil
		}
		return condition{f.column + " IN (?" + strings.Repeat(", ?", len(values)-1) + ")", values}, nil
	case listing.Substring:
		escaped := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(values[0].(string))
		return condition{f.column + ` LIKE ? ESCAPE '\'`, []any{"%" + escaped + "%"}}, nil
	}
	operator, ok := operators[p.Op]
	if !ok {
		return condition{}, unknownOp(p)
	}
	return condition{f.column + " " + operator + " ?", values}, nil
}

var operators = map[listing.Op]string{
	listing.Equals: "=", listing.NotEquals: "<>", listing.GreaterThan: ">", listing.GreaterThanOrEqual: ">=", listing.LessThan: "<", listing.LessThanOrEqual: "<=",
}

// moment compares whole seconds by ranges of microseconds, so that an index on the column still serves.
func (f field) moment(p listing.Predicate) (condition, error) {
	starts := make([]int64, len(p.Values))
	for i, v := range p.Values {
		var ok bool
		if starts[i], ok = second(v); !ok {
			return condition{}, apierr.New(apierr.Invalid, "the filter on %q needs a timestamp", p.Key)
		}
	}
	within := fmt.Sprintf("%s BETWEEN ? AND ?", f.column)
	if p.Op == listing.In {
		c := condition{sql: "1 = 0"}
		for _, start := range starts {
			c.sql += " OR " + within
			c.args = append(c.args, start, start+999_999)
		}
		c.sql = "(" + c.sql + ")"
		return c, nil
	}
	start, end := starts[0], starts[0]+999_999
	switch p.Op {
	case listing.Equals:
		return condition{within, []any{start, end}}, nil
	case listing.NotEquals:
		return condition{"NOT " + within, []any{start, end}}, nil
	case listing.GreaterThan:
		return condition{f.column + " > ?", []any{end}}, nil
	case listing.GreaterThanOrEqual:
		return condition{f.column + " >= ?", []any{start}}, nil
	case listing.LessThan:
		return condition{f.column + " < ?", []any{start}}, nil
	case listing.LessThanOrEqual:
		return condition{f.column + " <= ?", []any{end}}, nil
	}
	return condition{}, unknownOp(p)
}

// second is the beginning of the second that a value names, in microseconds.
func second(v any) (micros int64, ok bool) {
	switch v := v.(type) {
	case time.Time:
		return v.Unix() * 1e6, true
	case int64:
		return v * 1e6, true
	}
	return 0, false
}

func unknownOp(p listing.Predicate) error {
	return apierr.New(apierr.Invalid, "the filter on %q cannot use operator %d", p.Key, p.Op)
}

// cursorValue reads a cursor's value, which may have been through JSON.
func (f field) cursorValue(v any) (any, error) {
	switch v := v.(type) {
	case string:
		if f.kind == text {
			return v, nil
		}
	case int64:
		if f.kind == moment {
			return v, nil
		}
	case float64:
		if f.kind == moment && v == math.Trunc(v) {
			return int64(v), nil
		}
	case json.Number:
		if n, err := v.Int64(); err == nil && f.kind == moment {
			return n, nil
		}
	}
	return nil, staleCursor()
}

func staleCursor() error {
	return apierr.New(apierr.Invalid, "the page token does not fit the sort order; start again from the first page")
}

// noun is what the rows are called on the wire.
func (l table) noun() string {
	if l.table == "schedules" {
		return "jobs"
	}
	return l.table
}

// known names the fields for an error message.
func (l table) known() string {
	return "known fields: " + strings.Join(slices.Sorted(maps.Keys(l.fields)), ", ")
}

func whereClause(cs []condition) string {
	if len(cs) == 0 {
		return ""
	}
	parts := make([]string, len(cs))
	for i, c := range cs {
		parts[i] = c.sql
	}
	return " WHERE " + strings.Join(parts, " AND ")
}

func arguments(cs []condition) []any {
	var args []any
	for _, c := range cs {
		args = append(args, c.args...)
	}
	return args
}
