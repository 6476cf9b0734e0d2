package command

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/sdk/client"
)

// CompletionTime is how long a shell waits for what the server offers; it must not hang on one that is away. Tests change it.
var CompletionTime = 2 * time.Second

const completionItems = 200

type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// completeFrom offers what the server has. several is for arguments that may be given more than once.
func completeFrom[T any](c *cli, several bool, all func(*client.Client, context.Context) iter.Seq2[T, error], offer func(T) []cobra.Completion) completion {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		const none = cobra.ShellCompDirectiveNoFileComp
		if len(args) > 0 && !several {
			return nil, none
		}
		cl, err := c.client()
		if err != nil {
			return nil, none
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), CompletionTime)
		defer cancel()
		var words []string
		for item, err := range all(cl, ctx) {
			if err != nil || len(words) >= completionItems {
				break
			}
			words = append(words, offer(item)...)
		}
		return words, none
	}
}

// offer is the words for one thing, with what the shell shows beside them.
func offer(about string, words ...string) (all []cobra.Completion) {
	for _, word := range words {
		all = append(all, cobra.CompletionWithDesc(word, about))
	}
	return all
}

var newestFirst = client.ListOptions{SortBy: "created_at desc", PageSize: completionItems}

func (c *cli) completePipelines(several bool) completion {
	return completeFrom(c, several, func(cl *client.Client, ctx context.Context) iter.Seq2[client.Pipeline, error] {
		return cl.Pipelines.All(ctx, newestFirst)
	}, func(p client.Pipeline) []cobra.Completion { return offer(p.Description, p.Name) })
}

func (c *cli) completeExperiments(several bool) completion {
	return completeFrom(c, several, func(cl *client.Client, ctx context.Context) iter.Seq2[client.Experiment, error] {
		return cl.Experiments.All(ctx, newestFirst)
	}, func(e client.Experiment) []cobra.Completion { return offer(e.Description, e.Name) })
}

// completeOf offers something that a run has.
func (c *cli) completeOf(cmd *cobra.Command, run string, words func(*client.Run) []string) ([]string, cobra.ShellCompDirective) {
	cl, err := c.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), CompletionTime)
	defer cancel()
	r, err := runNamed(ctx, cl, run, io.Discard)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return words(r), cobra.ShellCompDirectiveNoFileComp
}

func (c *cli) completeSchedules(several bool) completion {
	return completeFrom(c, several, func(cl *client.Client, ctx context.Context) iter.Seq2[client.Schedule, error] {
		return cl.Schedules.All(ctx, client.ScheduleListOptions{ListOptions: newestFirst})
	}, func(j client.Schedule) []cobra.Completion { return offer(j.Status+", "+j.Trigger.String(), j.Name) })
}

func (c *cli) completeRuns(several bool) completion {
	return completeFrom(c, several, func(cl *client.Client, ctx context.Context) iter.Seq2[client.Run, error] {
		return cl.Runs.All(ctx, client.RunListOptions{ListOptions: newestFirst})
	}, func(r client.Run) []cobra.Completion { return offer(r.Name+" "+r.Status, r.Name, r.ID) })
}
