package heap

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStart(t *testing.T) {
	t.Parallel()
	var w watch
	for range settled - 1 {
		require.False(t, w.saw(64<<20), "a start is no work")
	}
	require.True(t, w.saw(0), "its garbage is given back")
	require.False(t, w.busy)

	w = watch{}
	for range settled - 1 {
		require.False(t, w.saw(64<<20))
	}
	require.True(t, w.saw(64<<20), "it goes on")
	require.True(t, w.busy)
}

func TestBusyAndIdle(t *testing.T) {
	t.Parallel()
	w := watch{age: settled}
	require.True(t, w.saw(busyRate+1), "work is noticed at once")
	require.True(t, w.busy)
	for range settled - 1 {
		require.False(t, w.saw(1<<20), "a pause is not the end of work")
	}
	require.False(t, w.saw(64<<20))
	for range settled - 1 {
		require.False(t, w.saw(busyRate))
	}
	require.True(t, w.saw(0))
	require.False(t, w.busy)
	for range 100 {
		require.False(t, w.saw(busyRate), "it stays idle")
	}
}

func TestWorkIsNoticedBeforeTheIntervalIsOver(t *testing.T) {
	t.Parallel()
	w := watch{}
	require.False(t, w.hurry(busyBytes+1), "a start is no work")
	w.age = settled
	require.False(t, w.hurry(busyBytes))
	require.True(t, w.hurry(busyBytes+1))
	require.False(t, w.saw(busyBytes+1), "it is known already")
	require.True(t, w.busy)
}

func TestCollectionsAreAnnounced(t *testing.T) {
	t.Parallel()
	collections := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	announce(ctx, collections)
	for range 3 { // each of them
		runtime.GC()
		<-collections
	}
}
