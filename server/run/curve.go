package run

import (
	"math"
	"regexp"
	"slices"
)

// Curve says how a metric went while a run printed it: over all points of all ranks and steps.
type Curve struct {
	Name, Format    string
	Last            float64 // the value that came last; NaN: it is not finite
	Least, Greatest float64 // of the finite values; NaN: there is none
	Newest          int64   // number of the last point among those of all runs
}

// CurveOf is a curve of one point. Join makes longer ones of it.
func CurveOf(p Point) Curve {
	return Curve{Name: p.Name, Format: p.Format, Last: finite(p.Value), Least: finite(p.Value), Greatest: finite(p.Value), Newest: p.N}
}

// Join adds a curve of the same metric: that of another rank, or one that goes on.
func (c Curve) Join(other Curve) Curve {
	c.Least, c.Greatest = beyond(math.Min, c.Least, other.Least), beyond(math.Max, c.Greatest, other.Greatest)
	if other.Newest > c.Newest {
		c.Last, c.Newest = other.Last, other.Newest
	}
	return c
}

// JoinCurves joins those with the same name; the order is that of the first of each.
func JoinCurves(curves []Curve, c Curve) []Curve {
	at := slices.IndexFunc(curves, func(known Curve) bool { return known.Name == c.Name })
	if at < 0 {
		return append(curves, c)
	}
	curves[at] = curves[at].Join(c)
	return curves
}

// Figures gives the numbers of a curve by the names that filters and orders of runs know them by: last(loss), min(loss), max(loss).
// The name of a metric has no parentheses, so these names are free.
func (c Curve) Figures() map[string]float64 {
	return map[string]float64{"last(" + c.Name + ")": c.Last, "min(" + c.Name + ")": c.Least, "max(" + c.Name + ")": c.Greatest}
}

// figure matches the names that Figures gives.
var figure = regexp.MustCompile(`^(last|min|max)\((.+)\)$`)

// MetricOfFigure returns the metric of a curve's number; ok is false for all other names.
func MetricOfFigure(name string) (metric string, ok bool) {
	if m := figure.FindStringSubmatch(name); m != nil {
		return m[2], true
	}
	return "", false
}

// beyond chooses one of two values. NaN is never chosen over a number.
func beyond(choose func(a, b float64) float64, a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return choose(a, b)
}

// finite makes NaN of infinities, which not every database keeps.
func finite(v float64) float64 {
	if math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}
