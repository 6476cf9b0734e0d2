package command

import (
	"context"
	"fmt"

	"github.com/argosy-ml/argosy/sdk/client"
)

// checkRun shows what a run would be, and fails where the cluster can never hold it. It leaves no trace.
func (c *cli) checkRun(ctx context.Context, cl *client.Client, flags *runFlags) error {
	experiment := flags.experiment
	flags.experiment = "" // which resolve would make
	n, err := flags.resolve(ctx, cl)
	if err != nil {
		return err
	}
	if experiment != "" {
		e, err := findExperiment(ctx, cl, experiment)
		switch {
		case err == nil:
			n.ExperimentID = e.ID
		case !client.IsNotFound(err):
			return err
		}
	}
	check, err := cl.Runs.Check(ctx, n)
	if err != nil {
		return err
	}
	p := c.printer()
	err = p.Print(check, func() {
		fmt.Fprintf(c.out, "run %s would start\n", check.Run.Name)
		p.Rows("no parameters", []string{"parameter", "value"}, parameterRows(check.Run.Parameters))
		switch {
		case len(check.Shortages) > 0:
		case check.Checked:
			fmt.Fprintln(c.out, "the cluster has room for every step")
		default:
			fmt.Fprintln(c.out, "not every step was compared with the cluster: it adds nodes by itself, or its nodes or queues cannot be read")
		}
		for _, s := range check.Shortages {
			fmt.Fprintln(c.out, s)
		}
		for _, concern := range check.Concerns {
			fmt.Fprintln(c.out, "warning:", concern)
		}
	})
	if err == nil && len(check.Shortages) > 0 {
		err = fmt.Errorf("run %s: the cluster can never hold it; steps: %d", check.Run.Name, len(check.Shortages))
	}
	return err
}
