// Package queues is the command `argosy queue`: the queues of Volcano's scheduler, in which gangs wait for their turn.
package queues

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/sdk/client"
)

// completionTime is how long completion waits for the server: a shell must not hang.
const completionTime = 2 * time.Second

// Env is what the commands work with.
type Env struct {
	Out, Err *os.File
	Client   func() (*client.Client, error)
	Printer  func() output.Printer
	// Confirm asks a question, or refuses without a terminal to answer on.
	Confirm func(question, refusal string) error
}

// Commands are those of the group `argosy queue`.
func Commands(e Env) []*cobra.Command {
	return []*cobra.Command{e.list(), e.create(), e.set(), e.delete()}
}

func (e Env) list() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the queues: limits, usage, and how many gangs run and wait", ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return exit.Usagef("%s takes no arguments, not %q", cmd.CommandPath(), args)
			}
			cl, err := e.Client()
			if err != nil {
				return err
			}
			found, err := cl.Queues.List(cmd.Context())
			if err != nil {
				return err
			}
			p := e.Printer()
			return p.Print(found, func() { table(p, found) })
		},
	}
}

// changes are what flags say of a queue.
type changes struct {
	q                    client.QueueChange
	capability, deserved []string
	open, closed         bool
}

func (c *changes) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&c.q.Weight, "weight", 0, "its `share` against that of others, from 1")
	f.StringArrayVar(&c.capability, "capability", nil, "at most so much of a resource, as `resource=amount`; may be repeated")
	f.StringArrayVar(&c.deserved, "deserved", nil, "its share of a resource, as `resource=amount`, instead of one by weight; may be repeated")
	for _, name := range []string{"weight", "capability", "deserved"} {
		must(cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions))
	}
}

// read makes a change of the flags.
func (c *changes) read(cmd *cobra.Command, name string) (q client.QueueChange, err error) {
	q = c.q
	q.Name = name
	if cmd.Flags().Changed("weight") && q.Weight < 1 {
		return q, exit.Usagef("--weight %d: want 1 or more", q.Weight)
	}
	if q.Capability, err = amounts("capability", c.capability); err != nil {
		return q, err
	}
	q.Deserved, err = amounts("deserved", c.deserved)
	if c.open || c.closed {
		q.Open = &c.open
	}
	return q, err
}

// amounts reads resource=amount.
func amounts(flag string, pairs []string) (map[string]string, error) {
	all := map[string]string{}
	for _, pair := range pairs {
		name, amount, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, exit.Usagef("--%s %s: want resource=amount, such as cpu=8 or nvidia.com/gpu=4", flag, pair)
		}
		all[name] = amount
	}
	return all, nil
}

func (e Env) create() *cobra.Command {
	var c changes
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a queue", ValidArgsFunction: cobra.NoFileCompletions,
		Example: "  argosy queue create night --weight 2 --capability cpu=64 --capability nvidia.com/gpu=8",
		RunE: func(cmd *cobra.Command, args []string) error {
			q, cl, err := e.change(cmd, args, &c)
			if err != nil {
				return err
			}
			made, err := cl.Queues.Create(cmd.Context(), q)
			return e.answer(made, "queue "+q.Name+" is there", err)
		},
	}
	c.add(cmd)
	cmd.Flags().StringVar(&c.q.Parent, "parent", "", "parent `queue` (default: root)")
	must(cmd.RegisterFlagCompletionFunc("parent", e.complete))
	return cmd
}

func (e Env) set() *cobra.Command {
	var c changes
	cmd := &cobra.Command{
		Use: "set NAME", Short: "Change a queue: its weight, its limits, or whether it accepts gangs", ValidArgsFunction: e.complete,
		Example: "  argosy queue set night --capability cpu=32 --capability nvidia.com/gpu=\n  argosy queue set night --close",
		RunE: func(cmd *cobra.Command, args []string) error {
			q, cl, err := e.change(cmd, args, &c)
			if err != nil {
				return err
			}
			if cmd.Flags().NFlag() == 0 {
				return exit.Usagef("say what to change: --weight, --capability, --deserved, --open or --close")
			}
			changed, err := cl.Queues.Set(cmd.Context(), q)
			return e.answer(changed, "queue "+q.Name+" is changed", err)
		},
	}
	c.add(cmd)
	cmd.Flags().BoolVar(&c.open, "open", false, "let it accept gangs")
	cmd.Flags().BoolVar(&c.closed, "close", false, "let it accept no more gangs; those in it continue")
	cmd.MarkFlagsMutuallyExclusive("open", "close")
	return cmd
}

// change reads the command line of a change.
func (e Env) change(cmd *cobra.Command, args []string, c *changes) (client.QueueChange, *client.Client, error) {
	if len(args) != 1 {
		return client.QueueChange{}, nil, exit.Usagef("%s takes the name of a queue", cmd.CommandPath())
	}
	q, err := c.read(cmd, args[0])
	if err != nil {
		return q, nil, err
	}
	cl, err := e.Client()
	return q, cl, err
}

func (e Env) answer(q *client.Queue, done string, err error) error {
	if err != nil {
		return err
	}
	return e.Printer().Print(q, func() { fmt.Fprintln(e.Out, done) })
}

func (e Env) delete() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "delete NAME", Short: "Delete a queue that has no gangs", ValidArgsFunction: e.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usagef("%s takes the name of a queue", cmd.CommandPath())
			}
			cl, err := e.Client()
			if err != nil {
				return err
			}
			if !force {
				if err := e.Confirm("delete queue "+args[0]+"?", "a queue is deleted for all who use the cluster; delete it with --force"); err != nil {
					return err
				}
			}
			if err := cl.Queues.Delete(cmd.Context(), args[0]); err != nil {
				return err
			}
			fmt.Fprintf(e.Out, "deleted queue %s\n", args[0])
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "do not ask")
	return cmd
}

func (e Env) complete(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	cl, err := e.Client()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	found, _ := cl.Queues.List(ctx)
	var words []string
	for _, q := range found {
		words = append(words, cobra.CompletionWithDesc(q.Name, q.State))
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

func table(p output.Printer, all []client.Queue) {
	var rows [][]string
	for _, q := range all {
		var has, may []string
		for _, r := range q.Resources {
			has = append(has, output.Amount(r.Resource, r.Allocated)+" "+r.Resource)
			if r.Capability != nil {
				may = append(may, output.Amount(r.Resource, *r.Capability)+" "+r.Resource)
			}
		}
		rows = append(rows, []string{
			q.Name, q.State, strconv.Itoa(q.Weight), q.Parent, strings.Join(has, ", "), strings.Join(may, ", "), strconv.Itoa(q.Running), strconv.Itoa(len(q.Waiting)),
		})
	}
	p.Rows("no queues yet: Volcano makes the queue default for the first job; make one with argosy queue create NAME", []string{"queue", "state", "weight", "parent", "has", "at most", "running", "waiting"}, rows)
}

// must is for mistakes in this program, not in its use.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
