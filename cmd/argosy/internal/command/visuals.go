package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/runview"
	"github.com/argosy-ml/argosy/sdk/client"
)

func (c runs) visuals() *cobra.Command {
	return &cobra.Command{
		Use: "visuals RUN [STEP]", Short: "Show the visual outputs of a run's steps: tables, ROC curves, confusion matrices, reports",
		Long: `Visuals lists the outputs in the steps' mlpipeline-ui-metadata. With STEP it prints them: tables, ROC curves and confusion
matrices in columns, other kinds unchanged. An output that cannot be drawn is printed with the reason.`,
		Example: "  argosy run visuals my-run\n  argosy run visuals my-run report > report.md",
		Args:    args(cobra.RangeArgs(1, 2), "a run and perhaps a step"), ValidArgsFunction: c.completeSteps,
		RunE: c.call(func(ctx context.Context, cl *client.Client, args []string) error {
			r, err := c.newestRun(ctx, cl, args[0])
			if err != nil {
				return err
			}
			node := ""
			if len(args) > 1 {
				n, err := runview.FindStep(r, args[1])
				if err != nil {
					return err
				}
				node = n.ID
			}
			visuals, err := cl.Artifacts.Visuals(ctx, r.ID, node)
			if err != nil {
				return err
			}
			p := c.printer()
			return p.Print(listed(visuals), func() {
				if node == "" {
					runview.VisualTable(p, r, visuals)
				} else if len(visuals) == 0 {
					fmt.Fprintln(c.out, "nothing to look at")
				}
				for _, v := range visuals {
					if node != "" {
						runview.Draw(p, v)
					}
				}
			})
		}),
	}
}
