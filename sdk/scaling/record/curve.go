package record

import "slices"

// Points is how many points of the curve of each rank are enough.
const Points = 100

// Curve is what one rank printed of the metric, in order.
type Curve struct {
	StepID, Step string // the id and the name of the step
	Rank         int
	Values       []float64
}

// SetRanks takes the typical value of each rank from the curves of the whole run.
func (m *Measurement) SetRanks(curves []Curve, of Metric) {
	own := slices.DeleteFunc(slices.Clone(curves), func(c Curve) bool {
		if m.steps != nil { // a pass of a loop
			return !slices.Contains(m.steps, c.StepID)
		}
		return of.Step != "" && c.Step != of.Step
	})
	m.Ranks = Ranks(own)
}

// Ranks gives the typical value of each rank, that of rank 0 first; nil when not all ranks printed some.
func Ranks(curves []Curve) (values []float64) {
	curves = slices.SortedFunc(slices.Values(curves), func(a, b Curve) int { return a.Rank - b.Rank })
	for i, c := range curves {
		typical := middle(c.Values)
		if c.Rank != i || typical <= 0 {
			return nil
		}
		values = append(values, typical)
	}
	return values
}

// middle is the median of the second half of the values, when the rank has warmed up.
func middle(values []float64) float64 {
	half := slices.Clone(values[len(values)/2:])
	if len(half) == 0 {
		return 0
	}
	slices.Sort(half)
	return half[len(half)/2]
}
