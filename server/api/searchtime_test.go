package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAgedTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"-30m": "2026-11-20T11:30:00Z", "-12h": "2026-11-20T00:00:00Z", "-2d": "2026-11-18T12:00:00Z", "-1w": "2026-11-13T12:00:00Z",
	} {
		got, ok := agedTime("created_at", text, now)
		require.True(t, ok, text)
		require.Equal(t, want, got.Format(time.RFC3339), text)
	}
	for key, text := range map[string]string{"created_at": "2d", "started_at": "-2y", "name": "-2d"} {
		_, ok := agedTime(key, text, now)
		require.False(t, ok, key)
	}
}
