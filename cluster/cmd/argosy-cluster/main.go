// Command argosy-cluster runs a whole Kubernetes cluster for training jobs on
// one machine: a supervisor and its children. Those that are upstream's code are
// commands of argosy-controlplane, which lies beside it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/argosy-ml/argosy/cluster/doctor"
	"github.com/argosy-ml/argosy/cluster/home"
	"github.com/argosy-ml/argosy/cluster/node"
	"github.com/argosy-ml/argosy/cluster/objectstore"
)

// Exit codes that other programs may rely on; any other failure is 1.
const (
	exitFailed    = 1
	exitLocked    = 3 // another process runs a cluster on the same data folder
	exitNoSandbox = 4 // the kernel refuses the namespaces that pods need
)

// version is the release; the build sets it.
var version = "dev"

func main() {
	err := command().ExecuteContext(context.Background())
	klog.Flush()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "argosy-cluster:", err)
	os.Exit(exitCode(err))
}

func exitCode(err error) int {
	var held *home.HeldError
	var refused *doctor.Refused
	switch {
	case errors.As(err, &held):
		return exitLocked
	case errors.As(err, &refused):
		return exitNoSandbox
	default:
		return exitFailed
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:           "argosy-cluster",
		Short:         "A Kubernetes cluster for training jobs on one machine",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(upCommand(), stopCommand(), statusCommand(), imageCommand(), doctorCommand(), versionCommand())
	// Children of the supervisor; the others are commands of argosy-controlplane.
	root.AddCommand(objectstore.Command(), node.Command())
	return root
}

// homeFlag adds the flag that every command of a user has.
func homeFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "home", "", "data folder of the cluster (required)")
	if err := cmd.MarkFlagRequired("home"); err != nil {
		panic(err) // the flag was added in the line above
	}
}
