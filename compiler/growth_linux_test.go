package compiler_test

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/compiler"
)

// Ten times the steps take about ten times as long: nothing is looked for in all steps for each of them. What counts
// is the time of the thread, which other tests and other programs do not lengthen as they do that on the clock.
func TestTimeGrowsWithSteps(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fastest := func(steps int) time.Duration {
		best := time.Hour
		for range 5 {
			start := threadTime(t)
			_, err := compiler.Compile(large(steps))
			require.NoError(t, err)
			best = min(best, threadTime(t)-start)
		}
		return best
	}
	small, big := fastest(300), fastest(3000)
	t.Logf("300 steps: %v, 3000 steps: %v", small, big)
	require.Less(t, big, 40*small)
}

func threadTime(t *testing.T) time.Duration {
	t.Helper()
	const thread = 1 // RUSAGE_THREAD
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(thread, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
