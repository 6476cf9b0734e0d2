package compiler_test

import (
	"math"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
)

// One pipeline of 3000 steps takes about as long as ten of 300: nothing is looked for in all steps for each of them.
// What counts is the time of the thread, which other tests and other programs lengthen less than that on the clock,
// and the round that was disturbed least.
func TestTimeGrowsWithSteps(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	compile := func(pipelines, steps int) float64 {
		start := threadTime(t)
		for range pipelines {
			_, err := compiler.Compile(large(steps))
			require.NoError(t, err)
		}
		return float64(threadTime(t) - start)
	}
	least := math.Inf(1)
	for range 5 {
		few := compile(10, 300)
		least = min(least, compile(1, 3000)/few)
	}
	t.Logf("one of 3000 steps takes %.2f times as long as ten of 300", least)
	require.Less(t, least, 4.0)
}

func threadTime(t *testing.T) time.Duration {
	t.Helper()
	const thread = 1 // RUSAGE_THREAD
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(thread, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
