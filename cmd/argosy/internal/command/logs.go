package command

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/runview"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
	"github.com/argosy-ml/argosy/sdk/client"
)

func (c runs) logs() *cobra.Command {
	var f logFlags
	cmd := &cobra.Command{
		Use: "logs RUN [STEP]", Short: "Print the logs of a run by time, each line with its step, or the log of a step alone",
		Example: "  argosy run logs mpi_run -f\n  argosy run logs mpi_run train -f --tail 20\n  argosy run logs mpi_run train --list\n  argosy run logs mpi_run train --pod train-5f1c-worker-1",
		Args:    args(cobra.RangeArgs(1, 2), "a run and perhaps a step"), ValidArgsFunction: c.completeSteps,
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.client()
			if err != nil {
				return err
			}
			r, err := c.newestRun(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			if len(args) == 2 {
				n, err := runview.FindStep(r, args[1])
				if err != nil {
					return err
				}
				if f.list {
					return c.listLogs(cmd.Context(), cl, r.ID, n)
				}
				if f.allPods {
					return c.copyMerged(cmd.Context(), cl, r.ID, n, client.MergeOptions{Attempt: f.attempt, Follow: f.follow, Timestamps: f.timestamps})
				}
				o, err := f.options(cmd)
				if err != nil {
					return err
				}
				return c.copyLog(cmd.Context(), cl, c.out, r.ID, n, o)
			}
			if err := f.needStep(cmd); err != nil {
				return err
			}
			return c.copyRun(cmd.Context(), cl, r.ID, client.MergeOptions{Attempt: f.attempt, Ranks: true, Follow: f.follow, Timestamps: f.timestamps})
		},
	}
	f.add(cmd)
	return cmd
}

// logFlags are those of kubectl logs, as far as they make sense for a log that is kept.
type logFlags struct {
	follow, timestamps, previous, list, allPods bool
	container, pod, since                       string
	tail, attempt                               int64
}

func (f *logFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&f.follow, "follow", "f", false, "go on until the run, or the step, ends")
	flags.BoolVar(&f.timestamps, "timestamps", false, "print the time in front of each line")
	flags.BoolVarP(&f.previous, "previous", "p", false, "the log before: of an earlier attempt, or before the container was restarted")
	flags.BoolVar(&f.list, "list", false, "list the logs that a step has: containers, pods, roles, attempts")
	flags.StringVarP(&f.container, "container", "c", "", "`name` of the container (default main)")
	flags.StringVar(&f.pod, "pod", "", "`name` of a pod of the step's distributed job (default: the step's own)")
	flags.BoolVar(&f.allPods, "all-pods", false, "all logs of the step by time, each line with its role and rank or container")
	flags.StringVar(&f.since, "since", "", "only lines since a `time`, or for so long: 2026-11-21T12:00:00Z, 10m")
	flags.Int64Var(&f.tail, "tail", 0, "only so many of the last `lines`")
	flags.Int64Var(&f.attempt, "attempt", 0, "`number` of the run's attempt, from 1 (default: the newest)")
	for _, name := range []string{"container", "pod", "previous", "since", "tail", "list"} {
		cmd.MarkFlagsMutuallyExclusive("all-pods", name)
	}
	for _, name := range []string{"container", "pod", "since", "tail", "attempt"} {
		must(cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions))
	}
}

// needStep refuses what can only be asked of one step.
func (f *logFlags) needStep(cmd *cobra.Command) error {
	for _, name := range []string{"previous", "list", "container", "pod", "all-pods", "since", "tail"} {
		if cmd.Flags().Changed(name) {
			return exit.Usagef("--%s needs a step: argosy run logs RUN STEP --%s", name, name)
		}
	}
	return nil
}

