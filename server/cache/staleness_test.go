package cache_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/cache"
)

func TestMaxAge(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"P0D": 0, "PT0S": 0, "P30D": 30 * day, "PT3600S": time.Hour, "P1DT2H3M4S": day + 2*time.Hour + 3*time.Minute + 4*time.Second,
		"P2W": 14 * day, "P1Y1M": 395 * day,
	} {
		age, limited, err := cache.MaxAge(text)
		require.NoError(t, err, text)
		require.True(t, limited)
		require.Equal(t, want, age, text)
	}
	_, limited, err := cache.MaxAge("")
	require.NoError(t, err)
	require.False(t, limited)
	for _, text := range []string{"P", "PT", "P1DT", "1D", "P1H", "P-1D", "30 days", "P99999999999D", "P2147483647Y"} {
		_, _, err := cache.MaxAge(text)
		require.ErrorContains(t, err, "max_cache_staleness", text)
	}
}

func FuzzMaxAge(f *testing.F) {
	f.Add("P1DT2H")
	f.Add("P0D")
	f.Fuzz(func(t *testing.T, text string) {
		age, limited, err := cache.MaxAge(text)
		require.GreaterOrEqual(t, age, time.Duration(0))
		require.Equal(t, text != "", limited)
		if err != nil {
			require.Zero(t, age)
		}
	})
}
