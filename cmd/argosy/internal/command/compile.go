package command

import (
	"errors"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/compiler"
)

func (c *cli) compileCommand() *cobra.Command {
	var out, pipeline string
	cmd := &cobra.Command{
		Use: "compile DIR -o FILE", Short: "Compile a pipeline written in Go to a package",
		Long: `Compile builds and runs the pipeline program in DIR (a package main that calls compiler.Main) and writes what it records
as an Argo Workflow: FILE ends in .tar.gz, .tgz, .zip or .yaml, is - for YAML on standard output, or is a folder that
gets a package for each pipeline. It needs the Go toolchain.`,
		Example: "  argosy compile samples/mpi_run -o mpi_run.tar.gz\n  argosy compile samples/mpi_run -o -",
		Args:    args(cobra.ExactArgs(1), "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return exit.Usagef("say where to write the package: -o pipeline.tar.gz")
			}
			if info, err := os.Stat(args[0]); err != nil || !info.IsDir() {
				return exit.Usagef("%s is no folder", args[0])
			}
			err := compiler.CompileDir(cmd.Context(), args[0], out, pipeline, c.out)
			if _, missing := exec.LookPath("go"); err != nil && errors.Is(missing, exec.ErrNotFound) {
				return exit.With(exit.Environment, err)
			}
			return err
		},
	}
	// The -o of compile is a file, so it takes the place of the -o that all commands have.
	cmd.Flags().StringVarP(&out, "output", "o", "", "`file` to write; - is standard output")
	cmd.Flags().StringVar(&pipeline, "pipeline", "", "`name` of the pipeline, where the program has several")
	must(cmd.RegisterFlagCompletionFunc("pipeline", cobra.NoFileCompletions))
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return cmd
}
