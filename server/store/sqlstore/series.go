package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"math"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

type seriesKey struct {
	name string
	rank int64
}

// AddPoints implements run.Curves.
func (s *points) AddPoints(ctx context.Context, id, nodeID, pod string, points []run.Point) (added int, err error) {
	err = s.change(ctx, id, func(q *query.Queries, row query.Run) error {
		added = 0
		of, err := q.NodePod(ctx, query.NodePodParams{Run: row.Seq, ID: nodeID})
		if err != nil {
			return missing("step", nodeID, err)
		}
		if of != pod {
			return apierr.New(apierr.Aborted, "step %s runs again", nodeID)
		}
		rows, err := q.SeriesOfNode(ctx, query.SeriesOfNodeParams{Run: row.Seq, NodeID: nodeID})
		if err != nil {
			return trouble("read series", err)
		}
		known, before := map[seriesKey]*query.Series{}, map[seriesKey]int64{}
		for i := range rows {
			k := seriesKey{rows[i].Name, rows[i].Rank}
			known[k], before[k] = &rows[i], rows[i].Size
		}
		fresh := points[:0:0]
		for _, p := range points {
			k := seriesKey{p.Name, int64(p.Rank)}
			if known[k] == nil {
				seq, err := q.InsertSeries(ctx, query.InsertSeriesParams{Run: row.Seq, NodeID: nodeID, Name: p.Name, Rank: k.rank, Format: p.Format})
				if err != nil {
					return trouble("insert series", err)
				}
				known[k] = &query.Series{Seq: seq, Name: p.Name}
			}
			switch size := &known[k].Size; {
			case p.Index == *size:
				*size++
				fresh = append(fresh, p)
			case p.Index > *size:
				return apierr.New(apierr.Internal, "point %d of %s comes before point %d", p.Index, p.Name, *size)
			}
		}
		if added = len(fresh); added == 0 {
			return nil
		}
		return insertPoints(ctx, q, fresh, known, before)
	})
	return added, err
}

func insertPoints(ctx context.Context, q *query.Queries, points []run.Point, known map[seriesKey]*query.Series, before map[seriesKey]int64) error {
	last, err := q.TakePoints(ctx, int64(len(points)))
	if err != nil {
		return trouble("number points", err)
	}
	first := last - int64(len(points)) + 1
	curves := map[seriesKey]run.Curve{}
	for i, p := range points {
		k := seriesKey{p.Name, int64(p.Rank)}
		p.N = first + int64(i)
		err := q.InsertPoint(ctx, query.InsertPointParams{
			N: p.N, Series: known[k].Seq, Step: p.Step, PrintedAt: micros(p.PrintedAt), Value: nullable(p.Value),
		})
		if err != nil {
			return trouble("insert point", err)
		}
		curve, begun := curves[k]
		switch {
		case begun:
			curves[k] = curve.Join(run.CurveOf(p))
		case before[k] > 0:
			s := known[k]
			curves[k] = curveOf(s.Name, s.Format, s.Least, s.Greatest, s.Latest, s.Newest).Join(run.CurveOf(p))
		default:
			curves[k] = run.CurveOf(p)
		}
	}
	for k, c := range curves {
		grown := query.GrowSeriesParams{
			Seq: known[k].Seq, Size: known[k].Size, Least: nullable(c.Least), Greatest: nullable(c.Greatest), Latest: nullable(c.Last), Newest: c.Newest,
		}
		if err := q.GrowSeries(ctx, grown); err != nil {
			return trouble("grow series", err)
		}
	}
	for k, series := range known {
		if err := keepExtremes(ctx, q, series.Seq, before[k], series.Size); err != nil {
			return trouble("keep the extremes of a series", err)
		}
	}
	return nil
}

