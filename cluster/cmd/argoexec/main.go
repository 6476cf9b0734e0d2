//go:build argoexec

// Command argoexec is Argo's own executor and, beside its commands, two more:
// quick-init and quick-wait. They are Argo's `init` and `wait`, from the same
// unmodified library, but they wait for the kernel to report the step's end
// instead of looking every second, and leave it to the kubelet to put the
// executor into the step's container. cluster/build/argoexec.sh builds it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // as Argo's own

	"github.com/argoproj/argo-workflows/v3/cmd/argoexec/commands"
	"github.com/argoproj/argo-workflows/v3/util"
	argoerrors "github.com/argoproj/argo-workflows/v3/util/errors"
)

// Exit codes of Argo's own program.
const (
	exitFault  = 64
	exitKilled = 137
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	root := commands.NewRootCommand()
	root.AddCommand(quickInit(), quickWait())
	if err := root.ExecuteContext(ctx); err != nil {
		os.Exit(exitCode(err))
	}
}

func exitCode(err error) int {
	var exited argoerrors.Exited
	switch {
	case errors.As(err, &exited) && exited.ExitCode() >= 0:
		return exited.ExitCode()
	case errors.As(err, &exited):
		return exitKilled
	}
	util.WriteTerminateMessage(err.Error()) // it becomes the message of the step
	fmt.Fprintln(os.Stderr, err)
	return exitFault
}
