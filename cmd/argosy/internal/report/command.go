package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/sdk/scaling"
)

const help = `Report compares runs that differ in a parameter: how throughput grows with workers, or whether one network is faster than another.
Each run gives one value. The answer says in words what the runs have shown, with its interval, and what so few runs could not show.
The batch tells strong from weak scaling: either the batch of each rank or that of all ranks together stays the same.

The runs are named, or are all of an experiment, or all with certain parameters. Failed runs are kept and named.
With --baseline the exit code is 1 when a cell is below --fail-below of the same cell of the baseline.`

const examples = `  argosy report --experiment my-sweep
  argosy report --experiment my-sweep -o html > report.html
  argosy report eni-1 eni-2 host-1 host-2 --by network --base host
  argosy report --where pipeline_rev=42 --by workers --baseline last.json --fail-below 0.97`

// Command makes the command.
func Command(e Env) *cobra.Command {
	var s Selection
	var flags Flags
	cmd := &cobra.Command{
		Use: "report RUN... | --experiment NAME | --where NAME=VALUE", Short: "Report how throughput changes with a parameter of runs", Long: help, Example: examples,
		RunE: func(cmd *cobra.Command, args []string) error {
			s.Runs = args
			given := 0
			for _, is := range []bool{len(args) > 0, s.Experiment != "" || len(s.Where) > 0} {
				if is {
					given++
				}
			}
			if given != 1 {
				return exit.Usagef("say which runs: their names, or --experiment and --where")
			}
			o, err := flags.Options()
			if err != nil {
				return err
			}
			o.Command = commandLine(cmd, args)
			cl, err := e.Client()
			if err != nil {
				return err
			}
			return Make(cmd.Context(), e, cl, s, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.Experiment, "experiment", "", "the runs of this `experiment` (name or id)")
	f.StringArrayVar(&s.Where, "where", nil, "the runs whose parameter is so: `name=value`, name!=value, or name~text; may be repeated")
	flags.Add(cmd)
	f.StringVar(&flags.o.By, "by", "", "`parameter` whose effect is reported (default: workers if it differs, else the first that does)")
	f.StringVar(&flags.o.Baseline, "baseline", "", "hold it against this `file`, written with -o json, or the runs of this experiment")
	f.Float64Var(&flags.o.FailBelow, "fail-below", 0.97, "`share` of the baseline that each cell must have")
	return cmd
}

// Flags are those of a report, also at the end of a sweep.
type Flags struct {
	o     Options
	base  string
	facts []string
}

// Add adds the flags to a command.
func (f *Flags) Add(cmd *cobra.Command) {
	f.o.Format = Table
	flags := cmd.Flags()
	flags.StringVar(&f.o.Metric, "metric", "images/sec", "`name` of the metric; it is that of all ranks together")
	flags.StringVar(&f.o.Step, "step", "", "`step` that reports the metric, where several do")
	flags.StringVar(&f.base, "base", "", "`value` that the others are compared with, also as name=value (default: the smallest)")
	flags.StringVar(&f.o.Batch, "batch", "", "`parameter` with the batch of one rank (default: batch_size, batch)")
	flags.StringVar(&f.o.GlobalBatch, "global-batch", "", "`parameter` with the batch of all ranks (default: global_batch_size, global_batch)")
	flags.StringSliceVar(&f.o.Ignore, "ignore", nil, "`parameters` that do not matter, such as one that is another in each run")
	flags.StringArrayVar(&f.facts, "fact", nil, "a fact about all runs, as `name=value`, such as driver=550.90; may be repeated")
	flags.StringVar(&f.o.Title, "title", "", "`text` above the report")
	flags.Float64Var(&f.o.Price, "price", 0, "what one rank costs in an hour, as a `number`; needs --price-source")
	flags.StringVar(&f.o.PriceSource, "price-source", "", "currency and `source` of the price, such as 'USD, p3.16xlarge on demand / 8'")
	// The formats are more than those that all commands have.
	flags.VarP(&f.o.Format, "output", "o", "`format` of the report: "+strings.Join(Formats, ", "))
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(Formats, cobra.ShellCompDirectiveNoFileComp)))
}

// Options are what the flags say.
func (f *Flags) Options() (Options, error) {
	o := f.o
	o.Seed = 1
	if by, value, named := strings.Cut(f.base, "="); named {
		if o.By != "" && o.By != by {
			return o, exit.Usagef("--base %s: the report is by %s", f.base, o.By)
		}
		o.By, o.Base = by, value
	} else {
		o.Base = f.base
	}
	o.Facts = map[string]string{}
	for _, fact := range f.facts {
		name, value, found := strings.Cut(fact, "=")
		if !found || name == "" {
			return o, exit.Usagef("--fact %s: want name=value", fact)
		}
		o.Facts[name] = value
	}
	if o.FailBelow < 0 {
		return o, exit.Usagef("--fail-below %v: want a share such as 0.97", o.FailBelow)
	}
	return o, nil
}

// commandLine is the command as it can be given again.
func commandLine(cmd *cobra.Command, args []string) string {
	words := append([]string{cmd.CommandPath()}, quoteAll(args)...)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"output", "server", "log-level"}, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			words = append(words, "--"+f.Name, scaling.Quote(v))
		}
	})
	return strings.Join(words, " ")
}

func quoteAll(words []string) (quoted []string) {
	for _, w := range words {
		quoted = append(quoted, scaling.Quote(w))
	}
	return quoted
}

func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("report: %v", err))
	}
}
