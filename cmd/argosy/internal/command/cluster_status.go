package command

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/embedded"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
)

func (c clusters) status() *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "Show the state of the cluster, component by component",
		Long: `Status shows whether a cluster is running, and for each component its process, its state and since when, its restarts and its
memory.

Exit codes: 0 everything is ready; 1 the cluster is starting or stopping, or a component is down; 3 no cluster is running.`,
		Args: args(cobra.NoArgs, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := clusterHome(cmd)
			if err != nil {
				return err
			}
			s, err := embedded.ReadStatus(cmd.Context(), h)
			if err != nil {
				return exit.With(exit.Environment, err)
			}
			p := c.printer()
			if s.State != embedded.Stopped || p.Format != output.Table {
				if err := p.Print(s, func() { printStatus(p, s) }); err != nil {
					return err
				}
			}
			switch s.State {
			case embedded.Ready:
				return nil
			case embedded.Stopped:
				return exit.With(exit.Refused, fmt.Errorf("no cluster runs on %s; start one with %s", h, hint(h, "start")))
			case embedded.Starting:
				return fmt.Errorf("the cluster is starting or stopping")
			}
			return fmt.Errorf("a part of the cluster is down; its log is in %s", h.Path("cluster", "log"))
		},
	}
	homeFlag(cmd)
	return cmd
}

func printStatus(p output.Printer, s embedded.Status) {
	state := string(s.State)
	if s.Since != nil {
		state += " since " + output.Time(*s.Since)
	}
	limits := ""
	if len(s.Nodes) > 0 {
		limits = s.Nodes[0].Limits // all nodes are one machine
	}
	p.Fields("State", state, "Process", strconv.Itoa(s.PID), "API server", s.APIServer, "Kubeconfig", s.Kubeconfig,
		"Objects", s.Objects, "Images", s.Options.Images, "Limits", limits, "Trouble", s.Trouble)
	var total int64
	running := 0
	var rows [][]string
	for _, c := range s.Components {
		total += c.Memory
		row := []string{c.Name, p.Status(c.State), "", "", "", bytesOf(c.Memory), c.Ended}
		if c.PID != 0 {
			row[2] = strconv.Itoa(c.PID)
			running++
		}
		if !c.Since.IsZero() {
			row[3], row[4] = output.Duration(time.Since(c.Since)), strconv.Itoa(c.Restarts)
		}
		rows = append(rows, row)
	}
	fmt.Fprintln(p.Out)
	p.Rows("no components yet", []string{"component", "state", "pid", "for", "restarts", "memory", "last end"}, rows)
	fmt.Fprintf(p.Out, "%d components run, in %s\n", running, bytesOf(total))
	if len(s.Nodes) == 0 {
		return
	}
	rows = nil
	for _, n := range s.Nodes {
		state := "ready"
		if !n.Ready {
			state = "down"
		}
		rows = append(rows, []string{n.Name, p.Status(state), n.CPU, bytesOf(n.Memory), n.GPUs, strconv.Itoa(n.Pods)})
	}
	fmt.Fprintln(p.Out)
	p.Rows("", []string{"node", "state", "cpu", "memory", "gpus", "pods"}, rows)
}

func bytesOf(n int64) string {
	const gib = 1 << 30
	switch {
	case n == 0:
		return ""
	case n >= gib:
		return strconv.FormatFloat(float64(n)/gib, 'f', 1, 64) + " GiB"
	}
	return strconv.FormatInt((n+1<<19)>>20, 10) + " MiB"
}
