package command

import (
	"context"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/sdk/client"
)

const (
	completionTime  = 2 * time.Second // a shell must not hang on a server that is away
	completionItems = 200
)

type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// completeFrom offers what the server has. several is for arguments that may be given more than once.
func completeFrom[T any](c *cli, several bool, all func(*client.Client, context.Context) iter.Seq2[T, error], text func(T) (word, about string)) completion {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		const none = cobra.ShellCompDirectiveNoFileComp
		if len(args) > 0 && !several {
			return nil, none
		}
		cl, err := c.client()
		if err != nil {
			return nil, none
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		var words []string
		for item, err := range all(cl, ctx) {
			if err != nil || len(words) == completionItems {
				break
			}
			word, about := text(item)
			words = append(words, cobra.CompletionWithDesc(word, about))
		}
		return words, none
	}
}

var newestFirst = client.ListOptions{SortBy: "created_at desc", PageSize: completionItems}

func (c *cli) completePipelines(several bool) completion {
	return completeFrom(c, several, func(cl *client.Client, ctx context.Context) iter.Seq2[client.Pipeline, error] {
		return cl.AllPipelines(ctx, newestFirst)
	}, func(p client.Pipeline) (string, string) { return p.Name, p.Description })
}

func (c *cli) completeExperiments(several bool) completion {
	return completeFrom(c, several, func(cl *client.Client, ctx context.Context) iter.Seq2[client.Experiment, error] {
		return cl.AllExperiments(ctx, newestFirst)
	}, func(e client.Experiment) (string, string) { return e.Name, e.Description })
}

// completeOf offers something that a run has.
func (c *cli) completeOf(cmd *cobra.Command, run string, words func(*client.Run) []string) ([]string, cobra.ShellCompDirective) {
	cl, err := c.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	r, err := findRun(ctx, cl, run)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return words(r), cobra.ShellCompDirectiveNoFileComp
}

func (c *cli) completeJobs(several bool) completion {
	return completeFrom(c, several, func(cl *client.Client, ctx context.Context) iter.Seq2[client.Job, error] {
		return cl.AllJobs(ctx, client.JobListOptions{ListOptions: newestFirst})
	}, func(j client.Job) (string, string) { return j.Name, j.Status + ", " + j.Trigger.String() })
}

func (c *cli) completeRuns(several bool) completion {
	return completeFrom(c, several, func(cl *client.Client, ctx context.Context) iter.Seq2[client.Run, error] {
		return cl.AllRuns(ctx, client.RunListOptions{ListOptions: newestFirst})
	}, func(r client.Run) (string, string) { return r.ID, r.Name + " " + r.Status })
}
