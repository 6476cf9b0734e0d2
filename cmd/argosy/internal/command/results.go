package command

import (
	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/runview"
	"github.com/argosy-ml/argosy/sdk/client"
)

func (c *cli) runCompare() *cobra.Command {
	return &cobra.Command{
		Use: "compare RUN RUN...", Short: "Put parameters and metrics of runs beside each other",
		Args: args(cobra.MinimumNArgs(2), "ids or names of two runs or more"), ValidArgsFunction: c.completeRuns(true),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.client()
			if err != nil {
				return err
			}
			runs := make([]*client.Run, len(args))
			for i, name := range args {
				if runs[i], err = findRun(cmd.Context(), cl, name); err != nil {
					return err
				}
			}
			found := client.CompareRuns(runs...)
			p := c.printer()
			return p.Print(found, func() { comparisonTable(p, found) })
		},
	}
}

// comparisonTable prints what differs first: parameters that are the same in all runs come last.
func comparisonTable(p output.Printer, found *client.Comparison) {
	header, status, took := []string{""}, []string{"status"}, []string{"took"}
	for i, r := range found.Runs {
		header = append(header, r.Name)
		status = append(status, p.Status(r.Status))
		took = append(took, output.Duration(found.Took()[i]))
	}
	rows := [][]string{status, took}
	for _, m := range found.Metrics {
		row := []string{m.Name + " of " + m.Step}
		for _, v := range m.Values {
			if v == nil {
				row = append(row, "")
				continue
			}
			row = append(row, runview.MetricValue(client.Metric{Value: *v, Format: m.Format}))
		}
		rows = append(rows, row)
	}
	for _, same := range []bool{false, true} {
		for _, r := range found.Parameters {
			if r.Same == same {
				rows = append(rows, append([]string{r.Name}, r.Values...))
			}
		}
	}
	p.Rows("", header, rows)
}

func (c *cli) runArtifact() *cobra.Command {
	var archive bool
	cmd := &cobra.Command{
		Use: "artifact RUN STEP NAME", Short: "Print a file that a step left",
		Example: "  argosy run artifact my-run train model > model.json",
		Args:    args(cobra.ExactArgs(3), "a run, a step and the name of an artifact"), ValidArgsFunction: c.completeArtifacts,
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.client()
			if err != nil {
				return err
			}
			r, err := findRun(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			n, err := runview.FindStep(r, args[1])
			if err != nil {
				return err
			}
			read := cl.ArtifactFile
			if archive {
				read = cl.Artifact
			}
			data, err := read(cmd.Context(), r.ID, n.ID, args[2])
			if err != nil {
				return err
			}
			_, err = c.out.Write(data)
			return err
		},
	}
	cmd.Flags().BoolVar(&archive, "archive", false, "as it is stored, mostly a .tar.gz: for folders")
	return cmd
}

func (c *cli) completeArtifacts(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 2 {
		return c.completeSteps(cmd, args, toComplete)
	}
	return c.completeOf(cmd, args[0], func(r *client.Run) (words []string) {
		n, err := runview.FindStep(r, args[1])
		if err != nil {
			return nil
		}
		for _, a := range n.Artifacts {
			words = append(words, a.Name)
		}
		return words
	})
}
