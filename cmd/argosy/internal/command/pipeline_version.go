package command

import (
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/sdk/client"
)

func (c pipelines) setDefault() *cobra.Command {
	return &cobra.Command{
		Use: "set-default PIPELINE VERSION", Short: "Make a version the one that runs when none is named",
		Example: "  argosy pipeline set-default mpi_run bigger-batches",
		Args:    args(cobra.ExactArgs(2), "a pipeline and one of its versions, by name or id"), ValidArgsFunction: c.completeVersions(false),
		RunE: c.call(func(ctx context.Context, cl *client.Client, args []string) error {
			p, err := findPipeline(ctx, cl, args[0])
			if err != nil {
				return err
			}
			v, err := findVersion(ctx, cl, p.ID, args[1])
			if err != nil {
				return err
			}
			if err := cl.Versions.SetDefault(ctx, p.ID, v.ID); err != nil {
				return err
			}
			return c.printer().Print(v, func() { fmt.Fprintf(c.out, "version %s is the default of pipeline %s\n", v.Name, p.Name) })
		}),
	}
}

func (c pipelines) deleteVersion() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "delete-version PIPELINE VERSION...", Short: "Delete versions of a pipeline; their runs and schedules stay",
		Example: "  argosy pipeline delete-version mpi_run bigger-batches",
		Args:    args(cobra.MinimumNArgs(2), "a pipeline and its versions, by name or id"), ValidArgsFunction: c.completeVersions(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.forEach(args[1:], "deleted version", func(cl *client.Client, name string) error {
				p, err := findPipeline(cmd.Context(), cl, args[0]) // each time, as the default may be another one by now
				if err != nil {
					return err
				}
				v, err := findVersion(cmd.Context(), cl, p.ID, name)
				if err != nil {
					return err
				}
				if !force {
					if err := c.confirmVersion(cmd.Context(), cl, p, v); err != nil {
						return err
					}
				}
				return cl.Versions.Delete(cmd.Context(), v.ID)
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "do not ask")
	return cmd
}

// confirmVersion asks before a version is deleted, and names the next default if it is the default.
func (c pipelines) confirmVersion(ctx context.Context, cl *client.Client, p *client.Pipeline, v *client.PipelineVersion) error {
	about := fmt.Sprintf("version %s of pipeline %s", v.Name, p.Name)
	if p.Default != nil && p.Default.ID == v.ID {
		newest, err := cl.Versions.List(ctx, p.ID, client.ListOptions{SortBy: newestFirst.SortBy, PageSize: 2})
		if err != nil {
			return err
		}
		about += " is the only one"
		for _, other := range newest.Items {
			if other.ID != v.ID {
				about = fmt.Sprintf("version %s of pipeline %s is the default; %s becomes the default", v.Name, p.Name, other.Name)
				break
			}
		}
	}
	return c.confirm("delete "+about+"?", about+"; delete it with --force")
}

// findVersion returns a version of a pipeline by its id or name.
func findVersion(ctx context.Context, cl *client.Client, pipelineID, name string) (*client.PipelineVersion, error) {
	byID := client.ListOptions{PageSize: 1, Filter: []client.Predicate{client.Equals("id", name)}} // Versions.Get finds those of other pipelines too
	found, err := cl.Versions.List(ctx, pipelineID, byID)
	if err != nil {
		return nil, err
	}
	if len(found.Items) > 0 {
		return &found.Items[0], nil
	}
	return cl.Versions.ByName(ctx, pipelineID, name)
}

// completeVersions offers pipelines, and then versions of the pipeline that is named.
func (c pipelines) completeVersions(several bool) completion {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return c.completePipelines(false)(cmd, args, toComplete)
		}
		return completeFrom(c.cli, several, func(cl *client.Client, ctx context.Context) iter.Seq2[client.PipelineVersion, error] {
			p, err := findPipeline(ctx, cl, args[0])
			if err != nil {
				return func(yield func(client.PipelineVersion, error) bool) { yield(client.PipelineVersion{}, err) }
			}
			return cl.Versions.All(ctx, p.ID, newestFirst)
		}, func(v client.PipelineVersion) []cobra.Completion { return offer(v.Description, v.Name) })(cmd, args[1:], toComplete)
	}
}
