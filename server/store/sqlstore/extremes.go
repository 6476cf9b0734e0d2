package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"

	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlstore/internal/query"
)

// keepExtremes stores the extremes of the stretches that a series completed when it grew: of the shortest stretches from the
// points, of the longer ones from the extremes of the shorter.
func keepExtremes(ctx context.Context, q *query.Queries, series, before, size int64) error {
	for i, stretch := range run.Stretches(size) {
		first, end := before/stretch*stretch, size/stretch*stretch
		if first == end {
			return nil // no longer stretch can be complete either
		}
		var parts []run.Point
		var err error
		if i == 0 {
			parts, err = lastPoints(ctx, q, series, first, size)
		} else {
			parts, err = extremes(ctx, q, query.ExtremesBetweenParams{Series: series, Stretch: run.Stretches(size)[i-1], First: first, Below: end})
		}
		if err != nil {
			return err
		}
		stretches := map[int64]*run.Extremes{}
		for _, p := range parts {
			if p.Index >= end {
				break
			}
			if stretches[p.Index/stretch] == nil {
				stretches[p.Index/stretch] = &run.Extremes{}
			}
			stretches[p.Index/stretch].Add(p)
		}
		for _, s := range stretches {
			for _, p := range s.Points() {
				row := query.InsertExtremeParams{Series: series, Stretch: stretch, Place: p.Index, N: p.N, Step: p.Step, PrintedAt: micros(p.PrintedAt), Value: nullable(p.Value)}
				if err := q.InsertExtreme(ctx, row); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// lastPoints reads the points of a series from one on.
func lastPoints(ctx context.Context, q *query.Queries, series, first, size int64) ([]run.Point, error) {
	rows, err := q.LastPoints(ctx, query.LastPointsParams{Series: series, Limit: size - first})
	slices.Reverse(rows)
	points := make([]run.Point, len(rows))
	for i, r := range rows {
		points[i] = run.Point{N: r.N, Index: first + int64(i), Step: r.Step, PrintedAt: timeOf(r.PrintedAt), Value: number(r.Value)}
	}
	return points, err
}

func extremes(ctx context.Context, q *query.Queries, of query.ExtremesBetweenParams) ([]run.Point, error) {
	rows, err := q.ExtremesBetween(ctx, of)
	points := make([]run.Point, len(rows))
	for i, r := range rows {
		points[i] = run.Point{N: r.N, Index: r.Place, Step: r.Step, PrintedAt: timeOf(r.PrintedAt), Value: number(r.Value)}
	}
	return points, err
}

// PointsOf implements run.Curves. The points of the section before the first extreme that is kept and after the last are read as
// they are.
func (s *points) PointsOf(ctx context.Context, id, nodeID, name string, rank int, of run.Section, each func(run.Point)) error {
	q := s.read()
	row, err := q.RunRow(ctx, id)
	if err != nil {
		return missing("run", id, err)
	}
	series, err := q.SeriesOfRank(ctx, query.SeriesOfRankParams{Run: row.Seq, NodeID: nodeID, Name: name, Rank: int64(rank)})
	if err != nil {
		return missing("series", name, err)
	}
	give := func(p run.Point) {
		p.RunID, p.NodeID, p.Name, p.Rank = id, nodeID, name, rank
		each(p)
	}
	kept, err := extremes(ctx, q, query.ExtremesBetweenParams{Series: series, Stretch: of.Stretch, First: of.First, Below: of.End})
	if err != nil {
		return trouble("read the extremes of a series", err)
	}
	if len(kept) == 0 {
		return plainPoints(ctx, q, series, of.First, of.End, give)
	}
	if err := plainPoints(ctx, q, series, of.First, kept[0].Index, give); err != nil {
		return err
	}
	for _, p := range kept {
		give(p)
	}
	return plainPoints(ctx, q, series, kept[len(kept)-1].Index+1, of.End, give)
}

// plainPoints reads the points with the indexes from first to below end. Points do not have their index: it is counted from the
// nearest extreme, or from the first point where there is none.
func plainPoints(ctx context.Context, q *query.Queries, series, first, end int64, give func(run.Point)) error {
	if first >= end {
		return nil
	}
	before, err := q.ExtremeBefore(ctx, query.ExtremeBeforeParams{Series: series, Stretch: run.ShortestStretch, Place: first})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return trouble("read the extremes of a series", err)
	}
	after, err := q.ExtremeAfter(ctx, query.ExtremeAfterParams{Series: series, Stretch: run.ShortestStretch, Place: end})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		after.N = math.MaxInt64
	case err != nil:
		return trouble("read the extremes of a series", err)
	}
	rows, err := q.PointsBetween(ctx, query.PointsBetweenParams{Series: series, Above: before.N - 1, Below: after.N})
	for i, r := range rows {
		if index := before.Place + int64(i); first <= index && index < end {
			give(run.Point{N: r.N, Index: index, Step: r.Step, PrintedAt: timeOf(r.PrintedAt), Value: number(r.Value)})
		}
	}
	return trouble("read points", err)
}
