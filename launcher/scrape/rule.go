package scrape

import (
	"fmt"
	"regexp"
	"strings"
)

// Format says how a metric is shown.
type Format string

const (
	// Raw shows the number as it is.
	Raw Format = "RAW"
	// Percentage shows the number times 100 and a percent sign. A value that is
	// printed with a percent sign ("98.1%") is divided by 100 when it is read.
	Percentage Format = "PERCENTAGE"
)

// Reduce says how the many values of a metric become one.
type Reduce string

const (
	// Last takes the value printed last, by any rank. It is the default, and right for values that every rank prints alike, such as a
	// total.
	Last Reduce = "last"
	// Max takes the greatest value of all ranks.
	Max Reduce = "max"
	// Min takes the smallest value of all ranks.
	Min Reduce = "min"
	// Mean takes the mean, over the ranks, of each rank's last value. It passes over summaries.
	Mean Reduce = "mean"
	// Sum adds the last value of each rank. If the job prints the sum itself, as in "total images/sec: 3033.57", it takes the last of those
	// instead, since every rank may print it.
	Sum Reduce = "sum"
)

// Rule names a metric to look for.
type Rule struct {
	// Name is the text in front of `=` or `:`, taken literally, case and all.
	Name string
	// Format is how the metric is shown; empty means Raw.
	Format Format
	// Reduce is how its values become one; empty means Last.
	Reduce Reduce
	// Pattern, if there is one, finds the number instead: what its first group, or all of it, matches.
	Pattern *regexp.Regexp
}

// ParseRule reads NAME[:FORMAT[:REDUCE[:REGEX]]], as in "images/sec", "accuracy:PERCENTAGE",
// "loss:RAW:min" or "speed:::^Speed +([0-9.]+)". FORMAT and REDUCE are not case-sensitive and may be empty;
// REGEX is of Go's syntax and may hold colons.
func ParseRule(s string) (Rule, error) {
	parts := strings.SplitN(s, ":", 4)
	rule := Rule{Name: strings.TrimSpace(parts[0]), Format: Raw, Reduce: Last}
	if rule.Name == "" {
		return Rule{}, fmt.Errorf("metric %q has no name: write NAME[:FORMAT[:REDUCE[:REGEX]]], as in images/sec:RAW:last", s)
	}
	var err error
	if len(parts) > 1 {
		if rule.Format, err = parseFormat(parts[1]); err != nil {
			return Rule{}, fmt.Errorf("metric %q: %w", s, err)
		}
	}
	if len(parts) > 2 {
		if rule.Reduce, err = parseReduce(parts[2]); err != nil {
			return Rule{}, fmt.Errorf("metric %q: %w", s, err)
		}
	}
	if len(parts) > 3 && parts[3] != "" {
		if rule.Pattern, err = regexp.Compile(parts[3]); err != nil {
			return Rule{}, fmt.Errorf("metric %q: %w; a name cannot hold a colon, and a third one begins a regular expression", s, err)
		}
	}
	return rule, nil
}

func parseFormat(s string) (Format, error) {
	switch f := Format(strings.ToUpper(strings.TrimSpace(s))); f {
	case "":
		return Raw, nil
	case Raw, Percentage:
		return f, nil
	default:
		return "", fmt.Errorf("unknown format %q: use RAW or PERCENTAGE", s)
	}
}

func parseReduce(s string) (Reduce, error) {
	r := Reduce(strings.ToLower(strings.TrimSpace(s)))
	switch r = Reduce(strings.TrimSuffix(string(r), "-over-ranks")); r {
	case "":
		return Last, nil
	case Last, Max, Min, Mean, Sum:
		return r, nil
	default:
		return "", fmt.Errorf("unknown reduction %q: use last, max, min, mean or sum", s)
	}
}
