package jobs

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/sdk/client"
)

// Pending is the command `argosy run pending`.
func Pending(e Env) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use: "pending RUN", Short: "List waiting steps: the cause, since when, and what they request and what is free",
		Example: "  argosy run pending my-run\n  argosy run pending my-run -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usagef("%s takes the id or name of one run", cmd.CommandPath())
			}
			cl, err := e.Client()
			if err != nil {
				return err
			}
			r, err := e.Run(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			found, err := cl.Cluster.Pending(cmd.Context(), r.ID)
			if err != nil {
				return err
			}
			if found.Pending == nil {
				found.Pending = []client.PendingStep{}
			}
			p := e.printer(f)
			return p.Print(found, func() {
				pendingTable(p, found.Pending)
				e.missing(found.Missing)
			})
		},
	}
	f.add(cmd)
	return cmd
}

func pendingTable(p output.Printer, steps []client.PendingStep) {
	var rows [][]string
	for _, s := range steps {
		name := s.StepName
		if s.NodeID == "" {
			name = "(the run)"
		}
		rows = append(rows, []string{name, s.Cause, age(s.Since), until(s), s.Sentence})
	}
	p.Rows("nothing waits", []string{"step", "cause", "for", "at most until", "waits for"}, rows)
	rows = nil
	for _, s := range steps {
		for _, r := range s.Resources {
			mark := ""
			if r.Lacking {
				mark = "too little"
			}
			rows = append(rows, []string{
				s.StepName, fmt.Sprint(s.Pods), r.Resource, output.Amount(r.Resource, r.Asked), output.Amount(r.Resource, r.LargestAsked),
				maybe(r.Resource, r.Free), maybe(r.Resource, r.LargestFree), mark,
			})
		}
	}
	if len(rows) > 0 {
		p.Heading("What waiting pods ask for")
		p.Rows("", []string{"step", "pods", "resource", "asked", "by one pod", "free", "on one node", ""}, rows)
	}
}

// limits are the words for what ends the waiting of a step.
var limits = map[string]string{"RUN_DEADLINE": "the run's deadline", "STEP_DEADLINE": "the step's deadline", "PENDING_TIMEOUT": "the pending timeout"}

// until is when the waiting of a step ends, and by what.
func until(s client.PendingStep) string {
	if s.Until.IsZero() {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", s.Until.Local().Format("2006-01-02 15:04:05"), cmp.Or(limits[s.UntilBy], s.UntilBy))
}

// maybe is an amount that may not be known.
func maybe(resource string, value *float64) string {
	if value == nil {
		return "?"
	}
	return output.Amount(resource, *value)
}
