package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/runview"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
	"github.com/argosy-ml/argosy/sdk/client"
)

// runs returns the commands for runs, their logs and their outputs.
type runs struct{ *cli }

func (c runs) command() *cobra.Command {
	return group("run", "Runs: list, get, pending, create, wait, logs, metrics, visuals, events, compare, artifact, label, terminate, retry, archive, unarchive, delete",
		c.list(), c.get(), c.pending(), c.create(), c.wait(), c.logs(), c.metrics(), c.visuals(), c.runEvents(), c.compare(), c.artifact(), c.label(),
		c.change("terminate", "Stop runs; their distributed jobs are deleted", "terminated run", terminate),
		c.retry(),
		c.change("archive", "Archive runs; prune never removes them", "archived run", client.RunsService.Archive),
		c.change("unarchive", "Take runs out of the archive", "unarchived run", client.RunsService.Unarchive),
		c.delete())
}

func (c runs) list() *cobra.Command {
	var search searchFlags
	var experiment, status string
	var cmd *cobra.Command
	l := runTable
	l.plural, l.example = "runs", searchExample
	l.all = func(ctx context.Context, cl *client.Client, o client.ListOptions) (iter.Seq2[client.Run, error], error) {
		runs := client.RunListOptions{ListOptions: o, Search: search.search(cmd)}
		if status != "" {
			runs.Statuses = strings.Split(status, ",")
		}
		if err := checkFields(ctx, cl, runs); err != nil {
			return nil, err
		}
		var err error
		runs.ExperimentID, err = experimentID(ctx, cl, experiment)
		return cl.Runs.All(ctx, runs), err
	}
	cmd = l.command(c.cli)
	search.add(cmd)
	c.experimentFlag(cmd, &experiment)
	cmd.Flags().StringVar(&status, "status", "", "only those in one of these `states`, in any case, such as failed,error; waiting is a run whose running steps all wait")
	must(cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(
		[]string{client.Pending, client.StatusWaiting, client.Running, client.Succeeded, client.Failed, client.Errored, client.Terminating, client.Terminated}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// runTable is how lists show runs.
var runTable = lister[client.Run]{
	empty:   "no runs; start one with argosy run create --pipeline NAME",
	columns: []string{"name", "status", "took", "experiment", "pipeline", "created", "metrics", "id"},
	row: func(p output.Printer, r client.Run) []string {
		var metrics []string
		for _, m := range r.Metrics {
			metrics = append(metrics, m.Name+" "+runview.MetricValue(m))
		}
		const most = 3 // a loop may have reported hundreds
		if n := len(metrics); n > most {
			metrics = append(metrics[:most], fmt.Sprintf("%d more", n-most))
		}
		return []string{
			r.Name, p.Status(stateOf(&r)), output.Duration(r.Duration()), r.Experiment.Name, r.Pipeline.Name,
			output.Time(r.CreatedAt), strings.Join(metrics, ", "), r.ID,
		}
	},
}

// stateOf is the status of a run as people see it: one whose steps all wait does not run.
func stateOf(r *client.Run) string {
	if r.Waiting != nil && !r.Done() && r.Status != client.Terminating {
		return client.StatusWaiting
	}
	return r.Status
}

// waitsFor says what a run waits for, empty when it does not.
func waitsFor(r *client.Run) string {
	if r.Waiting == nil {
		return ""
	}
	return "step " + r.Waiting.Step + ": " + r.Waiting.Why
}

func (c runs) get() *cobra.Command {
	return &cobra.Command{
		Use: "get RUN", Short: "Show a run with its steps and metrics",
		Args: args(cobra.ExactArgs(1), "the id or name of one run"), ValidArgsFunction: c.completeRuns(false),
		RunE: c.call(func(ctx context.Context, cl *client.Client, args []string) error {
			r, err := c.newestRun(ctx, cl, args[0])
			if err != nil {
				return err
			}
			return c.show(cl, r)
		}),
	}
}

func (c runs) show(cl *client.Client, r *client.Run) error {
	p := c.printer()
	return p.Print(r, func() {
		p.Fields("Name", r.Name, "ID", r.ID, "Status", p.Status(stateOf(r)), "Waits for", waitsFor(r), "Error", r.Error, "Took", output.Duration(r.Duration()),
			"Created", output.Time(r.CreatedAt), "Experiment", r.Experiment.Name, "Pipeline", r.Pipeline.Name,
			"Workflow", strings.TrimPrefix(r.Workflow.Namespace+"/"+r.Workflow.Name, "/"), "Labels", labelList(r.Labels), "Page", cl.RunURL(r.ID))
		if len(r.Parameters) > 0 {
			p.Heading("Parameters")
			p.Rows("none", []string{"name", "value"}, parameterRows(r.Parameters))
		}
		p.Heading("Steps")
		runview.StepTable(p, r)
		p.Heading("Metrics")
		runview.MetricTable(p, r)
		if len(r.Curves) > 0 {
			p.Heading("Curves")
			runview.CurveTable(p, r.Curves)
		}
		for _, w := range r.Warnings {
			fmt.Fprintf(c.out, "\nwarning: %s\n", w)
		}
	})
}

func (c runs) create() *cobra.Command {
	var flags runFlags
	var wait, dryRun bool
	cmd := &cobra.Command{
		Use: "create --pipeline PIPELINE", Short: "Start a run of a pipeline", Args: args(cobra.NoArgs, "no arguments but flags"),
		Example: "  argosy run create --pipeline mpi_run -p workers=2 -p data= --wait",
		RunE: c.call(func(ctx context.Context, cl *client.Client, _ []string) error {
			if dryRun {
				return c.checkRun(ctx, cl, &flags)
			}
			n, err := flags.resolve(ctx, cl)
			if err != nil {
				return err
			}
			if err := free(ctx, cl, "run", n.Name, runsNamed); err != nil {
				return err
			}
			r, err := cl.Runs.Create(ctx, n)
			if err != nil {
				return err
			}
			for _, w := range r.Warnings {
				fmt.Fprintf(c.err, "warning: %s\n", w)
			}
			if wait {
				return c.await(ctx, cl, r.ID)
			}
			return c.printer().Print(r, func() { fmt.Fprintf(c.out, "run %s %s\n%s\n", r.Name, r.ID, cl.RunURL(r.ID)) })
		}),
	}
	flags.add(c.cli, cmd, "run")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "check the run and start nothing; the exit code is 1 when the cluster can never hold it")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the run ends; the exit code is 1 if it fails")
	cmd.MarkFlagsMutuallyExclusive("wait", "dry-run")
	return cmd
}

func (c runs) wait() *cobra.Command {
	var limit time.Duration
	cmd := &cobra.Command{
		Use: "wait RUN", Short: "Wait until a run ends; the exit code is 1 if it fails, 5 after --timeout",
		Args: args(cobra.ExactArgs(1), "the id or name of one run"), ValidArgsFunction: c.completeRuns(false),
		RunE: c.call(func(ctx context.Context, cl *client.Client, args []string) error {
			if limit > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeoutCause(ctx, limit, exit.With(exit.Timeout, fmt.Errorf("run %s goes on after %s", args[0], limit)))
				defer cancel()
			}
			r, err := c.newestRun(ctx, cl, args[0])
			if err != nil {
				return err
			}
			return c.await(ctx, cl, r.ID)
		}),
	}
	cmd.Flags().DurationVar(&limit, "timeout", 0, "give up after this `time`, such as 30m; the run goes on")
	must(cmd.RegisterFlagCompletionFunc("timeout", cobra.NoFileCompletions))
	return cmd
}

// await follows a run on stderr and shows it as it ended on stdout.
func (c runs) await(ctx context.Context, cl *client.Client, id string) error {
	screen := terminal.New(c.err)
	screen.Printf("%s", cl.RunURL(id))
	idle := screen.Busy("running")
	f := runview.Follower{Client: cl, Step: func(n client.Node) { runview.StepLine(screen, n) }}
	r, err := f.Run(ctx, id)
	idle()
	if errors.Is(err, context.Canceled) {
		screen.Printf("the run goes on")
	}
	if err != nil {
		return err
	}
	if err := c.show(cl, r); err != nil {
		return err
	}
	if r.Status != client.Succeeded {
		runview.Explain(ctx, screen.Writer(), cl, r)
		return fmt.Errorf("run %s: %s", r.Name, strings.ToLower(r.Status))
	}
	return nil
}

func (c runs) retry() *cobra.Command {
	var from client.From
	var values []string
	retry := client.RunsService.Retry
	cmd := c.change("retry", "Run the failed steps of failed runs again, or a step with all that comes after it", "retried run",
		func(runs client.RunsService, ctx context.Context, id string) error { return retry(runs, ctx, id) })
	cmd.Example = "  argosy run retry my-run\n  argosy run retry my-run --from fit -p rate=0.01"
	cmd.Flags().StringVar(&from.Step, "from", "", "`step` to continue from; earlier steps are kept")
	cmd.Flags().StringArrayVarP(&values, "param", "p", nil, "with --from: set a parameter, as `name=value`; may be repeated")
	for _, flag := range []string{"from", "param"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		if from.Parameters, err = parameters(values); err != nil || from.Step == "" {
			if err == nil && len(values) > 0 {
				err = exit.Usagef("-p needs --from STEP: without it a run continues with its own parameters")
			}
			return err
		}
		retry = func(runs client.RunsService, ctx context.Context, id string) error {
			r, err := runs.Get(ctx, id)
			if err != nil {
				return err
			}
			n, err := runview.FindStep(r, from.Step)
			if err != nil {
				return err
			}
			step := from
			step.Step = n.ID
			retried, err := runs.RetryFrom(ctx, id, step)
			if err != nil {
				return err
			}
			for _, w := range retried.Warnings {
				fmt.Fprintf(c.err, "warning: %s\n", w)
			}
			return nil
		}
		return nil
	}
	return cmd
}

// terminate stops a run. KFP calls it an invalid request when the run has ended; here that is a state that does not allow it,
// as with other commands.
func terminate(runs client.RunsService, ctx context.Context, id string) error {
	err := runs.Terminate(ctx, id)
	if client.IsInvalid(err) {
		return exit.With(exit.Refused, err)
	}
	return err
}

func (c runs) delete() *cobra.Command {
	var artifacts bool
	cmd := c.change("delete", "Delete runs with their logs; artifacts stay unless --artifacts is given", "deleted run",
		func(runs client.RunsService, ctx context.Context, id string) error {
			if artifacts {
				return runs.Purge(ctx, id)
			}
			return runs.Delete(ctx, id)
		})
	cmd.Flags().BoolVar(&artifacts, "artifacts", false, "also delete their artifacts; the runs must have ended")
	return cmd
}

// change is a command that does something to each run it is given.
func (c runs) change(use, short, done string, change func(client.RunsService, context.Context, string) error) *cobra.Command {
	return &cobra.Command{
		Use: use + " RUN...", Short: short,
		Args: args(cobra.MinimumNArgs(1), "ids or names of runs"), ValidArgsFunction: c.completeRuns(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.forEach(args, done, func(cl *client.Client, name string) error {
				r, err := findRun(cmd.Context(), cl, name)
				if err != nil {
					return err
				}
				return change(cl.Runs, cmd.Context(), r.ID)
			})
		},
	}
}
