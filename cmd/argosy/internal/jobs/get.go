package jobs

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/sdk/client"
)

// Shown is a job with the speed of each worker by the name of its pod.
type Shown struct {
	client.RunJob
	Throughput *Throughput       `json:"throughput,omitempty"`
	Speeds     map[string]*Speed `json:"speeds,omitempty"`
}

func (e Env) get() *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use: "get RUN[/STEP]", Short: "Show a distributed job: its workers, the nodes they share, its gang, queue and priority, and what preempted it",
		Example: "  argosy job get tf-eni\n  argosy job get my-run/train -o wide", Args: targets, ValidArgsFunction: e.Complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := e.Client()
			if err != nil {
				return err
			}
			r, j, err := e.find(cmd.Context(), cl, args)
			if err != nil {
				return err
			}
			shown, err := show(cmd.Context(), cl, r, j)
			if err != nil {
				return err
			}
			p := e.printer(f)
			return p.Print(shown, func() { getTable(p, r, shown, f.wide) })
		},
	}
	f.add(cmd)
	return cmd
}

// find finds the job that words name, to look at it.
func (e Env) find(ctx context.Context, cl *client.Client, words []string) (*client.Run, *client.RunJob, error) {
	r, step, err := Target(ctx, cl, e.Run, words)
	if err != nil {
		return nil, nil, err
	}
	j, err := Job(ctx, cl, r, step)
	return r, j, err
}

func show(ctx context.Context, cl *client.Client, r *client.Run, j *client.RunJob) (Shown, error) {
	shown := Shown{RunJob: *j}
	found, err := curves(ctx, cl, r.ID, j.NodeID)
	if err != nil {
		return shown, err
	}
	shown.RunName, shown.Speeds, shown.Throughput = r.Name, speedsOf(j.Workers, found), throughput(found)
	if j.Done() {
		if t := reported(r, j.NodeID); t != nil {
			shown.Throughput = t
		}
	}
	return shown, nil
}

func getTable(p output.Printer, r *client.Run, j Shown, wide bool) {
	waits := ""
	for _, n := range r.Nodes {
		if n.ID == j.NodeID {
			waits = n.Waiting
		}
	}
	p.Fields("Run", r.Name, "Step", j.StepName, "Job", j.Kind+" "+j.Namespace+"/"+j.Name, "State", p.Status(j.State), "Error", j.Message, "Waits", waits,
		"Workers", ready(&j.RunJob), "Ranks", ranks(&j.RunJob), "Priority", priority(&j.RunJob), "Preempted", preemption(&j.RunJob), "Age", age(j.CreatedAt), "Attempt", strconv.Itoa(j.Attempt), "Throughput", j.Throughput.String())
	p.Heading("Workers")
	header := []string{"role", "ranks", "state", "restarts", "age", "node", "throughput"}
	if wide {
		header = append(header, "address", "pod")
	}
	var rows [][]string
	for _, w := range j.Workers {
		row := []string{place(w), rankRange(w), p.Status(w.State), strconv.Itoa(w.Restarts), age(w.CreatedAt), w.Node, j.Speeds[w.Pod].String()}
		if wide {
			row = append(row, w.Address, w.Pod)
		}
		rows = append(rows, append(row, w.Message))
	}
	p.Rows("no pods yet", append(header, ""), rows)
	p.Heading("Nodes")
	p.Rows("no pod has a node yet", []string{"node", "pods"}, nodeRows(j.Workers))
	if g := j.PodGroup; g != nil {
		p.Heading("Gang")
		needs, why := fmt.Sprintf("%d pods at once", g.MinAvailable), g.Message
		if g.MinAvailable <= 1 {
			needs, why = "no gang: each pod as it finds room", ""
		}
		p.Fields("PodGroup", g.Namespace+"/"+g.Name, "Phase", g.Phase, "Queue", g.Queue, "Needs", needs, "Running", strconv.Itoa(g.Running), "Why", why)
	}
}

// ranks says how many ranks were asked for, and how many took part, as far as that is known.
func ranks(j *client.RunJob) string {
	var parts []string
	if j.Requested != nil {
		parts = append(parts, fmt.Sprintf("%d asked for", *j.Requested))
	}
	if j.Proved != nil {
		parts = append(parts, fmt.Sprintf("%d took part", *j.Proved))
	}
	return strings.Join(parts, ", ")
}

func place(w client.Worker) string { return w.Role + " " + strconv.Itoa(w.Index) }

// rankRange is 0-7, or 3.
func rankRange(w client.Worker) string {
	switch {
	case w.FirstRank == nil || w.LastRank == nil:
		return ""
	case *w.FirstRank == *w.LastRank:
		return strconv.Itoa(*w.FirstRank)
	}
	return fmt.Sprintf("%d-%d", *w.FirstRank, *w.LastRank)
}
