package main

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// components are the modules whose versions matter to a user.
var components = []struct{ name, module string }{
	{"kubernetes", "k8s.io/kubernetes"},
	{"etcd", "go.etcd.io/etcd/server/v3"},
	{"argo-workflows", "github.com/argoproj/argo-workflows/v3"},
	{"mpi-operator", "github.com/kubeflow/mpi-operator"},
	{"training-operator", "github.com/kubeflow/training-operator"},
	{"volcano", "volcano.sh/volcano"},
}

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
			versions := map[string]string{}
			for _, m := range info.Deps {
				if m.Replace != nil && m.Replace.Version != "" {
					m = m.Replace
				}
				versions[m.Path] = m.Version
			}
			for _, c := range components {
				fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", c.name, versions[c.module])
			}
			return nil
		},
	}
}
