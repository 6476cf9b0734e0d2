package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/output"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/runview"
	"github.com/argosy-ml/argosy/sdk/client"
)

func (c runs) metrics() *cobra.Command {
	var follow, series bool
	var points client.SeriesOptions
	var steps string
	cmd := &cobra.Command{
		Use: "metrics RUN [NAME...]", Short: "Print the metrics of a run, their curves (--series), or new values as they come (-f)",
		Example: "  argosy run metrics my-run -f\n  argosy run metrics my-run --series                 which curves there are\n  argosy run metrics my-run loss --series --points 50\n  argosy run metrics my-run loss --series --steps 1000:2000   all points of a part",
		Args:    args(cobra.MinimumNArgs(1), "a run and perhaps names of metrics"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if follow && series {
				return exit.Usagef("-f prints values as they come, --series the curves as they are now: give one of them")
			}
			if err := readSteps(steps, &points); err != nil {
				return err
			}
			cl, err := c.client()
			if err != nil {
				return err
			}
			r, err := c.newestRun(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			if series {
				return c.showSeries(cmd.Context(), cl, r, args[1:], points)
			}
			if follow {
				return c.followMetrics(cmd.Context(), cl, r.ID, args[1:])
			}
			for _, name := range args[1:] {
				if !slices.ContainsFunc(r.Metrics, func(m client.Metric) bool { return m.Name == name }) {
					return exit.With(exit.Refused, fmt.Errorf("run %s has no metric %q; it has %s", r.Name, name, metricNames(r.Metrics)))
				}
			}
			if len(args) > 1 {
				r.Metrics = slices.DeleteFunc(r.Metrics, func(m client.Metric) bool { return !slices.Contains(args[1:], m.Name) })
			}
			p := c.printer()
			return p.Print(listed(r.Metrics), func() { runview.MetricTable(p, r) })
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "follow until the run ends; JSON and YAML are a stream of values")
	cmd.Flags().BoolVar(&series, "series", false, "list the curves of the run, or print the points of the named ones")
	cmd.Flags().IntVar(&points.Points, "points", 0, "with --series: at most `n` points of each curve, the peaks among them (default: as many as the server gives)")
	cmd.Flags().StringVar(&steps, "steps", "", "with --series: only the part of the curves `from:to` these steps; either end may be left out")
	must(cmd.RegisterFlagCompletionFunc("points", cobra.NoFileCompletions))
	must(cmd.RegisterFlagCompletionFunc("steps", cobra.NoFileCompletions))
	cmd.ValidArgsFunction = c.completeMetrics
	return cmd
}

// readSteps reads --steps.
func readSteps(text string, o *client.SeriesOptions) error {
	if text == "" {
		return nil
	}
	from, to, ok := strings.Cut(text, ":")
	if !ok {
		return exit.Usagef("--steps is %q; write FROM:TO, such as 1000:2000, 1000: or :2000", text)
	}
	for _, end := range []struct {
		text string
		into **int64
	}{{from, &o.FromStep}, {to, &o.ToStep}} {
		if end.text == "" {
			continue
		}
		step, err := strconv.ParseInt(end.text, 10, 64)
		if err != nil {
			return exit.Usagef("--steps is %q; %q is not a step, which is a whole number", text, end.text)
		}
		*end.into = &step
	}
	return nil
}

func metricNames(metrics []client.Metric) string {
	var names []string
	for _, m := range metrics {
		if !slices.Contains(names, m.Name) {
			names = append(names, m.Name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func (c runs) completeMetrics(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return c.completeRuns(false)(cmd, args, toComplete)
	}
	return c.completeOf(cmd, args[0], func(r *client.Run) (names []string) {
		for _, m := range r.Metrics {
			if !slices.Contains(names, m.Name) && !slices.Contains(args[1:], m.Name) {
				names = append(names, m.Name)
			}
		}
		return names
	})
}

// showSeries lists the curves of a run, or prints the points of those that are named.
func (c runs) showSeries(ctx context.Context, cl *client.Client, r *client.Run, names []string, points client.SeriesOptions) error {
	all, err := cl.Series.List(ctx, r.ID)
	if err != nil {
		return err
	}
	p := c.printer()
	if len(names) == 0 {
		return p.Print(listed(all), func() { runview.SeriesTable(p, r, all) })
	}
	found := listed[client.Series](nil)
	for _, name := range names {
		if !slices.ContainsFunc(all, func(s client.Series) bool { return s.Name == name }) {
			return exit.With(exit.Refused, fmt.Errorf("run %s has no curve of %q; it has: %s", r.Name, name, runview.SeriesNames(all)))
		}
		curves, err := cl.Series.Get(ctx, r.ID, name, points)
		if err != nil {
			return err
		}
		found = append(found, curves...)
	}
	return p.Print(found, func() { runview.PointTable(p, r, found) })
}

// followMetrics prints values as they come: those that steps print while they run, and metrics that steps report at their
// end. There is no header: the table has no known end.
func (c runs) followMetrics(ctx context.Context, cl *client.Client, id string, names []string) error {
	f := &metricFollower{cli: c.cli, names: names, told: map[[2]string]bool{}}
	for e, err := range cl.Runs.Events(ctx, id, client.EventOptions{Points: true}) {
		if err != nil {
			return err
		}
		for _, p := range e.Points {
			if err := f.point(p); err != nil {
				return err
			}
		}
		if e.Run != nil {
			f.run = e.Run
		}
	}
	return f.reported()
}

type metricFollower struct {
	*cli
	names []string
	run   *client.Run
	told  map[[2]string]bool // metrics, each of a node, whose values were printed
}

func (f *metricFollower) wanted(name string) bool {
	return len(f.names) == 0 || slices.Contains(f.names, name)
}

func (f *metricFollower) point(p client.Point) error {
	if !f.wanted(p.Name) {
		return nil
	}
	f.told[[2]string{p.NodeID, p.Name}] = true
	value, rank := "none", ""
	if p.Value != nil {
		value = fmt.Sprint(*p.Value)
	}
	if p.Rank != client.Unranked {
		rank = fmt.Sprintf(" rank %d", p.Rank)
	}
	return f.print(p, fmt.Sprintf("%s step %d%s: %s", p.Name, p.Step, rank, value))
}

// reported prints the metrics that steps report without printing values.
func (f *metricFollower) reported() error {
	if f.run == nil {
		return nil
	}
	for _, m := range f.run.Metrics {
		if !f.wanted(m.Name) || f.told[[2]string{m.NodeID, m.Name}] {
			continue
		}
		if err := f.print(m, fmt.Sprintf("%s of %s: %s", m.Name, f.run.Step(m.NodeID), runview.MetricValue(m))); err != nil {
			return err
		}
	}
	return nil
}

// print writes one value; of YAML each is a document.
func (f *metricFollower) print(value any, line string) error {
	if f.format == output.YAML {
		fmt.Fprintln(f.out, "---")
	}
	return f.printer().Print(value, func() { fmt.Fprintln(f.out, line) })
}

func (c runs) compare() *cobra.Command {
	return &cobra.Command{
		Use: "compare RUN RUN...", Short: "Compare parameters and metrics of runs",
		Args: args(cobra.MinimumNArgs(2), "two or more runs, by id or name"), ValidArgsFunction: c.completeRuns(true),
		RunE: c.call(func(ctx context.Context, cl *client.Client, args []string) error {
			runs := make([]*client.Run, len(args))
			for i, name := range args {
				r, err := c.newestRun(ctx, cl, name)
				if err != nil {
					return err
				}
				runs[i] = r
			}
			found := client.CompareRuns(runs...)
			p := c.printer()
			return p.Print(found, func() { comparisonTable(p, found) })
		}),
	}
}

// comparisonTable prints what differs first: parameters that are the same in all runs come last.
func comparisonTable(p output.Printer, found *client.Comparison) {
	run, status, took := []string{"run"}, []string{"status"}, []string{"took"}
	for i, r := range found.Runs {
		run = append(run, r.Name)
		status = append(status, p.Status(stateOf(r)))
		took = append(took, output.Duration(found.Took()[i]))
	}
	rows := [][]string{run, status, took}
	for _, m := range found.Metrics {
		row := []string{m.Name + " of " + m.Step}
		for _, v := range m.Values {
			if v == nil {
				row = append(row, "")
				continue
			}
			row = append(row, runview.MetricValue(client.Metric{Value: *v, Format: m.Format}))
		}
		rows = append(rows, row)
	}
	for _, same := range []bool{false, true} {
		for _, r := range found.Parameters {
			if r.Same == same {
				rows = append(rows, append([]string{r.Name}, r.Values...))
			}
		}
	}
	p.Rows("", nil, rows)
}

func (c runs) artifact() *cobra.Command {
	var archive bool
	cmd := &cobra.Command{
		Use: "artifact RUN STEP NAME", Short: "Print an artifact of a step",
		Example: "  argosy run artifact my-run train model > model.json",
		Args:    args(cobra.ExactArgs(3), "a run, a step and the name of an artifact"), ValidArgsFunction: c.completeArtifacts,
		RunE: c.call(func(ctx context.Context, cl *client.Client, args []string) error {
			r, err := c.newestRun(ctx, cl, args[0])
			if err != nil {
				return err
			}
			n, err := runview.FindStep(r, args[1])
			if err != nil {
				return err
			}
			if !archive {
				err := cl.Artifacts.CopyFile(ctx, c.out, r.ID, n.ID, args[2])
				if errors.Is(err, client.ErrFolder) {
					return exit.With(exit.Refused, fmt.Errorf("artifact %s is a folder; print its archive with --archive", args[2]))
				}
				return err
			}
			stored, err := cl.Artifacts.Open(ctx, r.ID, n.ID, args[2])
			if err != nil {
				return err
			}
			defer stored.Close()
			_, err = io.Copy(c.out, stored)
			return err
		}),
	}
	cmd.Flags().BoolVar(&archive, "archive", false, "print the stored archive, usually a .tar.gz: for folders")
	return cmd
}

// sizeOf is the size of an artifact for people; empty where it is not known.
func sizeOf(a client.Artifact) string {
	if a.Size == nil {
		return ""
	}
	return plural(*a.Size, "byte")
}

func (c runs) completeArtifacts(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 2 {
		return c.completeSteps(cmd, args, toComplete)
	}
	return c.completeOf(cmd, args[0], func(r *client.Run) (words []string) {
		n, err := runview.FindStep(r, args[1])
		if err != nil {
			return nil
		}
		for _, a := range n.Artifacts {
			words = append(words, cobra.CompletionWithDesc(a.Name, sizeOf(a)))
		}
		return words
	})
}
