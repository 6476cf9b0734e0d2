package series

import (
	"time"

	"github.com/argosy-ml/argosy/server/run"
)

// Part is a part of curves between two steps or two times. A limit that is nil or zero limits nothing.
type Part struct {
	FromStep, ToStep *int64
	FromTime, ToTime time.Time
}

// in returns the points from the first within the part to the last, with one before them and one after them, so that lines reach the
// part's edges. If none is within, it returns those that the part lies between. A point without a time is within no part by time.
func (p Part) in(points []run.Point) []run.Point {
	first, end := len(points), 0
	for i, point := range points {
		early, late := p.misses(point)
		if !early {
			first = min(first, i)
		}
		if !late {
			end = i + 1
		}
	}
	first, end = max(first-1, 0), min(end+1, len(points))
	if first >= end {
		return nil
	}
	return points[first:end]
}

// misses tells whether a point lies before the part, after it, or both where it has no place.
func (p Part) misses(point run.Point) (early, late bool) {
	if p.FromStep != nil && point.Step < *p.FromStep {
		early = true
	}
	if p.ToStep != nil && point.Step > *p.ToStep {
		late = true
	}
	byTime := !p.FromTime.IsZero() || !p.ToTime.IsZero()
	if byTime && point.PrintedAt.IsZero() {
		return true, true
	}
	early = early || !p.FromTime.IsZero() && point.PrintedAt.Before(p.FromTime)
	late = late || !p.ToTime.IsZero() && point.PrintedAt.After(p.ToTime)
	return early, late
}
