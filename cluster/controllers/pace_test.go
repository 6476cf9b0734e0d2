package controllers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPaceFollowsWhatIsWritten(t *testing.T) {
	t.Parallel()
	var p pace
	now := time.Unix(0, 0)
	require.Equal(t, paceLeast+time.Millisecond, p.wait(now, 4<<10), "a small workflow")
	require.Equal(t, paceLeast+2*time.Millisecond, p.wait(now.Add(50*time.Millisecond), 4<<10))
	require.Equal(t, paceLeast+26*time.Millisecond, p.wait(now.Add(120*time.Millisecond), 100<<10), "what is long past counts no more")
	require.Equal(t, paceMost, p.wait(now.Add(130*time.Millisecond), 1<<20), "a large one")
	require.Equal(t, paceLeast+time.Millisecond, p.wait(now.Add(time.Second), 4<<10))
	require.Equal(t, paceLeast, p.wait(now.Add(2*time.Second), -1), "a length that is not known")
}
