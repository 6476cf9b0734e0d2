package command

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/sdk/client"
)

// schedules are the commands for recurring runs, which KFP's API calls jobs.
type schedules struct{ *cli }

func (c schedules) command() *cobra.Command {
	return group("schedule", "Schedules, which start runs again and again: list, create, get, edit, enable, disable, delete",
		c.list(), c.create(), c.get(), c.edit(),
		c.change("enable", "Let schedules start runs again", "enabled schedule", client.SchedulesService.Enable),
		c.change("disable", "Keep schedules from starting runs; those that go on are left alone", "disabled schedule", client.SchedulesService.Disable),
		c.change("delete", "Delete schedules; their runs stay", "deleted schedule", client.SchedulesService.Delete))
}

func (c schedules) list() *cobra.Command {
	var experiment string
	cmd := lister[client.Schedule]{
		plural: "schedules", empty: "no schedules; make one with argosy schedule create --pipeline NAME --cron '0 3 * * *'",
		columns: []string{"name", "status", "starts", "experiment", "pipeline", "created", "id"},
		all: func(ctx context.Context, cl *client.Client, o client.ListOptions) (iter.Seq2[client.Schedule, error], error) {
			id, err := experimentID(ctx, cl, experiment)
			return cl.Schedules.All(ctx, client.ScheduleListOptions{ListOptions: o, ExperimentID: id}), err
		},
		row: func(p output.Printer, j client.Schedule) []string {
			return []string{j.Name, p.Status(j.Status), j.Trigger.String(), j.Experiment.Name, j.Pipeline.Name, output.Time(j.CreatedAt), j.ID}
		},
	}.command(c.cli)
	c.experimentFlag(cmd, &experiment)
	return cmd
}

func (c schedules) create() *cobra.Command {
	var flags runFlags
	var n client.NewSchedule
	var start, end string
	var once bool
	cmd := &cobra.Command{
		Use: "create --pipeline PIPELINE (--cron FIELDS | --every PERIOD | --once)", Short: "Start runs of a pipeline by schedule, or once",
		Example: "  argosy schedule create --pipeline mpi_run --name nightly --cron '0 3 * * *' -p workers=2\n" +
			"  argosy schedule create --pipeline check --every 10m --no-catchup",
		Args: args(cobra.NoArgs, "no arguments but flags"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if n.Trigger, err = trigger(n.Trigger, start, end, once); err != nil {
				return err
			}
			cl, err := c.client()
			if err != nil {
				return err
			}
			if n.NewRun, err = flags.resolve(cmd.Context(), cl); err != nil {
				return err
			}
			if err := free(cmd.Context(), cl, "schedule", n.Name, jobsNamed); err != nil {
				return err
			}
			j, err := cl.Schedules.Create(cmd.Context(), n)
			if err != nil {
				return err
			}
			return c.printer().Print(j, func() { fmt.Fprintf(c.out, "schedule %s %s\n", j.Name, j.ID) })
		},
	}
	flags.add(c.cli, cmd, "schedule")
	scheduleFlags(cmd, &n, &start, &end)
	f := cmd.Flags()
	f.BoolVar(&once, "once", false, "start one run as soon as the schedule is enabled, which is at once unless --disabled is given")
	f.BoolVar(&n.Disabled, "disabled", false, "start no runs until the schedule is enabled")
	return cmd
}

