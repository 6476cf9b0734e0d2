package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/sdk/client"
)

func (c *cli) pruneCommand() *cobra.Command {
	var request client.PruneRequest
	cmd := &cobra.Command{
		Use: "prune [--dry-run]", Short: "Remove old runs, artifacts and logs",
		Long: `Prune removes data of runs beyond a limit: an age since the run's end (90d, 12h), a number of runs of each experiment, or both,
as in 90d,1000. Without a --keep flag the server's own policy applies (argosy up --keep-runs ...), as it does every
hour. Runs that have not ended and archived runs are always kept. With --dry-run the command only lists what it would
remove; -o json names every object.`,
		Example: "  argosy prune --dry-run --keep-runs 90d,1000\n  argosy prune --keep-artifacts 30d --keep-logs 60d",
		Args:    args(cobra.NoArgs, "no arguments"),
		RunE: c.call(func(ctx context.Context, cl *client.Client, _ []string) error {
			pruned, err := cl.Runs.Prune(ctx, request)
			if err != nil {
				return err
			}
			p := c.printer()
			return p.Print(pruned, func() { printPruned(p, pruned, request.DryRun) })
		}),
	}
	f := cmd.Flags()
	f.BoolVar(&request.DryRun, "dry-run", false, "remove nothing; tell what would go, and how many bytes")
	keepRules(cmd, &request.KeepRuns, &request.KeepArtifacts, &request.KeepLogs)
	return cmd
}

func printPruned(p output.Printer, pruned *client.Pruned, dry bool) {
	var rows [][]string
	gone := 0
	for _, r := range pruned.Runs {
		if r.Run {
			gone++
		}
		rows = append(rows, []string{r.Name, r.Experiment, output.Time(r.FinishedAt), whatGoes(r), strconv.FormatInt(r.Bytes, 10), r.Kept, r.RunID})
	}
	verb := "removed"
	if dry {
		verb = "would remove"
	}
	p.Rows("nothing to remove: "+pruned.Policy, []string{"run", "experiment", "ended", "goes", "bytes", "stays because", "id"}, rows)
	if len(rows) > 0 {
		fmt.Fprintf(p.Out, "\n%s %d runs, and %d bytes of artifacts and logs (%s)\n", verb, gone, pruned.Bytes, pruned.Policy)
	}
}

func whatGoes(r client.PrunedRun) string {
	var parts []string
	if r.Run {
		parts = append(parts, "run")
	}
	for _, part := range []struct {
		what string
		n    int
	}{{"artifact", len(r.Artifacts)}, {"log", len(r.Logs)}} {
		switch {
		case part.n == 1:
			parts = append(parts, "1 "+part.what)
		case part.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", part.n, part.what))
		}
	}
	return strings.Join(parts, ", ")
}

// keepRules adds the flags that say what is kept of runs.
func keepRules(cmd *cobra.Command, runs, artifacts, logs *string) {
	f := cmd.Flags()
	f.StringVar(runs, "keep-runs", "", "keep runs of this `age`, this number of each experiment, or both: 90d,1000 (default: all)")
	f.StringVar(artifacts, "keep-artifacts", "", "keep the artifacts of runs of this `age`, number or both (default: as long as the runs)")
	f.StringVar(logs, "keep-logs", "", "keep the logs of runs of this `age`, number or both (default: as long as the runs)")
	for _, flag := range []string{"keep-runs", "keep-artifacts", "keep-logs"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
}
