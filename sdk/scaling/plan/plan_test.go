package plan_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/sdk/scaling/plan"
)

func TestOrder(t *testing.T) {
	t.Parallel()
	cells := []string{"a", "b", "c", "d"}
	all := plan.Order(cells, 4, 1)
	require.Len(t, all, 16)
	require.Equal(t, []string{"a", "b", "c", "d"}, cells, "the given list stays as it is")
	round := func(n int) (names []string) {
		for _, trial := range all[4*(n-1) : 4*n] {
			require.Equal(t, n, trial.Repeat)
			names = append(names, trial.Cell)
		}
		return names
	}
	for n := 1; n <= 4; n++ {
		require.ElementsMatch(t, cells, round(n))
	}
	back := round(2)
	slices.Reverse(back)
	require.Equal(t, round(1), back)
	require.Equal(t, all[:8], plan.Order(cells, 2, 1), "more repeats begin with those of fewer")
	require.NotEqual(t, all, plan.Order(cells, 4, 2))
}
