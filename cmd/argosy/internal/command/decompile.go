package command

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/compiler/decompile"
)

func (c packages) decompile() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "decompile FILE [-o main.go]", Short: "Turn a package into a Go program that compiles back to it",
		Long: `Decompile reads a package (.tar.gz, .zip, .yaml, .json; - is YAML on standard input), made by Argosy, by the Python SDK of
Kubeflow Pipelines or by hand for Argo, and writes a Go program with the DSL. Compiled, the program gives a workflow that does
the same; argosy diff verifies it. Features that the DSL lacks are refused, each with its line and reason.`,
		Example: `  argosy new my-pipeline
  argosy decompile old.tar.gz -o my-pipeline/main.go
  argosy compile my-pipeline -o - | argosy diff old.tar.gz -`,
		Args:              args(cobra.ExactArgs(1), "one file, or - for standard input"),
		ValidArgsFunction: completePackages,
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := c.readPackage(args[0])
			if err != nil {
				return err
			}
			source, err := decompile.Source(text)
			if faults := decompile.Faults(nil); errors.As(err, &faults) {
				lines := make([]string, len(faults))
				for i, f := range faults {
					lines[i] = fmt.Sprintf("%s:%d:%d: %s", args[0], f.Line, f.Column, f.Message)
					if f.Path != "" {
						lines[i] += " (" + f.Path + ")"
					}
				}
				return errors.New(strings.Join(lines, "\n"))
			}
			if err != nil {
				return exit.With(exit.Usage, fmt.Errorf("%s: %w", args[0], err))
			}
			if out == "" || out == "-" {
				_, err = c.out.Write(source)
				return err
			}
			if err := os.WriteFile(out, source, 0o644); err != nil {
				return exit.With(exit.Usage, err)
			}
			return nil
		},
	}
	// The -o of decompile is a file, so it takes the place of the -o that all commands have.
	cmd.Flags().StringVarP(&out, "output", "o", "", "`file` to write (default: standard output)")
	return cmd
}
