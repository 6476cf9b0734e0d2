package run

import (
	"context"
	"math"
	"time"
)

// Unranked is the rank of values that no single rank printed.
const Unranked = -1

// Series is one curve: the values of a metric that one rank of a step printed while it ran.
type Series struct {
	NodeID, Name string
	Rank         int // Unranked: of no rank
	Format       string
	Size         int64 // its points
}

// Point is one value of a series.
type Point struct {
	N            int64 // number of the point among those of all runs, in the order of their coming
	RunID        string
	NodeID, Name string
	Rank         int
	Format       string
	Index        int64 // of the point in its series, from 0
	Step         int64
	PrintedAt    time.Time // zero: not known
	Value        float64   // may be NaN
}

// Section is the points of a series with the indexes from First to below End. With a Stretch of 1 it has all of them; with
// another one of those of Stretches a reader may leave out all but the first, the last and the Extremes of each stretch of so many points.
type Section struct{ First, End, Stretch int64 }

// WholeSeries is a section of all points.
func WholeSeries(stretch int64) Section { return Section{End: math.MaxInt64, Stretch: stretch} }

// Curves is the part of the store that keeps series.
type Curves interface {
	// AddPoints stores the points of a step whose pod is the one named. Points that are there already, by their index, are
	// passed over, so that reading a log again changes nothing; it tells how many were new.
	AddPoints(ctx context.Context, id, nodeID, pod string, points []Point) (added int, err error)
	// SetScanned keeps how far the log of a step's pod was scanned for points, in a form of the caller's; Scanned gives it,
	// nothing where there is nothing of that pod. If the step's curves have grown since, the run counts as changed, so that
	// lists show their newest values.
	SetScanned(ctx context.Context, id, nodeID, pod string, state []byte, grown bool) error
	Scanned(ctx context.Context, id, nodeID, pod string) (state []byte, err error)
	// Points gives up to so many points of a run, or of all runs for an empty id, that came after a number.
	Points(ctx context.Context, id string, after int64, most int) ([]Point, error)
	// Series lists the series of a run.
	Series(ctx context.Context, id string) ([]Series, error)
	// PointsOf gives the points of a section of a series in their order.
	PointsOf(ctx context.Context, id, nodeID, name string, rank int, of Section, each func(Point)) error
	// StepNames returns the display names of some nodes of a run, by id.
	StepNames(ctx context.Context, id string, nodeIDs []string) (map[string]string, error)
}
