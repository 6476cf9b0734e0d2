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

const rootHelp = `Argosy is Kubeflow Pipelines in Go, made for distributed training. It runs on one machine without Docker or Kubernetes, and
unchanged on a Kubernetes cluster.

  argosy up                                    the server with a cluster of its own, on http://127.0.0.1:8888
  argosy cluster start                         the cluster alone, for kubectl
  argosy doctor                                what this machine lacks, and how to add it
  argosy new my-pipeline                       a folder with a pipeline written in Go, to begin with
  argosy compile DIR -o pipeline.tar.gz        a pipeline written in Go, as a package
  argosy image DIR --push --name NAME          its program as a container image, for steps that are Go functions
  argosy lint pipeline.tar.gz                  what is wrong in a package, and where; see also diff and decompile
  argosy pipeline upload pipeline.tar.gz
  argosy run create --pipeline NAME -p workers=2 --wait
  argosy submit mpijob --image IMAGE "mpirun ..."  one distributed job, with the flags of Arena's submit
  argosy job list                              distributed jobs; argosy job get RUN shows the workers of one
  argosy sweep DIR --matrix workers=1,2,4      measure how it scales; argosy report gives the result

The commands that talk to a server use --server, else $ARGOSY_URL, else "url" in argosy/config.json below
$XDG_CONFIG_HOME (~/.config), else http://127.0.0.1:8888.

Exit codes:
`

// exitCodes is the table of exit codes as help prints it.
func exitCodes() string {
	lines := make([]string, len(exit.Meanings))
	for i, m := range exit.Meanings {
		lines[i] = fmt.Sprintf("  %-4d %s", m.Code, m.Text)
	}
	return strings.Join(lines, "\n")
}

// cli is what all commands share.
type cli struct {
	in     io.Reader
	out    *os.File // answers
	err    *os.File // progress and problems, for a person
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
	if answered := (*client.Error)(nil); exit.Code(err) == exit.Usage && !errors.As(err, &answered) {
		fmt.Fprintln(c.err, "       (--help tells how to use the command)")
	}
}

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use: "argosy", Short: "Kubeflow Pipelines in Go, made for distributed training", Long: rootHelp + exitCodes(),
		SilenceErrors: true, SilenceUsage: true, Version: version.Version,
	}
	root.SetHelpCommand(helpCommand())
	root.SetVersionTemplate("argosy {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.With(exit.Usage, err) })
	// Cobra checks them once more, without an exit code, before it runs the command.
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return exit.With(exit.Usage, cmd.ValidateFlagGroups()) }
	f := root.PersistentFlags()
	f.StringVar(&c.server, "server", "", "`URL` of the server (default $ARGOSY_URL, else "+client.DefaultURL+")")
	f.VarP(&c.format, "output", "o", "`format` of the answer: table, json or yaml")
	f.TextVar(&c.level, "log-level", &c.level, "lowest `level` that is logged: DEBUG, INFO, WARN or ERROR")
	must(root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(output.Formats, cobra.ShellCompDirectiveNoFileComp)))
	must(root.RegisterFlagCompletionFunc("log-level", cobra.FixedCompletions([]string{"DEBUG", "INFO", "WARN", "ERROR"}, cobra.ShellCompDirectiveNoFileComp)))
	must(root.RegisterFlagCompletionFunc("server", cobra.NoFileCompletions))
	root.AddCommand(c.upCommand(), clusters{c}.command(), c.doctorCommand(), c.serverCommand(), backups{c}.backup(), backups{c}.restore(), c.pruneCommand(),
		c.newCommand(), packages{c}.compile(), packages{c}.image(), packages{c}.lint(), packages{c}.diff(), packages{c}.decompile(), pipelines{c}.command(), experiments{c}.command(), runs{c}.command(),
		submissions{c}.command(), sampleRuns{c}.command(), imports{c}.command(), metricRules{c}.command(), schedules{c}.command(), c.jobCommand(), c.queueCommand(), c.reportCommand(), c.sweepCommand(), nodes{c}.command(), c.versionCommand())
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

// call returns the RunE of a command that talks to a server.
func (c *cli) call(do func(ctx context.Context, cl *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cl, err := c.client()
		if err != nil {
			return err
		}
		return do(cmd.Context(), cl, args)
	}
}

// serverNamed tells whether a flag, the environment or the configuration names a server.
func (c *cli) serverNamed() bool {
	configured, err := client.LoadConfig()
	return c.server != "" || os.Getenv(client.EnvURL) != "" || err == nil && configured.URL != ""
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
			return exit.Usagef("%s takes %s", cmd.CommandPath(), want)
		}
		return exit.Usagef("%s takes %s, not %q", cmd.CommandPath(), want, given)
	}
}

// must is for mistakes in this program, not in its use.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
