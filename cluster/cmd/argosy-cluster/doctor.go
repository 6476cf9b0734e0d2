package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cluster/doctor"
	"github.com/argosy-ml/argosy/cluster/host/home"
)

func doctorCommand() *cobra.Command {
	var dir, format string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at what this machine has for a cluster, and say how to mend what is missing (exit code 1: something blocks)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := home.At(dir)
			if err != nil {
				return err
			}
			findings := doctor.Judge(doctor.Look(cmd.Context(), h))
			if format == "json" {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				err = e.Encode(doctor.Report{Version: version, Findings: findings})
			} else {
				printFindings(cmd, findings)
			}
			for _, f := range findings {
				if f.Level == doctor.Block && err == nil {
					err = fmt.Errorf("%s: the cluster cannot run like this", f.Check)
				}
			}
			return err
		},
	}
	homeFlag(cmd, &dir)
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	cmd.AddCommand(&cobra.Command{
		Use: "try-overlays FOLDER", Args: cobra.ExactArgs(1), Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error { return doctor.TryOverlays(args[0]) },
	})
	return cmd
}

func printFindings(cmd *cobra.Command, findings []doctor.Finding) {
	for _, f := range findings {
		fmt.Fprintf(cmd.OutOrStdout(), "%-5s  %-11s  %s\n", f.Level, f.Check, f.Says)
		for _, m := range f.Mend {
			fmt.Fprintf(cmd.OutOrStdout(), "           %s\n", m)
		}
	}
}
