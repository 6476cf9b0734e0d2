package command

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/kfparena"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/submit"
	"github.com/argosy-ml/argosy/compiler/decompile"
)

const importHelp = `Arena reads a command line of Arena that starts a job, in quotes or on standard input (-), and prints a Go program whose pipeline
runs the same job. Compile it, or change it first:

  argosy new my-pipeline
  argosy import arena 'arena submit mpijob --image=train:1 --workers=2 "mpirun python train.py"' -o my-pipeline/main.go`

// imports are the commands that turn other tools' input into Go source.
type imports struct{ *cli }

func (c imports) command() *cobra.Command {
	return group("import", "Convert command lines and pipelines of other tools into Go: arena, kfp-arena", c.arena(), c.kfpArena())
}

func (c imports) arena() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "arena 'arena submit KIND ...' [-o main.go]", Short: "Turn a command line of Arena into a Go program", Long: importHelp,
		Args: args(cobra.ExactArgs(1), "one command line, in quotes, or - for standard input"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			line := args[0]
			if line == "-" {
				text, err := io.ReadAll(io.LimitReader(c.in, 1<<20))
				if err != nil {
					return exit.With(exit.Usage, fmt.Errorf("read the command line: %w", err))
				}
				line = string(text)
			}
			job, command, err := submit.ParseLine(line)
			if err != nil {
				return err
			}
			manifest, err := job.Workflow(command)
			if err != nil {
				return err
			}
			source, err := decompile.Source(manifest)
			if err != nil {
				return err
			}
			return c.write(out, source)
		},
	}
	intoFile(cmd, &out)
	return cmd
}

const kfpArenaHelp = `Kfp-arena reads a Python pipeline that uses kfp-arena, and prints a Go program with the same pipeline. It does not run Python: it
understands calls of arena's functions with constants, parameters, lists, outputs of steps and texts formatted with them, and .after.
Other code in a pipeline's function is refused with its line, and nothing is written. FILE is - for standard input.

  argosy new my-pipeline
  argosy import kfp-arena mpi_run.py -o my-pipeline/main.go`

func (c imports) kfpArena() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "kfp-arena FILE.py [-o main.go]", Short: "Turn a pipeline written with kfp-arena into a Go program", Long: kfpArenaHelp,
		Args:              args(cobra.ExactArgs(1), "one Python file, or - for standard input"),
		ValidArgsFunction: cobra.FixedCompletions([]string{"py"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE: func(_ *cobra.Command, args []string) error {
			name, read := args[0], os.ReadFile
			if name == "-" {
				name, read = "standard input", func(string) ([]byte, error) { return io.ReadAll(io.LimitReader(c.in, 1<<20)) }
			}
			data, err := read(args[0])
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			source, notes, err := kfparena.Source(name, data)
			if err != nil {
				return exit.With(exit.Failure, err)
			}
			for _, note := range notes {
				fmt.Fprintln(c.err, "note:", note)
			}
			return c.write(out, source)
		},
	}
	intoFile(cmd, &out)
	return cmd
}

// write leaves the program in a file, or prints it.
func (c imports) write(out string, source []byte) error {
	if out == "" || out == "-" {
		_, err := c.out.Write(source)
		return err
	}
	return exit.With(exit.Usage, os.WriteFile(out, source, 0o644))
}

// intoFile adds -o. It is a file here, so it takes the place of the -o that all commands have.
func intoFile(cmd *cobra.Command, out *string) {
	cmd.Flags().StringVarP(out, "output", "o", "", "`file` to write (default: standard output)")
}
