// Command argosy-controlplane is the upstream code of the embedded cluster:
// etcd with kube-apiserver, and the controllers. Each of its commands runs as a
// child of argosy-cluster, which stays small because it links none of this
// code.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	_ "github.com/argosy-ml/argosy/cluster/cmd/argosy-controlplane/internal/quiet"
	"github.com/argosy-ml/argosy/cluster/control/controllers"
	"github.com/argosy-ml/argosy/cluster/control/plane"
)

func main() {
	err := command().ExecuteContext(context.Background())
	klog.Flush()
	if err != nil {
		fmt.Fprintln(os.Stderr, "argosy-controlplane:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:           "argosy-controlplane",
		Short:         "The upstream components of the embedded cluster; started by argosy-cluster",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(plane.Command(), versionCommand())
	root.AddCommand(controllers.Commands()...)
	return root
}
