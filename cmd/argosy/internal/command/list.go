package command

import (
	"context"
	"iter"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
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
	cmd.Flags().StringVar(&f.sort, "sort", "created_at desc", "`order`: a field, and desc for the other way round")
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
	return find(ctx, name, cl.Pipeline, cl.PipelineByName)
}

func findExperiment(ctx context.Context, cl *client.Client, name string) (*client.Experiment, error) {
	return find(ctx, name, cl.Experiment, cl.ExperimentByName)
}

func findJob(ctx context.Context, cl *client.Client, name string) (*client.Job, error) {
	return find(ctx, name, cl.Job, func(ctx context.Context, name string) (*client.Job, error) {
		page, err := cl.Jobs(ctx, client.JobListOptions{ListOptions: client.ListOptions{
			PageSize: 2, SortBy: newestFirst.SortBy, Filter: []client.Predicate{client.Equals("name", name)},
		}})
		switch {
		case err != nil:
			return nil, err
		case len(page.Items) == 0:
			return nil, &client.Error{Status: 404, Code: client.CodeNotFound, Message: "there is no job " + name}
		case len(page.Items) > 1:
			return nil, exit.Usagef("several jobs are named %s; give an id (the newest is %s)", name, page.Items[0].ID)
		}
		return &page.Items[0], nil
	})
}

// findRun takes an id, or a name that only one run has: names of runs need not be unique.
func findRun(ctx context.Context, cl *client.Client, name string) (*client.Run, error) {
	return find(ctx, name, cl.Run, func(ctx context.Context, name string) (*client.Run, error) {
		page, err := cl.Runs(ctx, client.RunListOptions{ListOptions: client.ListOptions{
			PageSize: 2, SortBy: newestFirst.SortBy, Filter: []client.Predicate{client.Equals("name", name)},
		}})
		switch {
		case err != nil:
			return nil, err
		case len(page.Items) == 0:
			return nil, &client.Error{Status: 404, Code: client.CodeNotFound, Message: "there is no run " + name}
		case len(page.Items) > 1:
			return nil, exit.Usagef("several runs are named %s; give an id (the newest is %s)", name, page.Items[0].ID)
		}
		return cl.Run(ctx, page.Items[0].ID)
	})
}
