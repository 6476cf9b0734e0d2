package command

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/runview"
	"github.com/argosy-ml/argosy/sdk/client"
)

func (c *cli) runLogs() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use: "logs RUN [STEP]", Short: "Print the logs of a run, or of one of its steps",
		Args: args(cobra.RangeArgs(1, 2), "a run and perhaps a step"), ValidArgsFunction: c.completeSteps,
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.client()
			if err != nil {
				return err
			}
			r, err := findRun(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			if len(args) == 2 {
				n, err := runview.FindStep(r, args[1])
				if err != nil {
					return err
				}
				return c.copyLog(cmd.Context(), cl, r.ID, n, follow)
			}
			if follow {
				return c.followLogs(cmd.Context(), cl, r.ID)
			}
			return c.allLogs(cmd.Context(), cl, r)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run, or the step, ends")
	return cmd
}

func (c *cli) copyLog(ctx context.Context, cl *client.Client, run string, n client.Node, follow bool) error {
	log, err := cl.Logs(ctx, run, n.ID, follow)
	if err != nil {
		return err
	}
	defer log.Close()
	_, err = io.Copy(c.out, log)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (c *cli) allLogs(ctx context.Context, cl *client.Client, r *client.Run) error {
	for _, n := range runview.Steps(r) {
		if !n.HasLog {
			continue
		}
		c.header(n)
		if err := c.copyLog(ctx, cl, r.ID, n, false); err != nil {
			return err
		}
	}
	return nil
}

// followLogs prints the lines of all steps as they come.
func (c *cli) followLogs(ctx context.Context, cl *client.Client, run string) error {
	last := ""
	f := runview.Follower{
		Client: cl,
		Line: func(n client.Node, line string) {
			if n.ID != last {
				c.header(n)
				last = n.ID
			}
			fmt.Fprintln(c.out, line)
		},
		Lost: func(_ client.Node, err error) { fmt.Fprintln(c.err, err) },
	}
	_, err := f.Run(ctx, run)
	return err
}

// header goes to stderr, so that stdout has nothing but logs.
func (c *cli) header(n client.Node) { fmt.Fprintf(c.err, "==> %s <==\n", runview.Name(n)) }

func (c *cli) completeSteps(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return c.completeRuns(false)(cmd, args, toComplete)
	}
	return c.completeOf(cmd, args[0], func(r *client.Run) (words []string) {
		for _, n := range runview.Steps(r) {
			words = append(words, cobra.CompletionWithDesc(runview.Name(n), n.Phase))
		}
		return words
	})
}
