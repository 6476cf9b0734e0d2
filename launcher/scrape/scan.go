package scrape

import (
	"bytes"
	"maps"
	"math"
	"slices"
)

// maxRanks bounds for how many ranks a scanner keeps values.
const maxRanks = 1 << 16

// Point is one value of a metric as a rank printed it.
type Point struct {
	// Metric is the rule's name.
	Metric string
	// Rank is who printed it, Unranked when the line carries no tag.
	Rank int
	// Value may be NaN or infinite, when that was printed.
	Value float64
	// Unit is the word behind the number, often empty.
	Unit string
	// Step is the number of the step that the same line names, if Stepped.
	Step    int64
	Stepped bool
}

// Metric is what a rule made of all its points.
type Metric struct {
	Rule
	// Value is the reduced value; NaN or infinite when the job printed so.
	Value float64
	// Points is how many values were seen; with 0, Value means nothing.
	Points int
}

// Finite tells whether the metric was seen and its value is a number that JSON can hold.
func (m Metric) Finite() bool {
	return m.Points > 0 && !math.IsNaN(m.Value) && !math.IsInf(m.Value, 0)
}

// Option changes a Scanner.
type Option func(*Scanner)

// OnPoint has f called for every point, in the order of the log.
func OnPoint(f func(Point)) Option {
	return func(s *Scanner) { s.onPoint = f }
}

// Tagged says that ranks' tags were seen before in the log that is scanned on (see Scanner.Between).
func Tagged() Option {
	return func(s *Scanner) { s.split.sure = true }
}

// Scanner is a writer of log bytes that collects metrics. It is not safe for concurrent use. Its memory is bounded for any input.
type Scanner struct {
	series  []*series
	split   *splitter
	skim    *skimmer // nil when rules read every line
	ranks   rankSet
	onPoint func(Point)
	explain func(Seen)
}

// New makes a scanner for the rules.
func New(rules []Rule, options ...Option) *Scanner {
	s := &Scanner{skim: newSkimmer(rules)}
	s.split = newSplitter(s.line)
	for _, r := range rules {
		s.series = append(s.series, newSeries(r))
	}
	for _, o := range options {
		o(s)
	}
	return s
}

// Write takes the next bytes of the log, cut anywhere. It never fails.
func (s *Scanner) Write(p []byte) (int, error) {
	if s.skim == nil || s.explain != nil {
		s.split.write(p)
		return len(p), nil
	}
	s.skim.over(p)
	for from := 0; from < len(p); {
		end := bytes.IndexByte(p[from:], '\n')
		if end < 0 {
			s.split.write(p[from:])
			break
		}
		end += from
		if !s.plain(from, end) {
			s.split.write(p[from : end+1])
		}
		from = end + 1
	}
	s.skim.piece = nil // the caller's
	return len(p), nil
}

// plain reads a line that needs no splitting, and returns false for any other. Most such lines hold no metric and cost no more than a look.
func (s *Scanner) plain(from, end int) bool {
	if !s.split.fresh() {
		return false
	}
	rank, text, ok := s.skim.plain(from, end)
	named := ok && s.skim.named(from, end)
	if !ok || named && rank == Unranked && !s.split.sure { // its tag may be one that is believed at the start of a line
		return false
	}
	s.split.sure = s.split.sure || rank != Unranked
	switch {
	case text == end:
	case named:
		s.count(rank)
		for i, x := range s.series {
			if m, found := s.skim.last(i, text, end); found {
				s.found(x, rank, s.skim.piece[text:end], x.rule.scaled(m))
			}
		}
	default:
		s.count(rank)
	}
	return true
}

// Close takes a last line that has no line end. It never fails.
func (s *Scanner) Close() error {
	s.split.close()
	return nil
}

// Metrics returns one entry per rule, in the order of the rules.
func (s *Scanner) Metrics() []Metric {
	metrics := make([]Metric, 0, len(s.series))
	for _, x := range s.series {
		metrics = append(metrics, x.metric())
	}
	return metrics
}

