package api

import (
	"context"
	"time"

	argosyv1 "github.com/argosy-ml/argosy/proto/argosy/v1"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/series"
)

// How many points of a series are given unless said.
const (
	defaultPoints         = 500
	defaultComparedPoints = 200
)

type metrics struct {
	argosyv1.UnimplementedMetricServiceServer
	reader *series.Reader
}

func (s *metrics) ListSeries(ctx context.Context, r *argosyv1.ListSeriesRequest) (*argosyv1.ListSeriesResponse, error) {
	curves, err := s.reader.List(ctx, r.GetRunId())
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.ListSeriesResponse{}
	for _, c := range curves {
		answer.Series = append(answer.Series, ownSeries(c, nil))
	}
	return answer, nil
}

func (s *metrics) GetSeries(ctx context.Context, r *argosyv1.GetSeriesRequest) (*argosyv1.GetSeriesResponse, error) {
	q := series.Query{Name: r.GetName(), NodeID: r.GetNodeId(), Points: int(r.GetPoints())}
	var err error
	if q.Part, err = partOf(r); err != nil {
		return nil, err
	}
	if q.Points == 0 {
		q.Points = defaultPoints
	}
	if r.Rank != nil {
		rank := int(r.GetRank())
		q.Rank = &rank
	}
	curves, err := s.reader.Curves(ctx, r.GetRunId(), q)
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.GetSeriesResponse{}
	for _, c := range curves {
		answer.Series = append(answer.Series, ownSeries(c, nil))
	}
	return answer, nil
}

func partOf(r *argosyv1.GetSeriesRequest) (series.Part, error) {
	part := series.Part{FromStep: r.FromStep, ToStep: r.ToStep, FromTime: timeOf(r.GetFromTime()), ToTime: timeOf(r.GetToTime())}
	switch {
	case part.FromStep != nil && part.ToStep != nil && *part.FromStep > *part.ToStep:
		return part, apierr.New(apierr.Invalid, "from_step %d is after to_step %d", *part.FromStep, *part.ToStep)
	case !part.ToTime.IsZero() && part.FromTime.After(part.ToTime):
		return part, apierr.New(apierr.Invalid, "from_time %s is after to_time %s", part.FromTime.Format(time.RFC3339), part.ToTime.Format(time.RFC3339))
	}
	return part, nil
}

func (s *metrics) CompareRuns(ctx context.Context, r *argosyv1.CompareRunsRequest) (*argosyv1.Comparison, error) {
	points := int(r.GetPoints())
	switch {
	case r.GetWithoutPoints():
		points = series.NoPoints
	case points == 0:
		points = defaultComparedPoints
	}
	align := r.GetAlign()
	switch align {
	case "":
		align = "step"
	case "step", "time":
	default:
		return nil, apierr.New(apierr.Invalid, "align is %q; it can be step or time", align)
	}
	c, err := s.reader.Compare(ctx, r.GetRunIds(), r.GetMetrics(), points)
	if err != nil {
		return nil, err
	}
	answer := &argosyv1.Comparison{Align: align}
	for _, found := range c.Runs {
		answer.Runs = append(answer.Runs, RunView(found, nil))
	}
	for _, p := range c.Parameters {
		row := &argosyv1.ComparedParameter{Name: p.Name, Same: p.Same}
		for i, found := range c.Runs {
			if v, ok := p.Values[i]; ok {
				row.Values = append(row.Values, &argosyv1.ComparedText{RunId: found.ID, Value: v})
			}
		}
		answer.Parameters = append(answer.Parameters, row)
	}
	for _, m := range c.Metrics {
		row := &argosyv1.ComparedMetric{Name: m.Name, StepName: m.StepName, Format: m.Format}
		for i, found := range c.Runs {
			if v, ok := m.Values[i]; ok {
				row.Values = append(row.Values, &argosyv1.ComparedNumber{RunId: found.ID, Value: &v})
			}
		}
		answer.Metrics = append(answer.Metrics, row)
	}
	for _, s := range c.Series {
		row := &argosyv1.ComparedSeries{Name: s.Name, StepName: s.StepName}
		for i, found := range c.Runs {
			if curve, ok := s.Curves[i]; ok {
				row.Runs = append(row.Runs, &argosyv1.RunSeries{RunId: found.ID, Series: ownSeries(curve, axis(align, found))})
			}
		}
		answer.Series = append(answer.Series, row)
	}
	return answer, nil
}

// axis gives the place of a point in a comparison; a point without one is left out.
func axis(align string, of run.Run) func(run.Point) *float64 {
	return func(p run.Point) *float64 {
		x := float64(p.Step)
		if align == "time" {
			if p.PrintedAt.IsZero() || of.StartedAt.IsZero() {
				return nil
			}
			x = float64(p.PrintedAt.Sub(of.StartedAt)) / float64(time.Second)
		}
		return &x
	}
}

// ownSeries is a series as argosy.v1 shows it; with x nil, of a single run.
func ownSeries(c series.Curve, x func(run.Point) *float64) *argosyv1.Series {
	s := &argosyv1.Series{
		NodeId: c.NodeID, StepName: c.StepName, Name: c.Name, Rank: int32(c.Rank), Format: c.Format, Total: c.Size, Sampling: c.Method,
	}
	for _, p := range c.Points {
		point := &argosyv1.SeriesPoint{Step: p.Step, PrintedAt: ownTime(p.PrintedAt), Value: finite(p.Value)}
		if x != nil {
			if point.X = x(p); point.X == nil {
				continue
			}
		}
		s.Points = append(s.Points, point)
	}
	return s
}
