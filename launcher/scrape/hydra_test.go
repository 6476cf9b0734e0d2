package scrape_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/launcher/scrape"
)

func TestHydraWorld(t *testing.T) {
	t.Parallel()
	w, ok := scrape.HydraWorld([]byte("argosy: mpirun.mpich places ranks: 2 on a.x, 1 on b.x, 3 on a.x\n"))
	require.True(t, ok)
	require.Equal(t, scrape.World{Ranks: 6, Hosts: []string{"a.x", "b.x"}, PerHost: []int{5, 1}}, w)
	for _, line := range []string{"mpirun places ranks: 2 on a", "argosy: mpirun places ranks: ", "argosy: mpirun places ranks: two on a"} {
		_, ok := scrape.HydraWorld([]byte(line))
		require.False(t, ok, line)
	}
}
