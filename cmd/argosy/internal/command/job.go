package command

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/jobs"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/queues"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/runview"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
	"github.com/argosy-ml/argosy/sdk/client"
)

// jobLogs are the commands that print what the ranks of distributed jobs print.
type jobLogs struct{ *cli }

func (c *cli) jobCommand() *cobra.Command {
	g := group("job", "Distributed jobs of runs: list, get, logs, attach, top, delete", jobs.Commands(c.jobsEnv())...)
	g.AddCommand(jobLogs{c}.logs(), jobLogs{c}.attach())
	for _, name := range []string{"create", "enable", "disable"} {
		g.AddCommand(nowSchedule(name))
	}
	return g
}

func (c *cli) jobsEnv() jobs.Env {
	return jobs.Env{
		Out: c.out, Err: c.err, Color: terminal.Color(c.out), Terminal: terminal.Is(c.out), Client: c.client,
		Run: c.newestRun, Only: findRun, Confirm: c.confirm, Complete: runs{c}.completeSteps,
	}
}

// pending is among the commands for runs, as a step without a distributed job waits as well.
func (c runs) pending() *cobra.Command {
	cmd := jobs.Pending(c.jobsEnv())
	cmd.ValidArgsFunction = c.completeRuns(false)
	return cmd
}

func (c *cli) queueCommand() *cobra.Command {
	return group("queue", "Queues of the gang scheduler: list, create, set, delete", queues.Commands(queues.Env{
		Out: c.out, Err: c.err, Client: c.client, Printer: c.printer, Confirm: c.confirm,
	})...)
}

// errNoSteps is for runs that have just been accepted.
var errNoSteps = errors.New("the run has no steps yet")

// nowSchedule answers to a command for recurring runs by its former name.
func nowSchedule(name string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, DisableFlagParsing: true, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			return exit.Usagef("recurring runs are schedules now: argosy schedule %s", name)
		},
	}
}

func (c jobLogs) logs() *cobra.Command {
	var f logFlags
	cmd := c.command("logs RUN[/STEP]", "Print what the ranks of a distributed job print, each line with its rank", &f)
	cmd.Example = "  argosy job logs tf-eni -f\n  argosy job logs my-run/train --rank 0,8-15 --grep 'loss|Error'"
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on until the job ends")
	return cmd
}

// attach follows: a job reads nothing, so there is nothing else to be attached to.
func (c jobLogs) attach() *cobra.Command {
	cmd := c.command("attach RUN[/STEP]", "Follow what the ranks of a distributed job print until it ends, as logs -f does", &logFlags{follow: true})
	cmd.Example = "  argosy job attach tf-eni --tail 20"
	return cmd
}

func (c jobLogs) command(use, short string, f *logFlags) *cobra.Command {
	var ranks runview.Ranks
	var grep string
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args(cobra.RangeArgs(1, 2), "a run, and its step if it has several"), ValidArgsFunction: runs(c).completeSteps,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if grep != "" {
				if ranks.Grep, err = regexp.Compile(grep); err != nil {
					return exit.Usagef("--grep %s: %v", grep, err)
				}
			}
			o, err := f.options(cmd)
			if err != nil {
				return err
			}
			cl, err := c.client()
			if err != nil {
				return err
			}
			r, step, err := jobs.Target(cmd.Context(), cl, c.newestRun, args)
			if err != nil {
				return err
			}
			n, err := stepOf(r, step)
			if err != nil {
				return err
			}
			ranks.Out, ranks.Color = c.out, terminal.Color(c.out)
			return c.copyRanks(cmd.Context(), cl, &ranks, r.ID, n, o)
		},
	}
	flags := cmd.Flags()
	flags.Var(&ranks.Only, "rank", "only lines of these `ranks`, such as 0,3,8-11; may be repeated")
	flags.StringVar(&grep, "grep", "", "only lines that match this regular `expression`")
	flags.StringVar(&f.since, "since", "", "only lines since a `time`, or for so long: 2026-11-21T12:00:00Z, 10m")
	flags.Int64Var(&f.tail, "tail", 0, "only so many of the last `lines`, of all ranks together")
	flags.Int64Var(&f.attempt, "attempt", 0, "`number` of the run's attempt, from 1 (default: the newest)")
	for _, name := range []string{"rank", "grep", "since", "tail", "attempt"} {
		must(cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions))
	}
	return cmd
}

// copyRanks prints the step's own log, where the launcher puts together what all ranks print.
func (c jobLogs) copyRanks(ctx context.Context, cl *client.Client, ranks *runview.Ranks, run string, n client.Node, o client.LogOptions) error {
	w := ranks.Writer()
	if err := runs(c).copyLog(ctx, cl, w, run, n, o); err != nil {
		return err
	}
	return w.Close()
}

// stepOf is the step that the user names; without a name, the only one of the run.
func stepOf(r *client.Run, name string) (client.Node, error) {
	if name != "" {
		return runview.FindStep(r, name)
	}
	steps := runview.Steps(r)
	if len(steps) == 1 {
		return steps[0], nil
	}
	var labels []string
	for _, n := range steps {
		labels = append(labels, n.Label())
	}
	if len(labels) == 0 {
		return client.Node{}, exit.With(exit.Refused, errNoSteps)
	}
	return client.Node{}, exit.Usagef("run %s has %d steps: say which: %s", r.Name, len(steps), strings.Join(labels, ", "))
}
