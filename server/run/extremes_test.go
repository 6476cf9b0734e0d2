package run

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExtremesOfParts: the extremes of a stretch follow from those of its parts.
func TestExtremesOfParts(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		values []float64
		want   []int64
	}{
		"the least and the greatest, in their order": {[]float64{3, 9, 2, 4, 1, 5}, []int64{1, 4}},
		"the first of equal ones":                    {[]float64{1, 9, 1, 9, 1, 9}, []int64{0, 1}},
		"one that is both":                           {[]float64{2, 2, 2, 2}, []int64{0}},
		"finite ones before others":                  {[]float64{nan, inf, 2, nan, -inf, 7}, []int64{2, 5}},
		"the first where none is finite":             {[]float64{inf, nan, nan, nan}, []int64{0}},
		"none of nothing":                            {nil, nil},
	} {
		for part := 1; part <= 3; part++ {
			var whole, composed, of Extremes
			for i, v := range c.values {
				p := Point{Index: int64(i), Value: v}
				whole.Add(p)
				of.Add(p)
				if (i+1)%part == 0 || i == len(c.values)-1 {
					for _, p := range of.Points() {
						composed.Add(p)
					}
					of = Extremes{}
				}
			}
			var got []int64
			for _, p := range whole.Points() {
				got = append(got, p.Index)
			}
			require.Equal(t, c.want, got, name)
			require.Len(t, composed.Points(), len(whole.Points()), name)
			for i, p := range composed.Points() {
				require.Equal(t, got[i], p.Index, "%s, of parts of %d", name, part)
			}
		}
	}
}

func TestStretchFor(t *testing.T) {
	t.Parallel()
	require.Equal(t, []int64{16, 64, 256}, Stretches(1000))
	for points := int64(1); points < 5000; points++ {
		kept, composed := StretchFor(points)
		require.GreaterOrEqual(t, composed, points)
		require.LessOrEqual(t, float64(composed), 1.5*float64(points)+1, "of %d", points)
		require.Zero(t, composed%kept)
		require.True(t, kept == 1 || kept >= 16)
	}
	kept, composed := StretchFor(102)
	require.Equal(t, []int64{64, 128}, []int64{kept, composed}, "ten thousand points for a chart of two hundred")
}
