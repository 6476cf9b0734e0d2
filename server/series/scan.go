// Package series turns the output of running steps into curves: the metrics that a distributed step looks for in its output, value by
// value, as rows in the store.
//
// It reads the step's log with the rules of its launcher (launcher/scrape). The position in the log is stored with the points, so a later
// scan, after a restart or when the log is complete, reads only new lines. A point is identified by its place in its series, so reading
// lines twice adds missing points and duplicates none.
package series

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/launcher/scrape"
	"github.com/argosy-ml/argosy/server/logs"
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
	read   int64     // number of the last line
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
	Next    int64 `json:"next"`              // index of the next point
	Step    int64 `json:"step"`              // of the last
	Stepped bool  `json:"stepped,omitempty"` // its lines name their steps
}

// state is what a scanner knows behind a line, as the store keeps it.
type state struct {
	Read   int64       `json:"read"`
	Tagged bool        `json:"tagged,omitempty"`
	Full   bool        `json:"full,omitempty"`
	Curves []curveKept `json:"curves,omitempty"`
}

type curveKept struct {
	Name string `json:"name"`
	Rank int    `json:"rank"`
	curve
}

// newScanner returns a scanner for rules as steps write them, which continues from a state. An invalid rule finds nothing; the step
// itself reports it.
func newScanner(rules []string, from state) *scanner {
	s := &scanner{rules: map[string]scrape.Rule{}, curves: map[curveKey]*curve{}, read: from.Read, full: from.Full}
	for _, c := range from.Curves {
		s.curves[curveKey{c.Name, c.Rank}] = &c.curve
		s.count += int(c.Next)
	}
	var parsed []scrape.Rule
	for _, text := range rules {
		if r, err := scrape.ParseRule(text); err == nil {
			s.rules[r.Name] = r
			parsed = append(parsed, r)
		}
	}
	options := []scrape.Option{scrape.OnPoint(s.point)}
	if from.Tagged {
		options = append(options, scrape.Tagged())
	}
	s.scan = scrape.New(parsed, options...)
	return s
}

// state gives what another scanner needs to go on, unless a rank is in the middle of a line.
func (s *scanner) state() (now state, ok bool) {
	now = state{Read: s.read, Full: s.full}
	if now.Tagged, ok = s.scan.Between(); !ok {
		return now, false
	}
	for k, c := range s.curves {
		now.Curves = append(now.Curves, curveKept{k.name, k.rank, *c})
	}
	slices.SortFunc(now.Curves, func(a, b curveKept) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Rank, b.Rank))
	})
	return now, true
}

// launcherSays begins lines of the launcher's own, which repeats the metrics as they are at the end.
var launcherSays = []byte(scrape.LauncherSays)

// line gives the points of a line.
func (s *scanner) line(l logs.Line) []run.Point {
	s.read, s.at, s.found = l.Number, l.At, nil
	if bytes.HasPrefix(l.Text, launcherSays) {
		return nil
	}
	_, _ = s.scan.Write(l.Text) // it never fails
	_, _ = s.scan.Write([]byte("\n"))
	return s.found
}

// point records a value. Its step is the one that its line names. If the step goes back, as in programs that count from 0 in
// each epoch, counting continues. If other lines name their steps, a line without a step is a summary and left out of the curve.
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
	if c.Stepped && !p.Stepped {
		return
	}
	if s.count == maxPoints {
		s.full = true
		return
	}
	s.count++
	c.Stepped = p.Stepped
	if p.Stepped && (p.Step > c.Step || c.Next == 0) {
		c.Step = p.Step
	} else {
		c.Step++
	}
	s.found = append(s.found, run.Point{
		Name: p.Metric, Rank: p.Rank, Format: string(s.rules[p.Metric].Format), Index: c.Next, Step: c.Step, PrintedAt: s.at, Value: p.Value,
	})
	c.Next++
}
