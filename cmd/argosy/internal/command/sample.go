package command

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/sdk/client"
)

// sampleRuns are the commands of the pipelines that come with the server.
type sampleRuns struct{ *cli }

func (c sampleRuns) command() *cobra.Command {
	return group("sample", "Samples, pipelines that come with the server: list, start", c.list(), c.start())
}

func (c sampleRuns) list() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the samples, the one to begin with first", Args: args(cobra.NoArgs, "no arguments"),
		RunE: c.call(func(ctx context.Context, cl *client.Client, _ []string) error {
			all, err := cl.Samples.List(ctx)
			if err != nil {
				return err
			}
			p := c.printer()
			return p.Print(all, func() {
				rows := make([][]string, len(all))
				for i, s := range all {
					rows[i] = []string{s.Name, "ready", s.Description}
					if s.Lacks != "" {
						rows[i][1] = "cannot start"
					}
				}
				p.Rows("no samples", []string{"name", "here", "description"}, rows)
				for _, s := range all {
					if s.Lacks != "" {
						fmt.Fprintf(c.out, "\n%s: %s\n", s.Name, s.Lacks)
					}
				}
			})
		}),
	}
}

func (c sampleRuns) start() *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use: "start [SAMPLE]", Short: "Start a run of a sample; without a name, of the one to begin with",
		Long: `Start stores the sample's pipeline on the server, unless it is there, and starts a run of it with parameters that suit the
server's cluster.`,
		Example: "  argosy sample start\n  argosy sample start data_pipeline --wait",
		Args:    args(cobra.MaximumNArgs(1), "the name of one sample"), ValidArgsFunction: c.names(),
		RunE: c.call(func(ctx context.Context, cl *client.Client, args []string) error {
			name, err := c.chosen(ctx, cl, args)
			if err != nil {
				return err
			}
			r, err := cl.Samples.Start(ctx, name)
			if err != nil {
				return err
			}
			if wait {
				return runs(c).await(ctx, cl, r.ID)
			}
			return c.printer().Print(r, func() { fmt.Fprintf(c.out, "run %s %s\n%s\n", r.Name, r.ID, cl.RunURL(r.ID)) })
		}),
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the run ends; the exit code is 1 if it fails")
	return cmd
}

// chosen is the sample that is named, or the first.
func (c sampleRuns) chosen(ctx context.Context, cl *client.Client, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	all, err := cl.Samples.List(ctx)
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "", errors.New("the server has no samples")
	}
	return all[0].Name, nil
}

func (c sampleRuns) names() completion {
	return completeFrom(c.cli, false, func(cl *client.Client, ctx context.Context) iter.Seq2[client.Sample, error] {
		return func(yield func(client.Sample, error) bool) {
			all, err := cl.Samples.List(ctx)
			if err != nil {
				yield(client.Sample{}, err)
				return
			}
			for _, s := range all {
				if !yield(s, nil) {
					return
				}
			}
		}
	}, func(s client.Sample) []cobra.Completion { return offer(s.Description, s.Name) })
}
