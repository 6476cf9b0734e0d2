// Package node is the node half of the embedded cluster: the sandbox of
// namespaces that pods live in, the relays between it and the host's loopback,
// and the holder that keeps a kubelet running inside.
package node

import (
	"errors"

	"github.com/spf13/cobra"
)

// Command is the subcommand `node` of argosy-cluster. The supervisor starts it
// with the kubelet's HTTPS listener as file descriptor 3.
func Command() *cobra.Command {
	var home string
	var port int
	cmd := &cobra.Command{
		Use:    "node",
		Short:  "Run the node: its sandbox and the kubelet inside",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return errors.New("the node is not built yet")
		},
	}
	cmd.Flags().StringVar(&home, "home", "", "data folder of the cluster")
	cmd.Flags().IntVar(&port, "port", 0, "port of the kubelet's listener, for the Node object")
	return cmd
}
