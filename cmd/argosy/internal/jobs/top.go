package jobs

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/sdk/client"
)

const topHelp = `Top shows the resource usage and the throughput of each worker of a distributed job.

CPU and memory come from the cluster's metrics API (metrics.k8s.io, of metrics-server). In a cluster without it, such as the
embedded one, the table has only throughput and says so. Throughput is the median of a rank's last 10 values.
On a terminal the table is updated until the job ends, or until Ctrl-C; elsewhere it is printed once.`

// Used is a row of the table.
type Used struct {
	client.Worker
	Use   []client.Amount `json:"use,omitempty"`
	Speed *Speed          `json:"speed,omitempty"`
}

// Top is the table.
type Top struct {
	Run     string `json:"run"`
	Step    string `json:"step"`
	Job     string `json:"job"`
	State   string `json:"state"`
	Metric  string `json:"metric,omitempty"`  // of the speeds
	Message string `json:"message,omitempty"` // why CPU and memory are not known
	Workers []Used `json:"workers"`
}

func (e Env) top() *cobra.Command {
	var f format
	var once bool
	var every time.Duration
	cmd := &cobra.Command{
		Use: "top RUN[/STEP]", Short: "Show the resource usage and the throughput of each worker of a distributed job", Long: topHelp,
		Args: targets, ValidArgsFunction: e.Complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			if every < time.Second {
				return exit.Usagef("--interval %s: want 1s or more", every)
			}
			cl, err := e.Client()
			if err != nil {
				return err
			}
			r, j, err := e.find(cmd.Context(), cl, args)
			if err != nil {
				return err
			}
			if once || !e.Terminal || f.Format != output.Table {
				t, err := look(cmd.Context(), cl, r, j)
				if err != nil {
					return err
				}
				return e.printer(f).Print(t, func() { topTable(e.printer(f), t, f.wide) })
			}
			return e.follow(cmd.Context(), cl, r, j, f, every)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&once, "once", false, "print the table once, on a terminal too")
	cmd.Flags().DurationVar(&every, "interval", 2*time.Second, "`time` between updates")
	must(cmd.RegisterFlagCompletionFunc("interval", cobra.NoFileCompletions))
	return cmd
}

// follow draws the table again and again, until the job has ended or the user has seen enough.
func (e Env) follow(ctx context.Context, cl *client.Client, r *client.Run, j *client.RunJob, f format, every time.Duration) error {
	const clear = "\x1b[H\x1b[2J"
	for {
		t, err := look(ctx, cl, r, j)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Fprint(e.Out, clear)
		topTable(e.printer(f), t, f.wide)
		if j.Done() {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
		if j, err = Job(ctx, cl, r, j.Name); err != nil && ctx.Err() == nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// look reads what the workers of a job do now.
func look(ctx context.Context, cl *client.Client, r *client.Run, j *client.RunJob) (*Top, error) {
	use, err := cl.Cluster.Use(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	found, err := curves(ctx, cl, r.ID, j.NodeID)
	if err != nil {
		return nil, err
	}
	t := &Top{Run: r.Name, Step: j.StepName, Job: j.Kind + " " + j.Name, State: j.State, Message: use.Message, Workers: []Used{}}
	if len(use.Missing) > 0 {
		t.Message = fmt.Sprintf("the server may not %s %s: apply manifests/base to give it the right", use.Missing[0].Verb, use.Missing[0].Resource)
	}
	if len(found) > 0 {
		t.Metric = found[0].Name
	}
	fast := speedsOf(j.Workers, found)
	for _, w := range j.Workers {
		row := Used{Worker: w, Speed: fast[w.Pod]}
		for _, p := range use.Pods {
			if p.Pod == w.Pod {
				row.Use = p.Used
			}
		}
		t.Workers = append(t.Workers, row)
	}
	return t, nil
}

func topTable(p output.Printer, t *Top, wide bool) {
	fmt.Fprintf(p.Out, "%s/%s  %s  %s\n\n", t.Run, t.Step, t.Job, p.Status(t.State))
	header := []string{"role", "ranks", "state", "cpu", "memory"}
	if t.Metric != "" {
		header = append(header, t.Metric+" of each rank")
	}
	header = append(header, "node")
	if wide {
		header = append(header, "pod")
	}
	var rows [][]string
	for _, w := range t.Workers {
		row := []string{place(w.Worker), rankRange(w.Worker), p.Status(w.State), used(w.Use, "cpu"), used(w.Use, "memory")}
		if t.Metric != "" {
			row = append(row, w.Speed.String())
		}
		row = append(row, w.Node)
		if wide {
			row = append(row, w.Pod)
		}
		rows = append(rows, row)
	}
	p.Rows("no pods yet", header, rows)
	if t.Message != "" {
		fmt.Fprintf(p.Out, "\nCPU and memory are not known: %s\n", t.Message)
	}
	if t.Metric == "" {
		fmt.Fprintln(p.Out, "\nThroughput is not known: no rank prints a metric such as images/sec")
	}
}

// used is an amount as people read it: CPUs with two decimals, memory in MiB.
func used(all []client.Amount, resource string) string {
	for _, a := range all {
		switch {
		case a.Resource != resource:
		case resource == "memory":
			return strconv.FormatFloat(a.Value/(1<<20), 'f', 0, 64) + "Mi"
		default:
			return strconv.FormatFloat(a.Value, 'f', 2, 64)
		}
	}
	return ""
}
