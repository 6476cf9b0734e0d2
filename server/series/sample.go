package series

import "github.com/argosy-ml/argosy/server/run"

// Methods of thinning out.
const (
	Whole  = "none"
	MinMax = "min/max"
)

// Sampled is a curve that was thinned out, and how.
type Sampled struct {
	Points []run.Point
	Method string // Whole or MinMax
}

// Sampler thins a curve out while it is read: of each stretch of equally many points the extremes stay, and the curve's first and
// last point.
type Sampler struct {
	kept, each  int64
	begun       bool
	first, last run.Point // of all
	stretch     run.Extremes
	sampled     Sampled
}

// NewSampler makes a sampler that reduces a curve of so many points to at most so many, more than 4.
func NewSampler(of int64, most int) *Sampler {
	s := &Sampler{kept: 1, each: 1, sampled: Sampled{Method: Whole}}
	if of > int64(most) {
		stretches := int64(max(most-2, 2) / 2)
		s.kept, s.each = run.StretchFor((of + stretches - 1) / stretches)
		s.sampled.Method = MinMax
	}
	return s
}

// Needs returns how much of the curve the sampler has to be given: of each stretch of so many points, the extremes.
func (s *Sampler) Needs() (stretch int64) { return s.kept }

// Add takes the next point of the curve.
func (s *Sampler) Add(p run.Point) {
	switch {
	case s.each == 1:
		s.sampled.Points = append(s.sampled.Points, p)
	case !s.begun:
		s.first = p
	case p.Index/s.each != s.last.Index/s.each:
		s.close()
	}
	if s.each > 1 {
		s.stretch.Add(p)
	}
	s.last, s.begun = p, true
}

// close keeps what stays of a stretch.
func (s *Sampler) close() {
	for _, p := range s.stretch.Points() {
		s.keep(p)
	}
	s.stretch = run.Extremes{}
}

// keep adds a point after those that are kept, once.
func (s *Sampler) keep(p run.Point) {
	if n := len(s.sampled.Points); n == 0 || s.sampled.Points[n-1].Index < p.Index {
		s.sampled.Points = append(s.sampled.Points, p)
	}
}

// Done gives what stays.
func (s *Sampler) Done() Sampled {
	if s.each > 1 && s.begun {
		s.close()
		if s.sampled.Points[0].Index != s.first.Index {
			s.sampled.Points = append([]run.Point{s.first}, s.sampled.Points...)
		}
		s.keep(s.last)
	}
	return s.sampled
}
