// Package trial tries metric rules on a log, with the parser that runs use.
package trial

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

// Report is what a rule found in a log.
type Report struct {
	Rule    string           `json:"rule"`
	Reduce  scrape.Reduce    `json:"reduce"` // the one that the rule asks for
	Points  int              `json:"points"`
	Ranks   int              `json:"ranks"` // under whose tags lines stand; 0 without tags
	Results map[string]Value `json:"results,omitempty"`
	Matches []Line           `json:"matches"`
	Misses  []Line           `json:"misses"`
	// More lines matched, or nearly did, than are listed.
	MoreMatches int `json:"more_matches,omitempty"`
	MoreMisses  int `json:"more_misses,omitempty"`
}

// Line is a line of the log.
type Line struct {
	Line    int    `json:"line"`
	Rank    *int   `json:"rank,omitempty"`
	Text    string `json:"text"`
	Value   *Value `json:"value,omitempty"`
	Unit    string `json:"unit,omitempty"`
	Summary bool   `json:"summary,omitempty"` // of all ranks
	Miss    string `json:"miss,omitempty"`
}

// Value is a number that JSON may not have: NaN and infinite ones are null there.
type Value float64

// MarshalJSON is for package json.
func (v Value) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return []byte("null"), nil
	}
	return []byte(v.String()), nil
}

func (v Value) String() string { return strconv.FormatFloat(float64(v), 'g', -1, 64) }

// Reduces are all ways to make one number out of many.
var Reduces = []scrape.Reduce{scrape.Last, scrape.Max, scrape.Min, scrape.Mean, scrape.Sum}

// Try reads the log and gives a report for each rule, with at most so many lines of each sort.
func Try(log io.Reader, rules []string, show int) ([]*Report, error) {
	reports := make([]*Report, len(rules))
	scanners := make([]*scrape.Scanner, len(rules))
	writers := make([]io.Writer, len(rules))
	for i, text := range rules {
		rule, err := scrape.ParseRule(text)
		if err != nil {
			return nil, err
		}
		r := &Report{Rule: text, Reduce: rule.Reduce, Results: map[string]Value{}, Matches: []Line{}, Misses: []Line{}}
		every := make([]scrape.Rule, len(Reduces))
		for k, reduce := range Reduces {
			every[k] = rule
			every[k].Reduce = reduce
		}
		reports[i], scanners[i] = r, scrape.New(every, scrape.Explain(func(seen scrape.Seen) {
			if seen.Rule.Reduce == Reduces[0] { // the others see the same
				r.add(seen, show)
			}
		}))
		writers[i] = scanners[i]
	}
	if _, err := io.Copy(io.MultiWriter(writers...), JobOnly(log)); err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	for i, s := range scanners {
		_ = s.Close() // never fails
		for _, m := range s.Metrics() {
			reports[i].Points, reports[i].Ranks = m.Points, s.Ranks()
			if m.Points > 0 {
				reports[i].Results[string(m.Reduce)] = Value(m.Value)
			}
		}
	}
	return reports, nil
}

// add takes a line into the report while there is room.
func (r *Report) add(seen scrape.Seen, show int) {
	const most = 200 // bytes of a line
	l := Line{Line: seen.Line, Text: seen.Text, Unit: seen.Unit, Summary: seen.Summary, Miss: seen.Miss}
	if len(l.Text) > most {
		l.Text = strings.ToValidUTF8(l.Text[:most], "") + "..."
	}
	if seen.Rank != scrape.Unranked {
		l.Rank = &seen.Rank
	}
	list, more := &r.Misses, &r.MoreMisses
	if seen.Miss == "" {
		v := Value(seen.Value)
		l.Value = &v
		list, more = &r.Matches, &r.MoreMatches
	}
	if len(*list) < show {
		*list = append(*list, l)
	} else {
		*more++
	}
}
