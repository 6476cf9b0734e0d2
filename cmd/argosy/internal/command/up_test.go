//go:build unix

package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/test/leaks"
)

// The signal package's own goroutine stays once it was used.
func noLeaks(t *testing.T) {
	t.Helper()
	require.NoError(t, leaks.Find(goleak.IgnoreTopFunction("os/signal.signal_recv"), goleak.IgnoreTopFunction("os/signal.loop")))
}

// The tests of signals send them to this very process: not parallel.
func TestSignals(t *testing.T) {
	defer noLeaks(t)
	first, second, stop := signals(0)
	defer stop()
	require.NoError(t, syscall.Kill(syscall.Getpid(), syscall.SIGTERM))
	<-first.Done()
	require.ErrorIs(t, context.Cause(first), errInterrupted)
	require.NoError(t, second.Err(), "one signal asks, it does not force")
	require.NoError(t, syscall.Kill(syscall.Getpid(), syscall.SIGINT))
	<-second.Done()
}

func TestOneCtrlCThatArrivesTwice(t *testing.T) {
	defer noLeaks(t)
	first, second, stop := signals(time.Hour)
	require.NoError(t, syscall.Kill(syscall.Getpid(), syscall.SIGINT))
	<-first.Done()
	came := make(chan os.Signal, 1)
	signal.Notify(came, syscall.SIGTERM)
	defer signal.Stop(came)
	require.NoError(t, syscall.Kill(syscall.Getpid(), syscall.SIGTERM))
	<-came
	require.NoError(t, second.Err())
	stop()
	require.NotErrorIs(t, context.Cause(second), errInterrupted)
}

func TestSignalsStop(t *testing.T) {
	defer noLeaks(t)
	first, second, stop := signals(0)
	stop()
	require.ErrorIs(t, first.Err(), context.Canceled)
	require.ErrorIs(t, second.Err(), context.Canceled)
	require.NotErrorIs(t, context.Cause(first), errInterrupted)
}

func TestInterruptedStartIsNoFailure(t *testing.T) {
	t.Parallel()
	require.NoError(t, interruptedOr(exit.With(exit.Environment, errors.Join(errInterrupted, nil))))
	broken := exit.Environmentf("no room")
	require.Equal(t, broken, interruptedOr(broken))
}

func TestNameOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"a/mpi_run.tar.gz": "mpi_run", "x.yaml": "x", "mpi_run.py.tar.gz": "mpi_run.py", "plain": "plain", ".yaml": ".yaml", "v1.2.zip": "v1.2",
	} {
		require.Equal(t, want, nameOf(path), path)
	}
}
