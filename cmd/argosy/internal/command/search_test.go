package command

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTimesIn(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 8*60*60)
	asked := []string{"created>2d", "finished < 2026-11-01", "started>=2026-11-01T10:30", "created>2026-11-01T10:30:00Z", "created"}
	require.Equal(t, []string{"created>2d", "finished <2026-11-01+08:00", "started>=2026-11-01T10:30:00+08:00", "created>2026-11-01T10:30:00Z", "created"}, timesIn(asked, zone))
}
