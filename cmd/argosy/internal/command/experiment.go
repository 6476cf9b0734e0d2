package command

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/sdk/client"
)

// experiments are the commands of experiments.
type experiments struct{ *cli }

func (c experiments) command() *cobra.Command {
	return group("experiment", "Experiments, which group runs: list, create, get, delete, restore",
		c.list(), c.create(), c.get(), c.delete(), c.restore())
}

func (c experiments) list() *cobra.Command {
	return lister[client.Experiment]{
		plural: "experiments", empty: "no experiments", columns: []string{"name", "id", "created", "", "description"},
		all: func(ctx context.Context, cl *client.Client, o client.ListOptions) (iter.Seq2[client.Experiment, error], error) {
			return cl.Experiments.All(ctx, o), nil
		},
		row: func(_ output.Printer, e client.Experiment) []string {
			return []string{e.Name, e.ID, output.Time(e.CreatedAt), archived(e), e.Description}
		},
	}.command(c.cli)
}

func archived(e client.Experiment) string {
	if e.Archived() {
		return "archived"
	}
	return ""
}

func (c experiments) create() *cobra.Command {
	var description string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create an experiment", Args: args(cobra.ExactArgs(1), "one name"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: c.call(func(ctx context.Context, cl *client.Client, args []string) error {
			e, err := cl.Experiments.Create(ctx, args[0], description)
			if err != nil {
				return err
			}
			return c.printer().Print(e, func() { fmt.Fprintf(c.out, "experiment %s %s\n", e.Name, e.ID) })
		}),
	}
	cmd.Flags().StringVar(&description, "description", "", "`text` shown with it")
	must(cmd.RegisterFlagCompletionFunc("description", cobra.NoFileCompletions))
	return cmd
}

func (c experiments) get() *cobra.Command {
	return &cobra.Command{
		Use: "get EXPERIMENT", Short: "Show an experiment with its newest runs",
		Args: args(cobra.ExactArgs(1), "the name or id of one experiment"), ValidArgsFunction: c.completeExperiments(false),
		RunE: c.call(func(ctx context.Context, cl *client.Client, args []string) error {
			e, err := findExperiment(ctx, cl, args[0])
			if err != nil {
				return err
			}
			o := client.RunListOptions{ListOptions: newestFirst, ExperimentID: e.ID}
			o.PageSize = 20
			held, err := cl.Runs.List(ctx, o)
			if err != nil {
				return err
			}
			p := c.printer()
			view := struct {
				*client.Experiment
				Runs []client.Run `json:"runs"`
			}{e, listed(held.Items)}
			return p.Print(view, func() {
				p.Fields("Name", e.Name, "ID", e.ID, "Created", output.Time(e.CreatedAt), "State", archived(*e), "Description", e.Description)
				p.Heading(fmt.Sprintf("Runs (%d)", held.Total))
				runTable.table(p, held.Items)
			})
		}),
	}
}

func (c experiments) delete() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "delete EXPERIMENT...", Short: "Delete experiments; their runs stay, and restore brings the experiment back",
		Args: args(cobra.MinimumNArgs(1), "names or ids of experiments"), ValidArgsFunction: c.completeExperiments(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.forEach(args, "deleted experiment", func(cl *client.Client, name string) error {
				e, err := findExperiment(cmd.Context(), cl, name)
				if err != nil {
					return err
				}
				if !force {
					if err := c.confirmDelete(cmd.Context(), cl, e); err != nil {
						return err
					}
				}
				if err := cl.Experiments.Delete(cmd.Context(), e.ID); err != nil {
					return err
				}
				fmt.Fprintf(c.err, "argosy experiment restore %s brings %q back\n", e.ID, e.Name)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "do not ask, even if it has runs")
	return cmd
}

// confirmDelete asks before runs lose their experiment; without a terminal it refuses.
func (c *cli) confirmDelete(ctx context.Context, cl *client.Client, e *client.Experiment) error {
	one := client.ListOptions{PageSize: 1}
	runs, err := cl.Runs.List(ctx, client.RunListOptions{ListOptions: one, ExperimentID: e.ID})
	if err != nil {
		return err
	}
	jobs, err := cl.Schedules.List(ctx, client.ScheduleListOptions{ListOptions: one, ExperimentID: e.ID})
	if err != nil || runs.Total+jobs.Total == 0 {
		return err
	}
	holds := fmt.Sprintf("experiment %s has %s and %s, which stay without an experiment", e.Name, plural(runs.Total, "run"), plural(jobs.Total, "schedule"))
	return c.confirm(holds+"; delete it?", holds+"; delete it with --force")
}

func (c experiments) restore() *cobra.Command {
	return &cobra.Command{
		Use: "restore EXPERIMENT", Short: "Bring a deleted experiment back, with the runs and schedules that belonged to it",
		Args: args(cobra.ExactArgs(1), "the id or name of one deleted experiment"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: c.call(func(ctx context.Context, cl *client.Client, args []string) error {
			e, err := cl.Experiments.Restore(ctx, args[0])
			if err != nil {
				return err
			}
			return c.printer().Print(e, func() { fmt.Fprintf(c.out, "restored experiment %s %s\n", e.Name, e.ID) })
		}),
	}
}

// told is the outcome for one name, for JSON and YAML.
type told struct {
	Name  string `json:"name"`
	Done  string `json:"done,omitempty"`
	Error string `json:"error,omitempty"`
}

// forEach does something to each name, goes on after one that fails, and tells of all.
func (c *cli) forEach(names []string, done string, do func(*client.Client, string) error) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	var failed error
	var all []told
	for _, name := range names {
		t := told{Name: name, Done: done}
		if err := do(cl, name); err != nil {
			failed = errors.Join(failed, err)
			t.Done, t.Error = "", err.Error()
		} else if c.format == output.Table { // people see it at once
			fmt.Fprintln(c.out, done, name)
		}
		all = append(all, t)
	}
	return errors.Join(failed, c.printer().Print(all, func() {}))
}
