package sqlstore

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/store/columns"
)

// byMetric tells whether a list is sorted by a metric: by the first value that a run has of it, then by the order in which
// runs came. Runs that have it not come last. A cursor names the place of a run in that order instead of the id, and one
// without a value stands among those that have it not.
func byMetric(sortBy string) bool {
	return strings.HasPrefix(sortBy, metricPrefix) && sortBy != metricPrefix
}

// byColumns lists runs by their columns.
func (l *runList) byColumns(ctx context.Context, table *columns.Table) (rows, error) {
	q := columns.Query{By: l.q.SortBy, Then: "id", Desc: l.q.Desc, Limit: l.limit, Filters: l.filters}
	metric := byMetric(l.q.SortBy)
	if metric {
		q.Then = ""
	}
	from, err := l.from(metric)
	if err != nil {
		return rows{}, err
	}
	q.From = from
	l.db.tellColumns(q, table)
	found, n, err := table.Find(ctx, q)
	if err != nil {
		return rows{}, trouble("list", err)
	}
	all := make([]entry, len(found))
	for i, e := range found {
		switch all[i] = (entry{seq: e.Key, id: e.Then, value: e.Text}); {
		case metric:
			all[i].id, all[i].value = strconv.FormatInt(e.Key, 10), e.Value
			if e.Lacks {
				all[i].value = nil
			}
		case runFields[l.q.SortBy].kind == moment:
			all[i].value = e.Int
		}
	}
	return rowsOf(all, l.limit-1, int64(n)), nil
}

// from is the entry of the cursor.
func (l *runList) from(metric bool) (*columns.Entry, error) {
	start := l.q.Start
	if start == nil {
		return nil, nil
	}
	if metric {
		place, err := strconv.ParseInt(start.ID, 10, 64)
		value, ok := start.Value.(float64)
		if err != nil || !ok && start.Value != nil {
			return nil, staleCursor()
		}
		return &columns.Entry{Key: place, Value: value, Lacks: start.Value == nil}, nil
	}
	value, err := runFields[l.q.SortBy].cursorValue(start.Value)
	if err != nil {
		return nil, err
	}
	e := &columns.Entry{Then: start.ID}
	switch v := value.(type) {
	case int64:
		e.Int = v
	case string:
		e.Text = v
	}
	return e, nil
}

// columnFilter turns a predicate that is known to be in order into one on columns.
func columnFilter(p listing.Predicate) columns.Filter {
	f := columns.Filter{Columns: []string{p.Key}, Not: p.Op == listing.NotEquals}
	switch {
	case p.Key == anyText:
		f.Columns = []string{"name", "description", "id"}
	case slices.Contains(runSchema.Words, p.Key):
		f.Not = false
		f.Words = func(word string) bool { return allows(p, word) }
		return f
	case slices.Contains(runSchema.Ints, p.Key):
		f.Ints = seconds(p)
		return f
	case strings.HasPrefix(p.Key, metricPrefix), bySize(p):
		limit, _ := limitOf(p) // it was looked at
		if name, ok := strings.CutPrefix(p.Key, parameterPrefix); ok {
			f.Columns = []string{sizePrefix + name}
		}
		f.Number = func(v float64) bool { return compares(p.Op, cmp.Compare(v, limit)) }
		return f
	}
	var texts []string
	for _, v := range Plain(p.Values) {
		text, _ := v.(string) // as it was looked at
		texts = append(texts, text)
	}
	if p.Op == listing.Substring {
		f.Contains = &texts[0]
		return f
	}
	f.Spans = []columns.Span{}
	for _, text := range texts {
		f.Spans = append(f.Spans, span(p.Op, text))
	}
	return f
}

// span has the texts that an operator allows; NotEquals is asked as Equals.
func span(op listing.Op, text string) columns.Span {
	switch op {
	case listing.GreaterThan:
		return columns.Span{From: columns.After(text)}
	case listing.GreaterThanOrEqual:
		return columns.Span{From: text}
	case listing.LessThan:
		return columns.Span{Before: &text}
	case listing.LessThanOrEqual:
		return columns.Span{Before: new(columns.After(text))}
	}
	return columns.Only(text)
}

// compares tells whether a value that compares like c with another meets a predicate; NotEquals is asked as Equals.
func compares(op listing.Op, c int) bool {
	switch op {
	case listing.GreaterThan:
		return c > 0
	case listing.GreaterThanOrEqual:
		return c >= 0
	case listing.LessThan:
		return c < 0
	case listing.LessThanOrEqual:
		return c <= 0
	}
	return c == 0
}

// seconds gives the microseconds that a predicate on whole seconds allows.
func seconds(p listing.Predicate) (ranges [][2]int64) {
	for _, v := range p.Values {
		start, _ := second(v) // it was looked at
		end := start + 999_999
		switch p.Op {
		case listing.GreaterThan:
			start, end = end+1, math.MaxInt64
		case listing.GreaterThanOrEqual:
			end = math.MaxInt64
		case listing.LessThan:
			start, end = math.MinInt64, start-1
		case listing.LessThanOrEqual:
			start = math.MinInt64
		}
		ranges = append(ranges, [2]int64{start, end})
	}
	return ranges
}