// SetScanned implements run.Curves.
func (s *points) SetScanned(ctx context.Context, id, nodeID, pod string, state []byte, grown bool) error {
	return s.change(ctx, id, func(q *query.Queries, row query.Run) error {
		of, err := q.NodePod(ctx, query.NodePodParams{Run: row.Seq, ID: nodeID})
		if err != nil {
			return missing("step", nodeID, err)
		}
		if of != pod {
			return apierr.New(apierr.Aborted, "step %s runs again", nodeID)
		}
		if err := q.SetScan(ctx, query.SetScanParams{Run: row.Seq, NodeID: nodeID, Pod: pod, State: string(state)}); err != nil || !grown {
			return trouble("keep a scan", err)
		}
		_, err = bump(ctx, q, row)
		return err
	})
}

// Scanned implements run.Curves.
func (s *points) Scanned(ctx context.Context, id, nodeID, pod string) ([]byte, error) {
	state, err := s.read().Scan(ctx, query.ScanParams{ID: id, NodeID: nodeID, Pod: pod})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return []byte(state), trouble("read a scan", err)
}

// Points implements run.Curves.
func (s *points) Points(ctx context.Context, id string, after int64, most int) (points []run.Point, err error) {
	var rows []query.PointsOfAllRow
	if id == "" {
		rows, err = s.read().PointsOfAll(ctx, query.PointsOfAllParams{Above: after, Most: int64(most)})
	} else {
		var row query.Run
		if row, err = s.read().RunRow(ctx, id); err != nil {
			return nil, missing("run", id, err)
		}
		var own []query.PointsOfRunRow
		own, err = s.read().PointsOfRun(ctx, query.PointsOfRunParams{Run: row.Seq, Above: after, Most: int64(most)})
		for _, p := range own {
			rows = append(rows, query.PointsOfAllRow{
				N: p.N, Step: p.Step, PrintedAt: p.PrintedAt, Value: p.Value, NodeID: p.NodeID, Name: p.Name, Rank: p.Rank, RunID: id,
			})
		}
	}
	for _, p := range rows {
		points = append(points, run.Point{
			N: p.N, RunID: p.RunID, NodeID: p.NodeID, Name: p.Name, Rank: int(p.Rank), Step: p.Step, PrintedAt: timeOf(p.PrintedAt), Value: number(p.Value),
		})
	}
	return points, trouble("read points", err)
}

// Series implements run.Curves.
func (s *points) Series(ctx context.Context, id string) ([]run.Series, error) {
	row, err := s.read().RunRow(ctx, id)
	if err != nil {
		return nil, missing("run", id, err)
	}
	rows, err := s.read().Series(ctx, row.Seq)
	series := make([]run.Series, len(rows))
	for i, r := range rows {
		series[i] = run.Series{NodeID: r.NodeID, Name: r.Name, Rank: int(r.Rank), Format: r.Format, Size: r.Size}
	}
	return series, trouble("read series", err)
}

// StepNames implements run.Curves.
func (s *points) StepNames(ctx context.Context, id string, nodeIDs []string) (map[string]string, error) {
	if len(nodeIDs) == 0 {
		return nil, nil
	}
	rows, err := s.read().NodeNames(ctx, query.NodeNamesParams{RunID: id, Ids: nodeIDs})
	names := make(map[string]string, len(rows))
	for _, row := range rows {
		names[row.ID] = row.DisplayName
	}
	return names, trouble("read the names of nodes", err)
}

// curveOf is what a series keeps of its points for lists.
func curveOf(name, format string, least, greatest, latest sql.NullFloat64, newest int64) run.Curve {
	return run.Curve{Name: name, Format: format, Last: number(latest), Least: number(least), Greatest: number(greatest), Newest: newest}
}

// nullable is NULL for a value that is not finite: not every database keeps these.
func nullable(value float64) sql.NullFloat64 {
	return sql.NullFloat64{Float64: value, Valid: !math.IsNaN(value) && !math.IsInf(value, 0)}
}

func number(v sql.NullFloat64) float64 {
	if !v.Valid {
		return math.NaN()
	}
	return v.Float64
}