func (f *logFlags) options(cmd *cobra.Command) (client.LogOptions, error) {
	o := client.LogOptions{
		Container: f.container, Pod: f.pod, Attempt: f.attempt, Previous: f.previous, Follow: f.follow, Timestamps: f.timestamps,
	}
	if cmd.Flags().Changed("tail") {
		o.Tail = &f.tail
	}
	if f.since == "" {
		return o, nil
	}
	if ago, err := time.ParseDuration(f.since); err == nil {
		o.Since = time.Now().Add(-ago)
		return o, nil
	}
	at, err := time.Parse(time.RFC3339Nano, f.since)
	if err != nil {
		return o, exit.Usagef("--since %s: want a time such as 2026-11-21T12:00:00Z, or how long ago, such as 10m", f.since)
	}
	o.Since = at
	return o, nil
}

func (c runs) listLogs(ctx context.Context, cl *client.Client, run string, n client.Node) error {
	list, err := cl.Logs.List(ctx, run, n.ID)
	if err != nil {
		return err
	}
	p := c.printer()
	return p.Print(listed(list), func() {
		var rows [][]string
		for _, l := range list {
			place := l.Role
			if place != "" {
				place += " " + strconv.FormatInt(l.Rank, 10)
			}
			rows = append(rows, []string{
				strconv.FormatInt(l.Attempt, 10), place, l.Pod, l.Container, strconv.FormatInt(l.Restart, 10),
				strconv.FormatInt(l.Lines, 10), strconv.FormatInt(l.Bytes, 10), l.State, l.Message,
			})
		}
		p.Rows("no logs yet", []string{"attempt", "role", "pod", "container", "restarts", "lines", "bytes", "state", "message"}, rows)
	})
}

func (c runs) copyLog(ctx context.Context, cl *client.Client, to io.Writer, run string, n client.Node, o client.LogOptions) error {
	log, err := cl.Logs.Open(ctx, run, n.ID, o)
	if err != nil {
		return err
	}
	return copyText(ctx, to, log)
}

func (c runs) copyMerged(ctx context.Context, cl *client.Client, run string, n client.Node, o client.MergeOptions) error {
	log, err := cl.Logs.Merge(ctx, run, n.ID, o)
	if err != nil {
		return err
	}
	return copyText(ctx, c.out, log)
}

// copyText copies a log to its end and closes it.
func copyText(ctx context.Context, to io.Writer, log io.ReadCloser) error {
	defer log.Close()
	_, err := io.Copy(to, log)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// copyRun prints the logs of all steps, on a terminal with the source of each line in a colour of its own.
func (c runs) copyRun(ctx context.Context, cl *client.Client, run string, o client.MergeOptions) error {
	log, err := cl.Logs.MergeRun(ctx, run, o)
	if err != nil {
		return err
	}
	if !terminal.Color(c.out) {
		return copyText(ctx, c.out, log)
	}
	sources := &runview.Sources{Out: c.out}
	if err := copyText(ctx, sources, log); err != nil {
		return err
	}
	return sources.Close()
}

// followLogs prints the lines of all steps as they come.
func (c runs) followLogs(ctx context.Context, cl *client.Client, run string) error {
	last := ""
	f := runview.Follower{
		Client: cl,
		Line: func(n client.Node, line string) {
			if n.ID != last {
				c.header(n)
				last = n.ID
			}
			fmt.Fprintln(c.out, line)
		},
		Lost: func(_ client.Node, err error) { fmt.Fprintln(c.err, err) },
	}
	_, err := f.Run(ctx, run)
	return err
}

// header goes to stderr, so that stdout has nothing but logs.
func (c runs) header(n client.Node) { fmt.Fprintf(c.err, "==> %s <==\n", n.Label()) }

func (c runs) completeSteps(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return c.completeRuns(false)(cmd, args, toComplete)
	}
	return c.completeOf(cmd, args[0], func(r *client.Run) (words []string) {
		for _, n := range runview.Steps(r) {
			words = append(words, cobra.CompletionWithDesc(n.Label(), n.Phase))
		}
		return words
	})
}
