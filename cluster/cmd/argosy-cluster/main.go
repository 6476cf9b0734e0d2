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
	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/net/descriptor"
	"github.com/argosy-ml/argosy/cluster/node"
	"github.com/argosy-ml/argosy/cluster/storage/objectstore"
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
	if err := guardDescriptors(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "argosy-cluster:", err)
		os.Exit(exitFailed)
	}
	err := command().ExecuteContext(context.Background())
	klog.Flush()
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "argosy-cluster:", err)
	os.Exit(exitCode(err))
}

// guardDescriptors keeps what the caller had open from this process and from all that it starts: pods, and processes that live as long as
// the cluster. Only children of the supervisor are given descriptors.
func guardDescriptors(args []string) error {
	child := len(args) > 0 && (args[0] == objectStore || args[0] == nodeAgent)
	if !child {
		if err := descriptor.CloseInherited(); err != nil {
			return err
		}
	}
	return descriptor.KeepToSelf()
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
