package series

import (
	"cmp"
	"context"
	"slices"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
)

// Comparison is runs beside each other.
type Comparison struct {
	Runs       []run.Run
	Parameters []ComparedParameter
	Metrics    []ComparedMetric
	Series     []ComparedSeries
}

// ComparedParameter is one parameter; Values has those of the runs that have it, by their places in Comparison.Runs.
type ComparedParameter struct {
	Name   string
	Values map[int]string
	Same   bool // all runs have it, with the same value
}

// ComparedMetric is one metric of a step; Values has those of the runs that have it.
type ComparedMetric struct {
	Name, StepName, Format string
	Values                 map[int]float64
}

// ComparedSeries are the series of one metric of a step, of the lowest rank of each run that has them.
type ComparedSeries struct {
	Name, StepName string
	Curves         map[int]Curve
}

// Compare puts runs beside each other, with the series of some metrics, or of all when names is empty. With points NoPoints the series
// come without any.
func (r *Reader) Compare(ctx context.Context, ids, names []string, points int) (Comparison, error) {
	switch {
	case len(ids) < 2 || len(ids) > run.MostCompared:
		return Comparison{}, apierr.New(apierr.Invalid, "run_ids has %d runs; from 2 to %d can be compared", len(ids), run.MostCompared)
	case points != NoPoints && points < leastPoints:
		return Comparison{}, apierr.New(apierr.Invalid, "points is %d; a series cannot be thinned out to fewer than %d", points, leastPoints)
	}
	c := Comparison{}
	for i, id := range ids {
		found, err := r.store.Run(ctx, id)
		if err != nil {
			return Comparison{}, err
		}
		c.Runs = append(c.Runs, found)
		var nodes []string
		for _, m := range found.Metrics {
			nodes = append(nodes, m.NodeID)
		}
		slices.Sort(nodes)
		steps, err := r.store.StepNames(ctx, id, slices.Compact(nodes))
		if err != nil {
			return Comparison{}, err
		}
		for _, p := range slices.Concat(found.Parameters, found.Defaults) {
			c.parameter(p.Name).Values[i] = p.Value
		}
		for _, m := range found.Metrics {
			c.metric(m.Name, cmp.Or(steps[m.NodeID], m.NodeID), m.Format).Values[i] = m.Value
		}
		if err := r.compareSeries(ctx, &c, i, names, min(points, mostPoints)); err != nil {
			return Comparison{}, err
		}
	}
	for i := range c.Parameters {
		p := &c.Parameters[i]
		p.Same = len(p.Values) == len(ids)
		for _, v := range p.Values {
			p.Same = p.Same && v == p.Values[0]
		}
	}
	return c, nil
}

func (r *Reader) compareSeries(ctx context.Context, c *Comparison, i int, names []string, points int) error {
	curves, err := r.List(ctx, c.Runs[i].ID)
	if err != nil {
		return err
	}
	slices.SortStableFunc(curves, func(a, b Curve) int { return cmp.Compare(a.Rank, b.Rank) })
	for _, curve := range curves {
		if len(names) > 0 && !slices.Contains(names, curve.Name) {
			continue
		}
		s := c.series(curve.Name, cmp.Or(curve.StepName, curve.NodeID))
		if _, lower := s.Curves[i]; lower {
			continue
		}
		if points != NoPoints {
			if err := r.fill(ctx, c.Runs[i].ID, &curve, points, Part{}); err != nil {
				return err
			}
		}
		s.Curves[i] = curve
	}
	return nil
}

func (c *Comparison) parameter(name string) *ComparedParameter {
	i := slices.IndexFunc(c.Parameters, func(p ComparedParameter) bool { return p.Name == name })
	if i < 0 {
		i = len(c.Parameters)
		c.Parameters = append(c.Parameters, ComparedParameter{Name: name, Values: map[int]string{}})
	}
	return &c.Parameters[i]
}

func (c *Comparison) metric(name, step, format string) *ComparedMetric {
	i := slices.IndexFunc(c.Metrics, func(m ComparedMetric) bool { return m.Name == name && m.StepName == step })
	if i < 0 {
		i = len(c.Metrics)
		c.Metrics = append(c.Metrics, ComparedMetric{Name: name, StepName: step, Format: format, Values: map[int]float64{}})
	}
	return &c.Metrics[i]
}

func (c *Comparison) series(name, step string) *ComparedSeries {
	i := slices.IndexFunc(c.Series, func(s ComparedSeries) bool { return s.Name == name && s.StepName == step })
	if i < 0 {
		i = len(c.Series)
		c.Series = append(c.Series, ComparedSeries{Name: name, StepName: step, Curves: map[int]Curve{}})
	}
	return &c.Series[i]
}
