package sqlstore

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
)

// What runs can be filtered by beside their own columns: the value of a parameter, a label or a metric by its name, and a
// text in what people call the run.
const (
	parameterPrefix = "parameter:"
	labelPrefix     = "label:"
	sizePrefix      = "size:" // of columns: the values of a parameter that are numbers
	anyText         = "text"
)

// search turns a predicate on what lies beside the row of a run into SQL; ok is false for all others.
func search(p listing.Predicate) (c condition, ok bool, err error) {
	switch name, byMetric := strings.CutPrefix(p.Key, metricPrefix); {
	case byMetric && name != "":
		c, err = metricIs(name, p)
		return c, true, err
	case p.Key == run.ShownStatus: // columns alone know it
		_, err = table{fields: map[string]field{p.Key: {p.Key, text}}}.predicate(p)
		return c, true, err
	case p.Key == anyText:
		text, isText := single(p).(string)
		if p.Op != listing.Substring || !isText {
			return c, true, apierr.New(apierr.Invalid, "the filter on text is IS_SUBSTRING with a string")
		}
		pattern := containing(text)
		return condition{`(runs.name LIKE ? ESCAPE '\' OR runs.description LIKE ? ESCAPE '\' OR runs.id LIKE ? ESCAPE '\')`, []any{pattern, pattern, pattern}}, true, nil
	}
	if name, ok := strings.CutPrefix(p.Key, parameterPrefix); ok && name != "" {
		if bySize(p) { // columns alone compare them
			_, err = limitOf(p)
			return c, true, err
		}
		c, err = textIs("run_parameters", name, p)
		return c, true, err
	}
	if name, ok := strings.CutPrefix(p.Key, labelPrefix); ok && name != "" {
		c, err = textIs("run_labels", name, p)
		return c, true, err
	}
	return c, false, nil
}

// metricIs compares the value of a metric that also sorts the runs.
func metricIs(name string, p listing.Predicate) (condition, error) {
	value, err := limitOf(p)
	if err != nil {
		return condition{}, err
	}
	operator := operators[p.Op]
	if operator == "" {
		return condition{}, unknownOp(p)
	}
	return beside("run_metrics", "leads = 1 AND value "+operator+" ?", p.Op, name, value), nil
}

// byColumnAlone tells whether SQL cannot compare a predicate.
func byColumnAlone(p listing.Predicate) bool {
	name, _ := strings.CutPrefix(p.Key, metricPrefix)
	_, byFigure := run.MetricOfFigure(name)
	return p.Key == run.ShownStatus || bySize(p) || byFigure
}

// bySize tells whether a predicate compares the values of a parameter as numbers.
func bySize(p listing.Predicate) bool {
	return strings.HasPrefix(p.Key, parameterPrefix) &&
		slices.Contains([]listing.Op{listing.GreaterThan, listing.GreaterThanOrEqual, listing.LessThan, listing.LessThanOrEqual}, p.Op)
}

// limitOf is what a predicate compares a metric or a parameter with.
func limitOf(p listing.Predicate) (float64, error) {
	switch v := single(p).(type) {
	case float64:
		return v, nil
	case int64:
		return float64(v), nil
	case string:
		value, ok := numberIn(v)
		if !ok {
			return 0, apierr.New(apierr.Invalid, "the filter on %q needs a number, not %q", p.Key, v)
		}
		return value, nil
	}
	return 0, apierr.New(apierr.Invalid, "the filter on %q needs one number", p.Key)
}

// numberIn reads a text that is a number with a place among the others.
func numberIn(text string) (float64, bool) {
	value, err := strconv.ParseFloat(text, 64)
	return value, err == nil && !math.IsNaN(value) && !math.IsInf(value, 0)
}

// beside asks for what lies beside a run in a table. What is not equal is all but what is, so also runs that lack it.
func beside(table, is string, op listing.Op, name string, value any) condition {
	not := ""
	if op == listing.NotEquals {
		not, is = "NOT ", strings.Replace(is, "<>", "=", 1)
	}
	return condition{
		fmt.Sprintf("%sEXISTS (SELECT 1 FROM %s AS b WHERE b.run = runs.seq AND b.name = ? AND %s)", not, table, is), []any{name, value},
	}
}

// textIs compares the text beside a name in a table.
func textIs(table, name string, p listing.Predicate) (condition, error) {
	text, ok := single(p).(string)
	if !ok {
		return condition{}, apierr.New(apierr.Invalid, "the filter on %q needs one string", p.Key)
	}
	switch p.Op {
	case listing.Equals, listing.NotEquals:
		return beside(table, "value = ?", p.Op, name, text), nil
	case listing.Substring:
		return beside(table, `value LIKE ? ESCAPE '\'`, p.Op, name, containing(text)), nil
	}
	return condition{}, apierr.New(apierr.Invalid, "the filter on %q can be EQUALS, NOT_EQUALS or IS_SUBSTRING, and of a parameter also an order of numbers", p.Key)
}

// single is the value of a predicate that has one.
func single(p listing.Predicate) any {
	if len(p.Values) != 1 || p.Op == listing.In {
		return nil
	}
	return p.Values[0]
}

// containing is a pattern for LIKE that matches what has the text in it.
func containing(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}
