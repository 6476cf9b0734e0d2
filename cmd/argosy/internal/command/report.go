package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/report"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/sweep"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
	"github.com/argosy-ml/argosy/sdk/client"
)

func (c *cli) reportCommand() *cobra.Command {
	cmd := report.Command(c.reportEnv())
	cmd.ValidArgsFunction = c.completeRuns(true)
	must(cmd.RegisterFlagCompletionFunc("experiment", c.completeExperiments(true)))
	plainFlags(cmd, "where", "metric", "step", "by", "base", "batch", "global-batch", "ignore", "fact", "title", "price", "price-source", "fail-below")
	return cmd
}

func (c *cli) sweepCommand() *cobra.Command {
	cmd := sweep.Command(c.reportEnv())
	must(cmd.RegisterFlagCompletionFunc("experiment", c.completeExperiments(true)))
	must(cmd.RegisterFlagCompletionFunc("preset", cobra.FixedCompletions(sweep.PresetNames(), cobra.ShellCompDirectiveNoFileComp)))
	plainFlags(cmd, "matrix", "param", "strong", "repeats", "seed", "timeout", "metric", "step", "base", "batch", "global-batch", "ignore", "fact", "title", "price", "price-source")
	return cmd
}

// plainFlags says that there is nothing to offer for some flags, not even files.
func plainFlags(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		must(cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions))
	}
}

func (c *cli) reportEnv() report.Env {
	return report.Env{
		Out: c.out, Err: c.err, Color: terminal.Color(c.out), Client: c.client, FindExperiment: findExperiment,
		FindRun: func(ctx context.Context, cl *client.Client, name string) (*client.Run, error) {
			return c.newestRun(ctx, cl, name)
		},
	}
}
