package seed

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlite"
)

// Curves is the number of runs that get curves, the metrics of each run, and the points of each metric.
type Curves struct{ Runs, Metrics, Points int }

// FillCurves adds curves to the newest runs that succeeded, in a store that Fill has made.
func FillCurves(ctx context.Context, file string, w *World, c Curves) error {
	s, err := sqlite.Open(ctx, file)
	if err != nil {
		return err
	}
	for i, filled := w.Runs-1, 0; i >= max(0, w.Runs-withNodes) && filled < c.Runs && err == nil; i-- {
		if r := w.Run(i); r.Status == run.Succeeded {
			train := w.Nodes(r)[2]
			_, err = s.AddPoints(ctx, r.ID, train.ID, train.PodName, c.of(filled))
			filled++
		}
	}
	return errors.Join(err, s.Close())
}

// of gives the points of a run's curves in the order in which a step prints them. Each curve falls like a loss, with its own swing.
func (c Curves) of(number int) []run.Point {
	points := make([]run.Point, 0, c.Metrics*c.Points)
	for i := range c.Points {
		for m := range c.Metrics {
			x := float64(i) / float64(c.Points)
			value := math.Exp(-3*x)*float64(1+m) + 0.1*math.Sin(float64(i+7*number+3*m))
			points = append(points, run.Point{Name: fmt.Sprintf("loss_%02d", m), Rank: -1, Format: "RAW", Index: int64(i), Step: int64(i + 1), Value: value})
		}
	}
	return points
}
