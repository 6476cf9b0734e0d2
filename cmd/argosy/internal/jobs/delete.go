package jobs

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (e Env) delete() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "delete RUN[/STEP]", Short: "Delete a distributed job, so that its step fails; the run continues as after any failed step",
		Args: targets, ValidArgsFunction: e.Complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := e.Client()
			if err != nil {
				return err
			}
			r, step, err := Target(cmd.Context(), cl, e.Only, args)
			if err != nil {
				return err
			}
			j, err := Job(cmd.Context(), cl, r, step)
			if err != nil {
				return err
			}
			what := fmt.Sprintf("%s %s of step %s of run %s", j.Kind, j.Name, j.StepName, r.Name)
			if !force && !j.Done() {
				holds := fmt.Sprintf("%s has %s workers at work", what, ready(j))
				if err := e.Confirm(holds+"; delete it and stop the step?", holds+"; delete it with --force"); err != nil {
					return err
				}
			}
			if err := cl.Jobs.Stop(cmd.Context(), r.ID, j.Name); err != nil {
				return err
			}
			fmt.Fprintf(e.Out, "the launcher deletes %s\n", what)
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "do not ask")
	return cmd
}
