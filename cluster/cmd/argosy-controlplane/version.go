package main

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cluster/control/versions"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the cluster's components",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, ok := debug.ReadBuildInfo()
			if !ok {
				return errors.New("this binary was built without module information")
			}
			for _, c := range versions.Of(info) {
				fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", c.Name, c.Version)
			}
			return nil
		},
	}
}
