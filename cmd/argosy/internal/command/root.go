// Package command is the command line: one file per noun.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
	"github.com/argosy-ml/argosy/cmd/internal/version"
	"github.com/argosy-ml/argosy/sdk/client"
)

const rootHelp = `Argosy is Kubeflow Pipelines in Go, made for distributed training. It runs whole on one machine with nothing
installed, and unchanged on Kubernetes.

  argosy up                                    the server with a cluster of its own, on http://127.0.0.1:8888
  argosy cluster start                         the cluster alone, for kubectl
  argosy doctor                                what this machine has for it, and how to mend what is missing
  argosy new my-pipeline                       a folder with a pipeline written in Go, to begin with
  argosy compile DIR -o pipeline.tar.gz        a pipeline written in Go, as a package
  argosy image DIR --push --name NAME          its program as a container image, for steps that are Go functions
  argosy lint pipeline.tar.gz                  what is wrong in a package, and where; see also diff and decompile
  argosy pipeline upload pipeline.tar.gz
  argosy run create --pipeline NAME -p workers=2 --wait

The commands that talk to a server use --server, else $ARGOSY_URL, else "url" in argosy/config.json below
$XDG_CONFIG_HOME (~/.config), else http://127.0.0.1:8888.

Exit codes:
  0    it worked
  1    it failed: a run did not succeed, a request was refused
  2    the command line is wrong
  3    there is no such thing, its name is taken, its state does not allow it, or another process holds it
  4    something around the command is missing: no server answers, the cluster does not start, a port is taken, this is not Linux
  130  ended by Ctrl-C before it was done`

// cli is what all commands share.
type cli struct {
	in     io.Reader
	out    *os.File // answers
	err    *os.File // what a person is told meanwhile
	server string
	format output.Format
	level  slog.LevelVar
}

// Main runs a command line and gives its exit code.
func Main(args []string, in io.Reader, out, errs *os.File) int {
	c := &cli{in: in, out: out, err: errs, format: output.Table}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	root := c.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exit.OK
	}
	// Cobra has no type for its own error of an unknown command.
	if strings.HasPrefix(err.Error(), "unknown command ") {
		err = exit.With(exit.Usage, err)
	}
	c.explain(err)
	return exit.Code(err)
}

func (c *cli) explain(err error) {
	if exit.Code(err) == exit.Interrupted {
		fmt.Fprintln(c.err, "interrupted")
		return
	}
	label := "error: "
	if terminal.Color(c.err) {
		label = "\x1b[31merror:\x1b[0m "
	}
	fmt.Fprintln(c.err, label+err.Error())
	if e := (*client.Error)(nil); errors.As(err, &e) && e.Details != "" && e.Details != e.Message {
		fmt.Fprintln(c.err, "       "+e.Details)
	}
	if exit.Code(err) == exit.Usage {
		fmt.Fprintln(c.err, "       (--help tells how to use the command)")
	}
}

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use: "argosy", Short: "Kubeflow Pipelines in Go, made for distributed training", Long: rootHelp,
		SilenceErrors: true, SilenceUsage: true, Version: version.Version,
	}
	root.SetVersionTemplate("argosy {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.With(exit.Usage, err) })
	f := root.PersistentFlags()
	f.StringVar(&c.server, "server", "", "`URL` of the server (default $ARGOSY_URL, else "+client.DefaultURL+")")
	f.VarP(&c.format, "output", "o", "`format` of the answer: table, json or yaml")
	f.TextVar(&c.level, "log-level", &c.level, "lowest `level` that is logged: DEBUG, INFO, WARN or ERROR")
	must(root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(output.Formats, cobra.ShellCompDirectiveNoFileComp)))
	must(root.RegisterFlagCompletionFunc("log-level", cobra.FixedCompletions([]string{"DEBUG", "INFO", "WARN", "ERROR"}, cobra.ShellCompDirectiveNoFileComp)))
	must(root.RegisterFlagCompletionFunc("server", cobra.NoFileCompletions))
	root.AddCommand(c.upCommand(), c.clusterCommand(), c.doctorCommand(), c.serverCommand(), c.backupCommand(), c.restoreCommand(), c.pruneCommand(),
		c.newCommand(), c.compileCommand(), c.imageCommand(), c.lintCommand(), c.diffCommand(), c.decompileCommand(), c.pipelineCommand(), c.experimentCommand(), c.runCommand(), c.jobCommand(), c.versionCommand())
	return root
}

// client makes a client of the server that the flags, the environment or the configuration name.
func (c *cli) client() (*client.Client, error) {
	if c.server != "" {
		cl, err := client.New(c.server, client.WithPassword(os.Getenv(client.EnvPassword)))
		return cl, exit.With(exit.Usage, err)
	}
	cl, err := client.FromEnv()
	return cl, exit.With(exit.Usage, err)
}

func (c *cli) printer() output.Printer {
	return output.Printer{Out: c.out, Format: c.format, Color: terminal.Color(c.out)}
}

// group makes a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, ValidArgsFunction: cobra.NoFileCompletions}
	g.AddCommand(commands...)
	g.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		cmd.SuggestionsMinimumDistance = 2
		hint := ""
		if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
			hint = fmt.Sprintf("; did you mean %q?", like[0])
		}
		return exit.Usagef("unknown command %q for %q%s", args[0], cmd.CommandPath(), hint)
	}
	return g
}

// args makes a wrong number of arguments a wrong command line.
func args(check cobra.PositionalArgs, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if check(cmd, given) == nil {
			return nil
		}
		if len(given) == 0 {
			return exit.Usagef("%s: want %s", cmd.CommandPath(), want)
		}
		return exit.Usagef("%s: want %s, not %q", cmd.CommandPath(), want, given)
	}
}

// must is for mistakes in this program, not in its use.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
