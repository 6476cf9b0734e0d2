// Package retention removes old or excess data of runs.
package retention

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/server/apierr"
)

// Rule says what is kept of one kind. The zero Rule keeps everything.
type Rule struct {
	Age    time.Duration // since the end of the run; 0: of any age
	Newest int64         // runs of each experiment; 0: any number
}

// Policy sets what to keep: whole runs, artifacts of runs, logs of runs. Runs that have not ended and archived runs are always kept and do
// not count among the newest.
type Policy struct {
	Runs, Artifacts, Logs Rule
}

// Keep parses a rule: an age (90d, 12h), a number of runs, or both, as in "90d,1000". Runs beyond either are removed. Empty text keeps
// everything.
func Keep(text string) (r Rule, err error) {
	if text == "" {
		return r, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		n, numberErr := strconv.ParseInt(part, 10, 64)
		age, ageErr := parseAge(part)
		switch {
		case numberErr == nil && n > 0 && r.Newest == 0:
			r.Newest = n
		case numberErr != nil && ageErr == nil && age > 0 && r.Age == 0:
			r.Age = age
		default:
			return Rule{}, apierr.New(apierr.Invalid, "%q is not a valid limit: give an age, a number of runs, or both, as in 90d,1000", text)
		}
	}
	return r, nil
}

// parseAge reads a duration, for which Go knows no days.
func parseAge(text string) (time.Duration, error) {
	days, isDays := strings.CutSuffix(text, "d")
	if !isDays {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseInt(days, 10, 32)
	if n > 100_000 {
		return 0, fmt.Errorf("%s is too long", text)
	}
	return time.Duration(n) * 24 * time.Hour, err
}

// String writes a rule as Keep reads it.
func (r Rule) String() string {
	var parts []string
	if r.Age > 0 {
		age := r.Age.String()
		if r.Age%(24*time.Hour) == 0 {
			age = fmt.Sprintf("%dd", r.Age/(24*time.Hour))
		}
		parts = append(parts, age)
	}
	if r.Newest > 0 {
		parts = append(parts, strconv.FormatInt(r.Newest, 10))
	}
	return strings.Join(parts, ",")
}

// String says what is kept.
func (p Policy) String() string {
	var parts []string
	for _, kind := range []struct {
		name string
		rule Rule
	}{{"runs", p.Runs}, {"artifacts", p.Artifacts}, {"logs", p.Logs}} {
		if text := kind.rule.String(); text != "" {
			parts = append(parts, kind.name+" "+text)
		}
	}
	if len(parts) == 0 {
		return "keep everything"
	}
	return "keep " + strings.Join(parts, "; ")
}
