// Package series turns what steps print while they run into curves: the metrics that a distributed step looks for in its
// output, value by value, as rows in the store.
//
// The source is the step's log and the rules are those of its launcher (launcher/scrape). A log is always scanned from its
// beginning, and a point is known by its place in its series, so scanning again, after a restart or once more when the log is
// complete, adds what is missing and doubles nothing.
package series

import (
	"bytes"
	"time"

	"github.com/argosy-ml/argosy/launcher/scrape"
	"github.com/argosy-ml/argosy/server/run"
)

// Limits of one step, whatever it prints.
const (
	maxPoints = 1_000_000
	maxCurves = 1000 // names times ranks
)

// scanner finds the points in the lines of one log.
type scanner struct {
	rules  map[string]scrape.Rule
	scan   *scrape.Scanner
	curves map[curveKey]*curve
	count  int
	at     time.Time // of the line being read
	found  []run.Point
	full   bool // some were left out
}

type curveKey struct {
	name string
	rank int
}

// curve is how far a series is.
type curve struct {
	next    int64 // index of the next point
	step    int64 // of the last
	stepped bool  // its lines name their steps
}

// newScanner makes a scanner for rules as steps write them; one that is no rule finds nothing, as the step itself will say.
func newScanner(rules []string) *scanner {
	s := &scanner{rules: map[string]scrape.Rule{}, curves: map[curveKey]*curve{}}
	var parsed []scrape.Rule
	for _, text := range rules {
		if r, err := scrape.ParseRule(text); err == nil {
			s.rules[r.Name] = r
			parsed = append(parsed, r)
		}
	}
	s.scan = scrape.New(parsed, scrape.OnPoint(s.point))
	return s
}

// launcherSays begins lines of the launcher's own, which repeats the metrics as they are at the end.
var launcherSays = []byte("argosy: ")

// line gives the points of a line, which comes without its end.
func (s *scanner) line(text []byte, at time.Time) []run.Point {
	if bytes.HasPrefix(text, launcherSays) {
		return nil
	}
	s.at, s.found = at, nil
	_, _ = s.scan.Write(text) // it never fails
	_, _ = s.scan.Write([]byte("\n"))
	return s.found
}

// point takes note of a value. Its step is the one that its line names. A step that goes back, as where each epoch counts
// anew, is counted on; and where lines name their steps, a line without one is a summary, and no point of the curve.
func (s *scanner) point(p scrape.Point) {
	key := curveKey{p.Metric, p.Rank}
	c := s.curves[key]
	if c == nil {
		if len(s.curves) == maxCurves {
			s.full = true
			return
		}
		c = &curve{}
		s.curves[key] = c
	}
	if c.stepped && !p.Stepped {
		return
	}
	if s.count == maxPoints {
		s.full = true
		return
	}
	s.count++
	c.stepped = p.Stepped
	if p.Stepped && (p.Step > c.step || c.next == 0) {
		c.step = p.Step
	} else {
		c.step++
	}
	s.found = append(s.found, run.Point{
		Name: p.Metric, Rank: p.Rank, Format: string(s.rules[p.Metric].Format), Index: c.next, Step: c.step, PrintedAt: s.at, Value: p.Value,
	})
	c.next++
}
