package sqlstore

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/server/fault"
	"github.com/argosy-ml/argosy/server/page"
)

// What runs can be filtered by beside their own columns: the value of a parameter, a label or a metric by its name, and a
// text in what people call the run.
const (
	parameterPrefix = "parameter:"
	labelPrefix     = "label:"
	anyText         = "text"
)

// indexed is how much of a parameter's value its index has.
const indexed = 64

// search turns a predicate on what lies beside the row of a run into SQL; ok is false for all others.
func search(p page.Predicate) (c condition, ok bool, err error) {
	switch name, byMetric := strings.CutPrefix(p.Key, metricPrefix); {
	case byMetric && name != "":
		c, err = metricIs(name, p)
		return c, true, err
	case p.Key == anyText:
		text, isText := single(p).(string)
		if p.Op != page.Substring || !isText {
			return c, true, fault.New(fault.Invalid, "the filter on text is IS_SUBSTRING with a string")
		}
		pattern := containing(text)
		return condition{`(runs.name LIKE ? ESCAPE '\' OR runs.description LIKE ? ESCAPE '\' OR runs.id LIKE ? ESCAPE '\')`, []any{pattern, pattern, pattern}}, true, nil
	}
	if name, ok := strings.CutPrefix(p.Key, parameterPrefix); ok && name != "" {
		c, err = textIs("run_parameters", "substr(value, 1, "+strconv.Itoa(indexed)+")", name, p)
		return c, true, err
	}
	if name, ok := strings.CutPrefix(p.Key, labelPrefix); ok && name != "" {
		c, err = textIs("run_labels", "value", name, p)
		return c, true, err
	}
	return c, false, nil
}

// metricIs compares the value of a metric by which runs are sorted too.
func metricIs(name string, p page.Predicate) (condition, error) {
	var value float64
	switch v := single(p).(type) {
	case float64:
		value = v
	case int64:
		value = float64(v)
	case string:
		var err error
		if value, err = strconv.ParseFloat(v, 64); err != nil {
			return condition{}, fault.New(fault.Invalid, "the filter on %q needs a number, not %q", p.Key, v)
		}
	default:
		return condition{}, fault.New(fault.Invalid, "the filter on %q needs one number", p.Key)
	}
	in, operator := "IN", operators[p.Op]
	switch {
	case operator == "":
		return condition{}, unknownOp(p)
	case p.Op == page.NotEquals: // all but those that are equal, so also those that have it not, as everywhere
		in, operator = "NOT IN", "="
	}
	return condition{
		fmt.Sprintf("runs.seq %s (SELECT run FROM run_metrics WHERE name = ? AND leads = 1 AND value %s ?)", in, operator), []any{name, value},
	}, nil
}

// textIs compares the text beside a name in a table; key is what of the text the table's index has.
func textIs(table, key, name string, p page.Predicate) (condition, error) {
	text, ok := single(p).(string)
	if !ok {
		return condition{}, fault.New(fault.Invalid, "the filter on %q needs one string", p.Key)
	}
	is := "runs.seq %s (SELECT run FROM " + table + " WHERE name = ?%s)"
	switch p.Op {
	case page.Equals, page.NotEquals:
		in := map[page.Op]string{page.Equals: "IN", page.NotEquals: "NOT IN"}[p.Op]
		begin := text
		if key != "value" {
			begin = string([]rune(text)[:min(len([]rune(text)), indexed)])
		}
		return condition{fmt.Sprintf(is, in, " AND "+key+" = ? AND value = ?"), []any{name, begin, text}}, nil
	case page.Substring:
		return condition{fmt.Sprintf(is, "IN", ` AND value LIKE ? ESCAPE '\'`), []any{name, containing(text)}}, nil
	}
	return condition{}, fault.New(fault.Invalid, "the filter on %q can be EQUALS, NOT_EQUALS or IS_SUBSTRING", p.Key)
}

// single is the value of a predicate that has one.
func single(p page.Predicate) any {
	if len(p.Values) != 1 || p.Op == page.In {
		return nil
	}
	return p.Values[0]
}

// containing is a pattern for LIKE that matches what has the text in it.
func containing(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}
