package command

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/sdk/client"
)

// edit changes what its flags name; the rest of a schedule stays.
func (c schedules) edit() *cobra.Command {
	var n client.NewSchedule
	var version, experiment, start, end string
	var values []string
	cmd := &cobra.Command{
		Use: "edit SCHEDULE", Short: "Change a schedule: its name, times, parameters or version; its runs stay",
		Example: "  argosy schedule edit nightly --cron '0 4 * * *' -p workers=4",
		Args:    args(cobra.ExactArgs(1), "the name or id of one schedule"), ValidArgsFunction: c.completeSchedules(false),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.client()
			if err != nil {
				return err
			}
			j, err := findSchedule(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			if j.Pipeline.VersionID == "" {
				return exit.Usagef("schedule %s runs a manifest of its own, without a pipeline; delete it and make another", j.Name)
			}
			given := cmd.Flags().Changed
			asked := n
			n := client.NewSchedule{
				NewRun: client.NewRun{
					Name: j.Name, Description: j.Description, PipelineID: j.Pipeline.ID, VersionID: j.Pipeline.VersionID,
					ExperimentID: j.Experiment.ID, ServiceAccount: j.ServiceAccount,
				},
				Trigger: j.Trigger, MaxConcurrency: j.MaxConcurrency, NoCatchup: j.NoCatchup,
			}
			if given("name") && asked.Name != j.Name {
				if err := free(cmd.Context(), cl, "schedule", asked.Name, jobsNamed); err != nil {
					return err
				}
				n.Name = asked.Name
			}
			if given("description") {
				n.Description = asked.Description
			}
			if given("max-concurrency") {
				n.MaxConcurrency = asked.MaxConcurrency
			}
			if given("no-catchup") {
				n.NoCatchup = asked.NoCatchup
			}
			if given("cron") || given("every") {
				n.Trigger.Cron, n.Trigger.Every = asked.Trigger.Cron, asked.Trigger.Every
			}
			if given("start") { // an empty one takes the bound away
				n.Trigger.Start = time.Time{}
			}
			if given("end") {
				n.Trigger.End = time.Time{}
			}
			once := n.Trigger.Cron == "" && n.Trigger.Every == 0
			if n.Trigger, err = trigger(n.Trigger, start, end, once); err != nil {
				return err
			}
			if version != "" {
				v, err := findVersion(cmd.Context(), cl, j.Pipeline.ID, version)
				if err != nil {
					return err
				}
				n.VersionID = v.ID
			}
			if experiment != "" {
				e, err := find(cmd.Context(), experiment, cl.Experiments.Get, cl.Experiments.Ensure)
				if err != nil {
					return err
				}
				n.ExperimentID = e.ID
			}
			changed, err := parameters(values)
			if err != nil {
				return err
			}
			n.Parameters = merged(j.Parameters, changed)
			j, err = cl.Schedules.Update(cmd.Context(), j.ID, n)
			if err != nil {
				return err
			}
			return c.printer().Print(j, func() { fmt.Fprintf(c.out, "changed schedule %s\n", j.Name) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&n.Name, "name", "", "another `name`, which no other schedule has")
	f.StringVar(&n.Description, "description", "", "another `text` shown with it")
	f.StringVar(&version, "version", "", "another `version` of its pipeline (name or id)")
	f.StringVar(&experiment, "experiment", "", "another `experiment` for its runs; made if there is none of that name")
	f.StringArrayVarP(&values, "param", "p", nil, "set a parameter, as `name=value`; the others stay")
	scheduleFlags(cmd, &n, &start, &end)
	must(cmd.RegisterFlagCompletionFunc("experiment", c.completeExperiments(true)))
	for _, flag := range []string{"name", "description", "version", "param"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
	return cmd
}

// merged returns the values with some of them changed and others added.
func merged(values, changed []client.Parameter) []client.Parameter {
	all := slices.Clone(values)
	for _, p := range changed {
		at := slices.IndexFunc(all, func(old client.Parameter) bool { return old.Name == p.Name })
		if at < 0 {
			all = append(all, p)
		} else {
			all[at] = p
		}
	}
	return all
}
