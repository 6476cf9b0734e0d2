package command

import (
	"context"
	"fmt"
	"io"
	"iter"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/sdk/client"
)

// listFlags are those of every list.
type listFlags struct {
	name  string
	sort  string
	limit int
}

func (f *listFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "name", "", "only those with `text` in their name")
	cmd.Flags().StringVar(&f.sort, "sort", "created_at desc", "`order`: a field, with desc for descending")
	cmd.Flags().IntVar(&f.limit, "limit", 20, "at most `n`; 0 is all")
	for _, flag := range []string{"name", "sort", "limit"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
}

func (f *listFlags) options() (client.ListOptions, error) {
	const most = 200
	if f.limit < 0 {
		return client.ListOptions{}, exit.Usagef("--limit %d: want a number of rows, or 0 for all", f.limit)
	}
	o := client.ListOptions{SortBy: f.sort, PageSize: min(f.limit, most)}
	if f.limit == 0 {
		o.PageSize = most
	}
	if f.name != "" {
		o.Filter = append(o.Filter, client.Contains("name", f.name))
	}
	return o, nil
}

// lister is the command that lists the resources of a kind, the newest first.
type lister[T any] struct {
	plural  string
	empty   string // what to do when there are none
	example string
	columns []string
	all     func(ctx context.Context, cl *client.Client, o client.ListOptions) (iter.Seq2[T, error], error)
	row     func(p output.Printer, item T) []string
}

func (l lister[T]) command(c *cli) *cobra.Command {
	var flags listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List " + l.plural + ", the newest first", Example: l.example, Args: args(cobra.NoArgs, "no arguments"),
		RunE: c.call(func(ctx context.Context, cl *client.Client, _ []string) error {
			o, err := flags.options()
			if err != nil {
				return err
			}
			all, err := l.all(ctx, cl, o)
			if err != nil {
				return err
			}
			items, err := take(&flags, all)
			if err != nil {
				return err
			}
			p := c.printer()
			return p.Print(items, func() { l.table(p, items) })
		}),
	}
	flags.add(cmd)
	return cmd
}

func (l lister[T]) table(p output.Printer, items []T) {
	rows := make([][]string, len(items))
	for i, item := range items {
		rows[i] = l.row(p, item)
	}
	p.Rows(l.empty, l.columns, rows)
}

// experimentFlag adds the flag that keeps a list to one experiment.
func (c *cli) experimentFlag(cmd *cobra.Command, experiment *string) {
	cmd.Flags().StringVar(experiment, "experiment", "", "only those of this `experiment` (name or id)")
	must(cmd.RegisterFlagCompletionFunc("experiment", c.completeExperiments(true)))
}

// experimentID is the id of the experiment that a flag names; empty without one.
func experimentID(ctx context.Context, cl *client.Client, experiment string) (string, error) {
	if experiment == "" {
		return "", nil
	}
	e, err := findExperiment(ctx, cl, experiment)
	if err != nil {
		return "", err
	}
	return e.ID, nil
}

// listed is a list as programs want it: JSON says [] rather than null.
func listed[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// take collects rows up to the limit.
func take[T any](f *listFlags, all iter.Seq2[T, error]) ([]T, error) {
	items := listed[T](nil)
	for item, err := range all {
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		if len(items) == f.limit {
			break
		}
	}
	return items, nil
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// find gives a resource by what the user calls it: its id, or its name.
func find[T any](ctx context.Context, idOrName string, byID, byName func(context.Context, string) (*T, error)) (*T, error) {
	if uuid.MatchString(idOrName) {
		found, err := byID(ctx, idOrName)
		if !client.IsNotFound(err) {
			return found, err
		}
	}
	return byName(ctx, idOrName)
}

func findPipeline(ctx context.Context, cl *client.Client, name string) (*client.Pipeline, error) {
	return find(ctx, name, cl.Pipelines.Get, cl.Pipelines.ByName)
}

func findExperiment(ctx context.Context, cl *client.Client, name string) (*client.Experiment, error) {
	return find(ctx, name, cl.Experiments.Get, cl.Experiments.ByName)
}

// named finds the newest resources of a name, two at most: other clients may give a name several times.
type named[T any] func(ctx context.Context, cl *client.Client, name string) (client.Page[T], error)

func withName(name string) client.ListOptions {
	return client.ListOptions{PageSize: 2, SortBy: newestFirst.SortBy, Filter: []client.Predicate{client.Equals("name", name)}}
}

func runsNamed(ctx context.Context, cl *client.Client, name string) (client.Page[client.Run], error) {
	return cl.Runs.List(ctx, client.RunListOptions{ListOptions: withName(name)})
}

func jobsNamed(ctx context.Context, cl *client.Client, name string) (client.Page[client.Schedule], error) {
	return cl.Schedules.List(ctx, client.ScheduleListOptions{ListOptions: withName(name)})
}

// free refuses a name that is taken: commands find runs and schedules by their names.
func free[T any](ctx context.Context, cl *client.Client, what, name string, find named[T]) error {
	page, err := find(ctx, cl, name)
	if err == nil && len(page.Items) > 0 {
		err = exit.With(exit.Refused, fmt.Errorf("there is a %s named %s already: choose another --name, or leave it out", what, name))
	}
	return err
}

// only gives the one resource of a name, or the newest of several if that will do, with a word about it on errs.
func only[T any](ctx context.Context, cl *client.Client, what, name string, find named[T], id func(T) string, errs io.Writer) (*T, error) {
	page, err := find(ctx, cl, name)
	switch {
	case err != nil:
		return nil, err
	case len(page.Items) == 0:
		return nil, &client.Error{Status: 404, Code: client.CodeNotFound, Message: fmt.Sprintf("there is no %s %s", what, name)}
	case len(page.Items) == 1:
	case errs == nil:
		return nil, exit.Usagef("%d %ss are named %s; give an id: argosy %s list --name %s", page.Total, what, name, what, name)
	default:
		fmt.Fprintf(errs, "%d %ss are named %s; this is the newest, %s\n", page.Total, what, name, id(page.Items[0]))
	}
	return &page.Items[0], nil
}

func findSchedule(ctx context.Context, cl *client.Client, name string) (*client.Schedule, error) {
	return find(ctx, name, cl.Schedules.Get, func(ctx context.Context, name string) (*client.Schedule, error) {
		return only(ctx, cl, "schedule", name, jobsNamed, func(j client.Schedule) string { return j.ID }, nil)
	})
}

// findRun takes an id, or a name that only one run has: for commands that change runs.
func findRun(ctx context.Context, cl *client.Client, name string) (*client.Run, error) {
	return runNamed(ctx, cl, name, nil)
}

// newestRun takes an id or a name, of several runs the newest: for commands that only read.
func (c *cli) newestRun(ctx context.Context, cl *client.Client, name string) (*client.Run, error) {
	return runNamed(ctx, cl, name, c.err)
}

func runNamed(ctx context.Context, cl *client.Client, name string, errs io.Writer) (*client.Run, error) {
	return find(ctx, name, cl.Runs.Get, func(ctx context.Context, name string) (*client.Run, error) {
		found, err := only(ctx, cl, "run", name, runsNamed, func(r client.Run) string { return r.ID }, errs)
		if err != nil {
			return nil, err
		}
		return cl.Runs.Get(ctx, found.ID)
	})
}
