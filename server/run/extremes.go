package run

import "math"

// The store keeps the extremes of stretches of ShortestStretch, 4*ShortestStretch, 16*ShortestStretch... points.
const (
	ShortestStretch = 16
	longer          = 4
)

// Stretches lists the lengths of stretches that a series of so many points has, the shortest first; each is a multiple of the
// one before.
func Stretches(points int64) (lengths []int64) {
	for n := int64(ShortestStretch); n <= points; n *= longer {
		lengths = append(lengths, n)
	}
	return lengths
}

// StretchFor returns the length of the stretches from which a reader composes stretches of at least so many points, and the
// length that it gets, at most half as long again. A reader of shorter stretches reads every point: kept is then 1.
func StretchFor(points int64) (kept, composed int64) {
	kept = 1
	for _, n := range Stretches(points * 2 / 3) {
		kept = n
	}
	return kept, (points + kept - 1) / kept * kept
}

// Extremes finds the points that stand for a stretch of a curve: the least and the greatest, so that no peak is lost and none is
// made up. Values that are not finite have no place among the others: the first of them stands for a stretch of nothing else.
// The extremes of a stretch follow from those of its parts.
type Extremes struct {
	least, greatest, odd Point
	finite, strange      bool // whether there are points of each kind
}

// Add takes the next point of the stretch.
func (e *Extremes) Add(p Point) {
	if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
		if !e.strange {
			e.odd, e.strange = p, true
		}
		return
	}
	if !e.finite || p.Value < e.least.Value {
		e.least = p
	}
	if !e.finite || p.Value > e.greatest.Value {
		e.greatest = p
	}
	e.finite = true
}

// Points gives what stands for the stretch, in the order of the curve: up to two points.
func (e *Extremes) Points() []Point {
	switch {
	case !e.finite && !e.strange:
		return nil
	case !e.finite:
		return []Point{e.odd}
	case e.least.Index == e.greatest.Index:
		return []Point{e.least}
	case e.least.Index < e.greatest.Index:
		return []Point{e.least, e.greatest}
	}
	return []Point{e.greatest, e.least}
}
