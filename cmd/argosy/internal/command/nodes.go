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

// nodes are the commands of nodes and queues.
type nodes struct{ *cli }

func (c nodes) command() *cobra.Command {
	return &cobra.Command{
		Use: "nodes", Short: "Show nodes and queues: what is free, and which runs use the rest",
		Args: args(cobra.NoArgs, "no arguments"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: c.call(func(ctx context.Context, cl *client.Client, _ []string) error {
			found, err := cl.Cluster.Get(ctx)
			if err != nil {
				return err
			}
			p := c.printer()
			return p.Print(found, func() {
				c.rows(p, found)
				c.queueRows(p, found)
				if d := found.Disk; d != nil {
					p.Heading("The server's disk")
					p.Rows("", []string{"size", "free"}, [][]string{{output.Amount("memory", d.Total), output.Amount("memory", d.Free)}})
				}
				c.missingRights(found.Missing)
			})
		}),
	}
}

func (c nodes) rows(p output.Printer, found *client.Cluster) {
	var rows, holders [][]string
	for _, n := range found.Nodes {
		for i, r := range n.Resources {
			name, state := "", ""
			if i == 0 {
				name, state = n.Name, nodeState(n)
			}
			rows = append(rows, []string{name, state, r.Resource, output.Amount(r.Resource, r.Allocatable), output.Amount(r.Resource, r.Requested), output.Amount(r.Resource, r.Free)})
		}
		for _, h := range n.Holders {
			holders = append(holders, holderRow(n.Name, h))
		}
	}
	for _, h := range found.Waiting {
		holders = append(holders, holderRow("none yet", h))
	}
	p.Rows("no nodes are known", []string{"node", "state", "resource", "allocatable", "requested", "free"}, rows)
	if len(holders) > 0 {
		p.Heading("Held by")
		p.Rows("", []string{"node", "run", "pods", "asks for"}, holders)
	}
}

func nodeState(n client.ClusterNode) string {
	switch {
	case !n.Ready:
		return "not ready"
	case !n.Schedulable:
		return "takes no pods"
	}
	return "ready"
}

func holderRow(node string, h client.Holder) []string {
	who := h.RunName
	if h.RunID == "" {
		who = "(namespace " + h.Namespace + ")"
	}
	return []string{node, who, strconv.Itoa(h.Pods), amounts(h.Requested)}
}

func amounts(all []client.Amount) string {
	var parts []string
	for _, a := range all {
		if a.Resource != "pods" {
			parts = append(parts, output.Amount(a.Resource, a.Value)+" "+a.Resource)
		}
	}
	return strings.Join(parts, ", ")
}

func (c nodes) queueRows(p output.Printer, found *client.Cluster) {
	if len(found.Queues) == 0 {
		return
	}
	var rows, gangs [][]string
	for _, q := range found.Queues {
		var use []string
		for _, r := range q.Resources {
			text := output.Amount(r.Resource, r.Allocated) + " " + r.Resource
			if r.Capability != nil {
				text = output.Amount(r.Resource, r.Allocated) + "/" + output.Amount(r.Resource, *r.Capability) + " " + r.Resource
			}
			use = append(use, text)
		}
		rows = append(rows, []string{q.Name, q.State, strconv.Itoa(q.Weight), strings.Join(use, ", "), strconv.Itoa(q.Running), strconv.Itoa(len(q.Waiting))})
		for _, g := range q.Waiting {
			gangs = append(gangs, []string{q.Name, g.Name, g.RunName, fmt.Sprintf("%d pods", g.MinAvailable), output.Time(g.CreatedAt), g.Message})
		}
	}
	p.Heading("Queues")
	p.Rows("", []string{"queue", "state", "weight", "allocated", "running", "waiting"}, rows)
	if len(gangs) > 0 {
		p.Heading("Gangs that wait")
		p.Rows("", []string{"queue", "gang", "run", "needs", "since", "why"}, gangs)
	}
}

// missingRights tells what the answer lacks because the server may not read it.
func (c nodes) missingRights(missing []client.MissingRight) {
	for _, m := range missing {
		where := "in all namespaces"
		if m.Namespace != "" {
			where = "in namespace " + m.Namespace
		}
		fmt.Fprintf(c.err, "the server may not %s %s %s, so they are left out: apply manifests/base to give it the right\n", m.Verb, m.Resource, where)
	}
}

func (c runs) runEvents() *cobra.Command {
	var warnings bool
	cmd := &cobra.Command{
		Use: "events RUN", Short: "Show the Kubernetes events of a run's objects, the newest last; the cluster keeps them for an hour",
		Args: args(cobra.ExactArgs(1), "the id or name of one run"), ValidArgsFunction: c.completeRuns(false),
		RunE: func(cmd *cobra.Command, args []string) error { return c.events(cmd.Context(), args[0], warnings) },
	}
	cmd.Flags().BoolVar(&warnings, "warnings", false, "only warnings")
	return cmd
}

func (c runs) events(ctx context.Context, name string, warnings bool) error {
	cl, err := c.client()
	if err != nil {
		return err
	}
	r, err := c.newestRun(ctx, cl, name)
	if err != nil {
		return err
	}
	found, err := cl.Cluster.Events(ctx, r.ID)
	if err != nil {
		return err
	}
	events := listed[client.ClusterEvent](nil)
	for _, e := range found.Events {
		if !warnings || e.Type == "Warning" {
			events = append(events, e)
		}
	}
	p := c.printer()
	return p.Print(events, func() {
		var rows [][]string
		for i := len(events) - 1; i >= 0; i-- {
			e := events[i]
			rows = append(rows, []string{output.Time(e.LastAt), e.Type, e.Reason, e.Kind + "/" + e.Name, strconv.Itoa(e.Count), e.Message})
		}
		p.Rows("no events: the cluster keeps them for a limited time, usually an hour", []string{"last", "type", "reason", "object", "count", "message"}, rows)
		nodes(c).missingRights(found.Missing)
	})
}
