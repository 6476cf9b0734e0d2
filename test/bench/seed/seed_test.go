package seed_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/sqlite"
	"github.com/argosy-ml/argosy/test/bench/seed"
)

// TestFill reads back through the store, run by run, what was filled in behind its back.
func TestFill(t *testing.T) {
	t.Parallel()
	const runs = 1500
	w := seed.NewWorld(7, runs)
	file := filepath.Join(t.TempDir(), "argosy.db")
	require.NoError(t, seed.Fill(t.Context(), file, w))
	require.NoError(t, seed.FillCurves(t.Context(), file, w, seed.Curves{Runs: 2, Metrics: 3, Points: 40}))
	s, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	for i := 0; i < runs; i += 7 {
		want := seed.NewWorld(7, runs).Run(i)
		got, err := s.Run(t.Context(), want.ID)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	last := w.Run(runs - 1)
	nodes, err := s.Nodes(t.Context(), last.ID)
	require.NoError(t, err)
	require.ElementsMatch(t, w.Nodes(last), nodes)
	manifest, err := s.RunManifest(t.Context(), last.ID)
	require.NoError(t, err)
	require.Contains(t, string(manifest), last.VersionName)
	p, err := s.Runs(t.Context(), listing.Query{Size: 1}, run.Scope{ExperimentID: w.Experiments[0].ID})
	require.NoError(t, err)
	require.Greater(t, p.Total, int64(runs/4), "one experiment has most of the runs")
	newest := []run.Run{}
	for i := runs - 1; len(newest) < 3; i-- {
		if r := w.Run(i); r.Status == run.Succeeded {
			newest = append(newest, r)
		}
	}
	for i, curves := range []int{3, 3, 0} {
		series, err := s.Series(t.Context(), newest[i].ID)
		require.NoError(t, err)
		require.Len(t, series, curves)
		for _, one := range series {
			require.EqualValues(t, 40, one.Size)
		}
	}
	require.NotEqual(t, w.Run(3).ID, seed.NewWorld(8, runs).Run(3).ID)
}
