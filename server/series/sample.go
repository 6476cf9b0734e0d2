package series

import (
	"math"

	"github.com/argosy-ml/argosy/server/run"
)

// Methods of thinning out.
const (
	Whole  = "none"
	MinMax = "min/max"
)

// Sampled is a curve that was thinned out, and how.
type Sampled struct {
	Points []run.Point
	Method string // Whole or MinMax
	Of     int64  // points there are
}

// Sampler thins a curve out while it is read: of each stretch of equally many points the least and the greatest stay, in
// their order, so that no peak is lost and none is made up; and the curve's first and last point stay. Of values that are not
// finite, which have no place among the others, the first of each stretch stays.
type Sampler struct {
	of, each int64
	first    *run.Point // of all
	last     run.Point
	low, top *run.Point // of the stretch
	odd      *run.Point // not finite
	sampled  Sampled
}

// NewSampler makes a sampler that reduces a curve of so many points to at most so many, more than 4.
func NewSampler(of int64, most int) *Sampler {
	s := &Sampler{of: of, each: 1, sampled: Sampled{Method: Whole}}
	if of > int64(most) {
		stretches := int64(max(most-2, 2) / 2)
		s.each, s.sampled.Method = (of+stretches-1)/stretches, MinMax
	}
	return s
}

// Add takes the next point of the curve.
func (s *Sampler) Add(p run.Point) {
	if s.sampled.Of++; s.each == 1 {
		s.sampled.Points = append(s.sampled.Points, p)
		return
	}
	if s.last = p; s.first == nil {
		s.first = &p
	}
	switch {
	case math.IsNaN(p.Value) || math.IsInf(p.Value, 0):
		if s.odd == nil {
			s.odd = &p
		}
	default:
		if s.low == nil || p.Value < s.low.Value {
			s.low = &p
		}
		if s.top == nil || p.Value > s.top.Value {
			s.top = &p
		}
	}
	if s.sampled.Of%s.each == 0 {
		s.close()
	}
}

// close keeps what stays of a stretch.
func (s *Sampler) close() {
	kept := []*run.Point{s.low, s.top}
	if s.low == nil {
		kept = []*run.Point{s.odd}
	} else if s.top.Index < s.low.Index {
		kept = []*run.Point{s.top, s.low}
	}
	for _, p := range kept {
		s.keep(p)
	}
	s.low, s.top, s.odd = nil, nil, nil
}

// keep adds a point after those that are kept, once.
func (s *Sampler) keep(p *run.Point) {
	if n := len(s.sampled.Points); p != nil && (n == 0 || s.sampled.Points[n-1].Index < p.Index) {
		s.sampled.Points = append(s.sampled.Points, *p)
	}
}

// Done gives what stays.
func (s *Sampler) Done() Sampled {
	if s.each > 1 && s.first != nil {
		if s.low != nil || s.odd != nil {
			s.close()
		}
		if s.sampled.Points[0].Index != s.first.Index {
			s.sampled.Points = append([]run.Point{*s.first}, s.sampled.Points...)
		}
		s.keep(&s.last)
	}
	return s.sampled
}
