package series

import (
	"context"
	"maps"
	"slices"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
)

// Limits of how many points an answer has, by series.
const (
	NoPoints    = 0 // the series alone
	leastPoints = 4
	mostPoints  = 10_000
)

// Curve is a series with its points.
type Curve struct {
	run.Series
	StepName string // the step's own name
	Sampled
}

// Reader reads series.
type Reader struct{ store run.Store }

// NewReader makes a reader.
func NewReader(store run.Store) *Reader { return &Reader{store} }

// Query chooses series of a run.
type Query struct {
	Name   string // of the metric
	NodeID string // empty: of all nodes
	Rank   *int   // nil: of all ranks
	Points int    // at most so many of each
	Part   Part
}

// List gives the series of a run without their points.
func (r *Reader) List(ctx context.Context, id string) ([]Curve, error) {
	all, err := r.store.Series(ctx, id)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, s := range all {
		ids[s.NodeID] = true
	}
	names, err := r.store.StepNames(ctx, id, slices.Sorted(maps.Keys(ids)))
	curves := make([]Curve, len(all))
	for i, s := range all {
		curves[i] = Curve{Series: s, StepName: names[s.NodeID]}
	}
	return curves, err
}

// Curves gives series with their points. A metric that the run has not is NotFound.
func (r *Reader) Curves(ctx context.Context, id string, q Query) ([]Curve, error) {
	if q.Points < leastPoints {
		return nil, apierr.New(apierr.Invalid, "points is %d; a series cannot be thinned out to fewer than %d", q.Points, leastPoints)
	}
	all, err := r.List(ctx, id)
	if err != nil {
		return nil, err
	}
	chosen := slices.DeleteFunc(all, func(c Curve) bool {
		return c.Name != q.Name || q.NodeID != "" && c.NodeID != q.NodeID || q.Rank != nil && c.Rank != *q.Rank
	})
	if len(chosen) == 0 {
		return nil, apierr.New(apierr.NotFound, "run %s has no series of the metric %q; its series are listed at .../runs/%s/metrics", id, q.Name, id)
	}
	for i := range chosen {
		if err := r.fill(ctx, id, &chosen[i], min(q.Points, mostPoints), q.Part); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// fill reads the points of a part. It finds the part in a thinned curve and reads that section again, thinned less. It stops when the
// sampler leaves out no point, or when the section has more than three quarters of the points of the one before.
func (r *Reader) fill(ctx context.Context, id string, c *Curve, points int, part Part) error {
	for first, end := int64(0), c.Size; ; {
		s := NewSampler(end-first, points)
		of := run.Section{First: first, End: end, Stretch: s.Needs()}
		if err := r.store.PointsOf(ctx, id, c.NodeID, c.Name, c.Rank, of, s.Add); err != nil {
			return err
		}
		c.Sampled = s.Done()
		c.Points = part.in(c.Points)
		if part == (Part{}) || c.Method == Whole || len(c.Points) == 0 {
			return nil
		}
		before := end - first
		first, end = c.Points[0].Index, c.Points[len(c.Points)-1].Index+1
		if 4*(end-first) > 3*before {
			return nil
		}
	}
}
