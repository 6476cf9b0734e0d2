package record

import "slices"

// Points is how many points of the curve of each rank are enough.
const Points = 100

// Curve is what one rank printed of the metric, in order.
type Curve struct {
	Rank   int
	Values []float64
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