// Ranks returns the number of ranks that printed something under their own tag. It is a lower bound, since a rank may print nothing.
func (s *Scanner) Ranks() int { return s.ranks.size }

// Between reports whether the scanner is between two lines of every rank. A new scanner that starts there finds the same points in the rest
// of the log, given the value of tagged: whether rank tags were seen.
func (s *Scanner) Between() (tagged, ok bool) {
	return s.split.sure, s.split.between()
}

func (s *Scanner) line(rank int, line []byte) {
	s.count(rank)
	for _, x := range s.series {
		m, ok := x.rule.match(line, x.name)
		m = x.rule.scaled(m)
		if s.explain != nil {
			s.told(x.rule, rank, line, m, ok)
		}
		if ok {
			s.found(x, rank, line, m)
		}
	}
}

// count takes note of a rank that printed something. "3: " may be a rank or an epoch: only tags that cannot be anything else count.
func (s *Scanner) count(rank int) {
	if rank != Unranked && s.split.sure {
		s.ranks.add(rank)
	}
}

// found takes a value that a rule found in a line.
func (s *Scanner) found(x *series, rank int, line []byte, m match) {
	x.add(rank, m)
	if s.onPoint != nil {
		p := Point{Metric: x.rule.Name, Rank: rank, Value: m.value, Unit: string(m.unit)}
		p.Step, p.Stepped = stepOf(line)
		s.onPoint(p)
	}
}

// rankSet is the ranks that were seen, at most maxRanks: a bit for each.
type rankSet struct {
	bits []uint64
	size int
}

func (s *rankSet) add(rank int) {
	at, bit := rank/64, uint64(1)<<(rank%64)
	switch {
	case at < len(s.bits) && s.bits[at]&bit != 0, s.size == maxRanks:
		return
	case at >= len(s.bits):
		s.bits = append(s.bits, make([]uint64, at+1-len(s.bits))...)
	}
	s.bits[at] |= bit
	s.size++
}

// series is what is kept of a metric's values.
type series struct {
	rule     Rule
	name     []byte // the rule's
	points   int
	last     float64
	min, max float64         // of the values that are numbers
	byRank   map[int]float64 // each rank's last value, summaries aside
	summary  float64         // the last, if there was one
	summed   bool
}

func newSeries(r Rule) *series {
	if r.Format == "" {
		r.Format = Raw
	}
	if r.Reduce == "" {
		r.Reduce = Last
	}
	return &series{rule: r, name: []byte(r.Name), min: math.NaN(), max: math.NaN(), byRank: map[int]float64{}}
}

func (x *series) add(rank int, m match) {
	v := m.value
	x.points++
	x.last = v
	if math.IsNaN(x.min) || v < x.min {
		x.min = v
	}
	if math.IsNaN(x.max) || v > x.max {
		x.max = v
	}
	if m.summary {
		x.summary, x.summed = v, true
		return
	}
	if len(x.byRank) == maxRanks {
		if _, known := x.byRank[rank]; !known {
			return
		}
	}
	x.byRank[rank] = v
}

func (x *series) metric() Metric {
	m := Metric{Rule: x.rule, Points: x.points}
	if x.points == 0 {
		return m
	}
	switch reduce := x.rule.Reduce; {
	case reduce == Max:
		m.Value = x.max
	case reduce == Min:
		m.Value = x.min
	case reduce == Sum && x.summed, reduce == Mean && len(x.byRank) == 0:
		m.Value = x.summary
	case reduce == Sum:
		m.Value = x.sum()
	case reduce == Mean:
		m.Value = x.sum() / float64(len(x.byRank))
	default:
		m.Value = x.last
	}
	return m
}

func (x *series) sum() float64 {
	sum := 0.0
	for _, rank := range slices.Sorted(maps.Keys(x.byRank)) { // in order: float addition is not associative
		sum += x.byRank[rank]
	}
	return sum
}
