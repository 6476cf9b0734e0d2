package main

import (
	"context"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/argosy-ml/argosy/launcher/job"
)

// A second SIGTERM, which ends a program that does not expect it, leaves the launcher time to delete its job. Not parallel: signals
// are the whole process's.
func TestSecondSIGTERM(t *testing.T) {
	runtime.LockOSThread() // a signal to the thread that sends it arrives before the call returns
	defer runtime.UnlockOSThread()
	ctx, stop := untilStopped()
	defer stop()
	for range 2 {
		require.NoError(t, unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGTERM))
		<-ctx.Done()
	}
	require.ErrorIs(t, context.Cause(ctx), job.ErrStopped)
}
