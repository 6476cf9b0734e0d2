package scrape

import (
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

// Scanner is a writer of log bytes that collects metrics. It is not safe for
// concurrent use, and its memory is bounded whatever is written.
type Scanner struct {
	series  []*series
	split   *splitter
	ranks   map[int]struct{}
	onPoint func(Point)
	explain func(Seen)
}

// New makes a scanner for the rules.
func New(rules []Rule, options ...Option) *Scanner {
	s := &Scanner{ranks: map[int]struct{}{}}
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
	s.split.write(p)
	return len(p), nil
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

// Ranks is the number of ranks that printed something under a tag of their own.
// A rank that prints nothing is not counted, so it is a lower bound.
func (s *Scanner) Ranks() int { return len(s.ranks) }

// Between tells whether the scanner stands between two lines of every rank. From there another scanner finds the same points
// in the rest of the log, if it gets the value of tagged: whether ranks' tags were seen.
func (s *Scanner) Between() (tagged, ok bool) {
	return s.split.sure, len(s.split.held) == 0 && len(s.split.raw) == 0
}

func (s *Scanner) line(rank int, line []byte) {
	// "3: " may be a rank or an epoch: only tags that cannot be anything else count.
	if rank != Unranked && s.split.sure && len(s.ranks) < maxRanks {
		s.ranks[rank] = struct{}{}
	}
	for _, x := range s.series {
		m, ok := x.rule.match(line)
		if x.rule.Format == Percentage && m.unit == "%" {
			m.value /= 100
		}
		if s.explain != nil {
			s.told(x.rule, rank, line, m, ok)
		}
		if !ok {
			continue
		}
		x.add(rank, m)
		if s.onPoint != nil {
			p := Point{Metric: x.rule.Name, Rank: rank, Value: m.value, Unit: m.unit}
			p.Step, p.Stepped = stepOf(line)
			s.onPoint(p)
		}
	}
}

// series is what is kept of a metric's values.
type series struct {
	rule     Rule
	points   int
	last     float64
	min, max float64         // of the values that are numbers
	byRank   map[int]float64 // each rank's last value, summaries aside
	summary  *float64        // the last summary
}

func newSeries(r Rule) *series {
	if r.Format == "" {
		r.Format = Raw
	}
	if r.Reduce == "" {
		r.Reduce = Last
	}
	return &series{rule: r, min: math.NaN(), max: math.NaN(), byRank: map[int]float64{}}
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
		x.summary = &v
		return
	}
	if _, known := x.byRank[rank]; known || len(x.byRank) < maxRanks {
		x.byRank[rank] = v
	}
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
	case reduce == Sum && x.summary != nil, reduce == Mean && len(x.byRank) == 0:
		m.Value = *x.summary
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
