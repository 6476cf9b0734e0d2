package jobs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/client"
)

// curve is what a rank printed.
func curve(rank int, values ...float64) client.Series {
	s := client.Series{Name: "images/sec", Rank: rank}
	for i := range values {
		s.Points = append(s.Points, client.SeriesPoint{Value: &values[i]})
	}
	return s
}

func worker(pod string, first, last int) client.Worker {
	return client.Worker{Pod: pod, FirstRank: &first, LastRank: &last}
}

// A worker more than a tenth slower than the median is a straggler; what was long ago does not count, nor one slow step.
func TestSpeeds(t *testing.T) {
	t.Parallel()
	steady := []float64{1, 1, 1, 100, 100, 100, 100, 100, 100, 100, 100, 100, 3}
	found := []client.Series{curve(0, steady...), curve(1, 100), curve(2, 110), curve(3, 90), curve(4, 50), curve(5, 60), curve(6), curve(-1, 7)}
	speeds := speedsOf([]client.Worker{worker("a", 0, 1), worker("b", 2, 3), worker("c", 4, 5), worker("silent", 6, 7), {Pod: "launcher"}}, found)
	require.Len(t, speeds, 3)
	require.Equal(t, Speed{Value: 100}, *speeds["a"])
	require.Equal(t, Speed{Value: 100}, *speeds["b"])
	require.InDelta(t, -0.45, speeds["c"].Deviation, 1e-9)
	require.True(t, speeds["c"].Straggler)
	require.Equal(t, "55.0 (straggler -45%)", speeds["c"].String())
	require.Equal(t, "100.0", speeds["a"].String())
	require.Empty(t, speeds["silent"].String())

	require.Equal(t, "2 x 150.0 images/sec", throughput([]client.Series{curve(0, 100), curve(1, 200)}).String())
	require.Equal(t, "7.0 images/sec", throughput([]client.Series{curve(-1, 7), curve(3)}).String())
	require.Nil(t, throughput([]client.Series{curve(0)}))
	require.Empty(t, throughput(nil).String())
	r := &client.Run{Metrics: []client.Metric{{Name: "loss", NodeID: "n"}, {Name: "images/sec", NodeID: "other", Value: 1}, {Name: "images/sec", NodeID: "n", Value: 134.66}}}
	require.Equal(t, &Throughput{Metric: "images/sec", Value: 134.66, Final: true}, reported(r, "n"))
}