// scheduleFlags say when runs start, and how many at once.
func scheduleFlags(cmd *cobra.Command, n *client.NewSchedule, start, end *string) {
	f := cmd.Flags()
	f.StringVar(&n.Trigger.Cron, "cron", "", "when runs start, in UTC, as `'minute hour day month weekday'`, with seconds before them if there are six, or a word such as @daily")
	f.DurationVar(&n.Trigger.Every, "every", 0, "start a run each `period`, such as 10m")
	f.StringVar(start, "start", "", "no runs before this `time`, such as 2030-01-31T08:00:00Z")
	f.StringVar(end, "end", "", "no runs after this `time`")
	f.IntVar(&n.MaxConcurrency, "max-concurrency", 1, "at most `n` of its runs at once, from 1 to 10")
	f.BoolVar(&n.NoCatchup, "no-catchup", false, "of the times that the server missed, make up for the newest only")
	for _, flag := range []string{"cron", "every", "start", "end", "max-concurrency"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
}

// trigger reads when runs start from the flags.
func trigger(t client.Trigger, start, end string, once bool) (client.Trigger, error) {
	chosen := 0
	for _, given := range []bool{t.Cron != "", t.Every != 0, once} {
		if given {
			chosen++
		}
	}
	if chosen != 1 {
		return t, exit.Usagef("say when its runs start, with one of --cron, --every and --once")
	}
	if t.Every < 0 || t.Every%time.Second != 0 {
		return t, exit.Usagef("--every %s: want whole seconds, at least one", t.Every)
	}
	for _, bound := range []struct {
		flag, text string
		at         *time.Time
	}{{"--start", start, &t.Start}, {"--end", end, &t.End}} {
		if bound.text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, bound.text)
		if err != nil {
			return t, exit.Usagef("%s %s: want a time such as 2030-01-31T08:00:00Z", bound.flag, bound.text)
		}
		*bound.at = at
	}
	if t.Cron == "" && t.Every == 0 && (start != "" || end != "") {
		return t, exit.Usagef("--start and --end are for --cron and --every")
	}
	return t, nil
}

func (c schedules) get() *cobra.Command {
	return &cobra.Command{
		Use: "get SCHEDULE", Short: "Show a schedule with its newest runs",
		Args: args(cobra.ExactArgs(1), "the name or id of one schedule"), ValidArgsFunction: c.completeSchedules(false),
		RunE: c.call(func(ctx context.Context, cl *client.Client, args []string) error {
			j, err := findSchedule(ctx, cl, args[0])
			if err != nil {
				return err
			}
			o := newestFirst
			o.PageSize = 20
			runs, err := cl.Schedules.Runs(ctx, j.ID, o)
			if err != nil {
				return err
			}
			view := struct {
				*client.Schedule
				Runs []client.Run `json:"runs"`
			}{j, listed(runs.Items)}
			p := c.printer()
			return p.Print(view, func() {
				p.Fields("Name", j.Name, "ID", j.ID, "Status", p.Status(j.Status), "Error", j.Error, "Starts", j.Trigger.String(),
					"From", output.Time(j.Trigger.Start), "Until", output.Time(j.Trigger.End), "At once", fmt.Sprint(j.MaxConcurrency),
					"Created", output.Time(j.CreatedAt), "Experiment", j.Experiment.Name, "Pipeline", j.Pipeline.Name, "Description", j.Description)
				if len(j.Parameters) > 0 {
					p.Heading("Parameters")
					p.Rows("none", []string{"name", "value"}, parameterRows(j.Parameters))
				}
				p.Heading(fmt.Sprintf("Runs (%d)", runs.Total))
				var rows [][]string
				for _, r := range runs.Items {
					rows = append(rows, []string{r.Name, p.Status(stateOf(&r)), output.Time(r.ScheduledAt), output.Time(r.FinishedAt), r.ID})
				}
				p.Rows("no runs yet", []string{"name", "status", "due", "ended", "id"}, rows)
			})
		}),
	}
}

// change is a command that does something to each schedule it is given.
func (c schedules) change(use, short, done string, change func(client.SchedulesService, context.Context, string) error) *cobra.Command {
	return &cobra.Command{
		Use: use + " SCHEDULE...", Short: short,
		Args: args(cobra.MinimumNArgs(1), "names or ids of schedules"), ValidArgsFunction: c.completeSchedules(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.forEach(args, done, func(cl *client.Client, name string) error {
				j, err := findSchedule(cmd.Context(), cl, name)
				if err != nil {
					return err
				}
				return change(cl.Schedules, cmd.Context(), j.ID)
			})
		},
	}
}
