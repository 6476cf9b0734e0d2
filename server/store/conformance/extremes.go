package conformance

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/run"
)

// seriesExtremes: a thinned series has the first point, the last and the extremes of every stretch, however the points came.
func seriesExtremes(t *testing.T, s Store) {
	ctx := t.Context()
	accept(t, s, newRun(1))
	_, err := s.Record(ctx, "run-001", newState(run.Running))
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	var all []run.Point
	for i := range int64(1100) {
		p := run.Point{NodeID: "step", Name: "loss", Rank: 3, Index: i, Step: 10 * i, PrintedAt: at(int(i)), Value: float64(random.IntN(1000))}
		if i/16 == 5 || i%50 == 7 {
			p.Value = math.NaN()
		}
		all = append(all, p)
	}
	read := func(stretch int64) (points []run.Point) {
		require.NoError(t, s.PointsOf(ctx, "run-001", "step", "loss", 3, run.WholeSeries(stretch), func(p run.Point) {
			p.N, p.RunID, p.PrintedAt = 0, "", p.PrintedAt.In(time.UTC)
			points = append(points, p)
		}))
		return points
	}
	for have := 0; have < len(all); {
		batch := min(1+random.IntN(90), len(all)-have)
		added, err := s.AddPoints(ctx, "run-001", "step", "wf-step-1", all[have:have+batch])
		require.NoError(t, err)
		require.Equal(t, batch, added)
		have += batch
		for _, stretch := range append(run.Stretches(int64(have)), 1) {
			thinned := read(stretch)
			require.Equal(t, indexes(all[:1]), indexes(thinned[:1]), "%d of %d", stretch, have)
			require.Equal(t, indexes(all[have-1:have]), indexes(thinned[len(thinned)-1:]), "%d of %d", stretch, have)
			require.IsIncreasing(t, append([]int64{-1}, indexes(thinned)...))
			require.LessOrEqual(t, int64(len(thinned)), 2*int64(have)/stretch+2*stretch, "%d of %d", stretch, have)
			require.Equal(t, standing(all[:have], stretch), standing(thinned, stretch), "%d of %d", stretch, have)
		}
	}
	require.Equal(t, indexes(all), indexes(read(1)))
	for range 50 {
		first := int64(random.IntN(len(all)))
		end := first + 1 + int64(random.IntN(len(all)-int(first)))
		for _, stretch := range append(run.Stretches(end-first), 1) {
			var section []run.Point
			require.NoError(t, s.PointsOf(ctx, "run-001", "step", "loss", 3, run.Section{First: first, End: end, Stretch: stretch}, func(p run.Point) {
				section = append(section, p)
			}))
			part := indexes(all[first:end])
			require.Subset(t, part, indexes(section))
			if stretch == 1 {
				require.Equal(t, part, indexes(section))
			}
			for _, index := range part { // stretches that the section has a part of alone are read whole
				if begins := index / stretch * stretch; begins >= first && begins+stretch <= end && index == begins {
					want := standing(all[begins:begins+stretch], stretch)[0]
					require.Subset(t, indexes(section), want, "%d to %d, stretch %d", first, end, stretch)
				}
			}
		}
	}
	require.Equal(t, all[0], read(64)[0])
}

// standing gives the indexes of the points that stand for each stretch.
func standing(points []run.Point, stretch int64) (kept [][]int64) {
	var e run.Extremes
	for i, p := range points {
		e.Add(p)
		if i == len(points)-1 || points[i+1].Index/stretch != p.Index/stretch {
			kept = append(kept, indexes(e.Points()))
			e = run.Extremes{}
		}
	}
	return kept
}

func indexes(points []run.Point) []int64 {
	of := make([]int64, len(points))
	for i, p := range points {
		of[i] = p.Index
	}
	return of
}
