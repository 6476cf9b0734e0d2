package jobs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/sdk/client"
)

// states are those that a job can have.
var states = []string{"Created", "Pending", "Suspended", "Running", "Terminating", "Succeeded", "Failed"}

// Listed is a row of the list.
type Listed struct {
	client.RunJob
	Throughput *Throughput `json:"throughput,omitempty"`
}

func (e Env) list() *cobra.Command {
	var f format
	var o client.JobOptions
	var status string
	cmd := &cobra.Command{
		Use: "list", Short: "List the distributed jobs in the cluster, the newest first",
		Example: "  argosy job list --status running\n  argosy job list -o wide", ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return exit.Usagef("%s takes no arguments, not %q", cmd.CommandPath(), args)
			}
			if o.Limit < 0 {
				return exit.Usagef("--limit %d: want a number of rows, or 0 for all", o.Limit)
			}
			if status != "" {
				o.States = strings.Split(status, ",")
			}
			cl, err := e.Client()
			if err != nil {
				return err
			}
			found, err := cl.Jobs.List(cmd.Context(), o)
			if err != nil {
				return err
			}
			rows, err := withThroughput(cmd.Context(), cl, found.Jobs)
			if err != nil {
				return err
			}
			if err := tellApart(cmd.Context(), cl, rows); err != nil {
				return err
			}
			p := e.printer(f)
			return p.Print(rows, func() {
				listTable(p, rows, f.wide)
				if n := found.Total - len(rows); n > 0 {
					fmt.Fprintf(e.Err, "%d more: --limit 0 lists all\n", n)
				}
				e.missing(found.Missing)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&status, "status", "", "only those in one of these `states`, in any case, such as running,pending")
	cmd.Flags().IntVar(&o.Limit, "limit", 20, "at most `n`; 0 is all")
	must(cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(states, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("limit", cobra.NoFileCompletions))
	return cmd
}

// tellApart names the steps of jobs that a loop has started with their items.
func tellApart(ctx context.Context, cl *client.Client, rows []Listed) error {
	type step struct{ run, name string }
	times := map[step]int{}
	for i := range rows {
		times[step{rows[i].RunID, rows[i].StepName}]++
	}
	runs := map[string]*client.Run{}
	for i := range rows {
		row := &rows[i]
		if row.RunName == "" || times[step{row.RunID, row.StepName}] < 2 {
			continue
		}
		if runs[row.RunID] == nil {
			r, err := cl.Runs.Get(ctx, row.RunID)
			if client.IsNotFound(err) { // deleted meanwhile
				continue
			}
			if err != nil {
				return err
			}
			runs[row.RunID] = r
		}
		row.StepName = stepLabel(runs[row.RunID], &row.RunJob)
	}
	return nil
}

// withThroughput adds how fast jobs are: those that run by what their ranks print, others by what their steps reported.
func withThroughput(ctx context.Context, cl *client.Client, jobs []client.RunJob) ([]Listed, error) {
	const together = 4
	rows := make([]Listed, len(jobs))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(together)
	for i, j := range jobs {
		rows[i].RunJob = j
		if j.RunName == "" || j.NodeID == "" { // its run is not there any more
			continue
		}
		work.Go(func() (err error) {
			rows[i].Throughput, err = fast(ctx, cl, &j)
			return err
		})
	}
	return rows, work.Wait()
}

func fast(ctx context.Context, cl *client.Client, j *client.RunJob) (*Throughput, error) {
	if j.Done() {
		r, err := cl.Runs.Get(ctx, j.RunID)
		if client.IsNotFound(err) { // deleted meanwhile
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if t := reported(r, j.NodeID); t != nil {
			return t, nil
		}
	}
	found, err := curves(ctx, cl, j.RunID, j.NodeID)
	if client.IsNotFound(err) {
		return nil, nil
	}
	return throughput(found), err
}

func listTable(p output.Printer, jobs []Listed, wide bool) {
	header := []string{"run", "step", "kind", "state", "workers", "age", "node", "throughput"}
	if wide {
		header = append(header, "job", "namespace", "queue", "attempt", "run id", "")
	}
	var rows [][]string
	for _, j := range jobs {
		row := []string{j.RunName, j.StepName, j.Kind, p.Status(j.State), ready(&j.RunJob), age(j.CreatedAt), places(j.Workers, wide), j.Throughput.String()}
		if wide {
			queue := ""
			if j.PodGroup != nil {
				queue = j.PodGroup.Queue
			}
			row = append(row, j.Name, j.Namespace, queue, strconv.Itoa(j.Attempt), j.RunID, j.Message)
		}
		rows = append(rows, row)
	}
	p.Rows("no distributed jobs in the cluster; start one with argosy submit, or run a pipeline that has one", header, rows)
}

// ready says how many of the job's workers run, of how many; of a job that has ended, how many it had. Those that only
// start others do not count.
func ready(j *client.RunJob) string {
	running, all := 0, 0
	for _, w := range j.Workers {
		if w.Role == "launcher" {
			continue
		}
		all++
		if w.State == "Running" {
			running++
		}
	}
	if j.Pods != nil {
		all = *j.Pods
	}
	if j.State == "Succeeded" || j.State == "Failed" {
		return strconv.Itoa(all)
	}
	return fmt.Sprintf("%d/%d", running, all)
}

func age(created time.Time) string {
	if created.IsZero() {
		return ""
	}
	return output.Duration(max(time.Since(created).Truncate(time.Second), time.Second))
}

// places are the machines that workers are on.
func places(workers []client.Worker, all bool) string {
	const most = 2
	var names []string
	for _, w := range workers {
		if w.Node != "" && !slices.Contains(names, w.Node) {
			names = append(names, w.Node)
		}
	}
	slices.Sort(names)
	if n := len(names) - most; n > 0 && !all {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ","), n)
	}
	return strings.Join(names, ",")
}
