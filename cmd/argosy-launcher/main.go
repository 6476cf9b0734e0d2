// Command argosy-launcher runs inside the steps of a pipeline: it launches
// distributed jobs, and it fetches the code for them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/argosy-ml/argosy/cmd/internal/version"
	"github.com/argosy-ml/argosy/launcher/job"
)

// Exit codes beside those of the user's command.
const (
	exitFailed  = 1
	exitUsage   = 2
	exitStopped = 143 // as after SIGTERM
)

func main() {
	klog.SetLogger(logr.Discard()) // client-go's own remarks; what matters comes back as errors
	ctx, stop := untilStopped()
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// untilStopped returns a context that ends with job.ErrStopped at the first SIGTERM or SIGINT; stop releases it. A second Ctrl-C ends
// the program at once. A second SIGTERM, which a pod may get, does not: the launcher needs the time to delete its job.
func untilStopped() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-signals:
			signal.Reset(syscall.SIGINT)
			cancel(job.ErrStopped)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-ended
		signal.Stop(signals)
	}
}

// usageError is a command line that cannot be understood.
type usageError struct{ error }

// run executes a command line and returns the exit code.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	root := &cobra.Command{
		Use:           "argosy-launcher",
		Short:         "Runs distributed jobs for the steps of a pipeline",
		Version:       version.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w (see %s --help)", err, c.CommandPath())}
	})
	root.AddCommand(gitSyncCommand(), arenaCommand())
	for _, kind := range job.Kinds() {
		root.AddCommand(jobCommand(kind))
	}

	err := root.ExecuteContext(ctx)
	var failed *job.FailedError
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &failed):
		if err.Error() != failed.Error() { // the cause itself is in the job's output already
			_, _ = fmt.Fprintln(errs, "argosy-launcher:", err)
		}
		return failed.Code
	case errors.Is(err, job.ErrStopped), errors.Is(context.Cause(ctx), job.ErrStopped):
		_, _ = fmt.Fprintln(errs, "argosy-launcher:", err)
		return exitStopped
	}
	_, _ = fmt.Fprintln(errs, "argosy-launcher:", err)
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}
