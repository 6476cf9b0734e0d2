package sweep

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/report"
	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/sdk/scaling"
)

const help = `Sweep runs a pipeline with every combination of the values of its parameters, several times each, and ends with a report (argosy report).
The runs go one after the other, in an order that is shuffled and goes back and forth (A B B A), so that a machine that becomes slower
does not look like an effect. They are in one experiment. When the command is given again it goes on where it was: runs that are there,
failed ones too, are not made again. A cell that the cluster can never hold is tried once.

PACKAGE is a file, DIR a folder with a pipeline in Go; both are uploaded unless the server has them. PIPELINE is one that it has.

Presets:
`

const examples = `  argosy sweep samples/mpi_run --matrix workers=1,2,4 -p gpus=0 -p data= --repeats 5
  argosy sweep mpi_run --preset eni --repeats 6 -o html > report.html
  argosy sweep mpi_run --matrix workers=1,2,4,8 --strong batch_size=512 --dry-run`

// flags are those of the command beside the report's.
type flags struct {
	report             report.Flags
	matrix, values     []string
	preset, experiment string
	strong             string
	repeats            int
	seed               uint64
	timeout            time.Duration
	again, dry, probe  bool
}

// Command makes the command.
func Command(e report.Env) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use: "sweep PACKAGE|DIR|PIPELINE --matrix NAME=VALUE,VALUE...", Short: "Run a pipeline with many combinations of parameters and report how it scales",
		Long: help + presetHelp(), Example: examples,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usagef("%s takes one package, folder or pipeline", cmd.CommandPath())
			}
			cl, err := e.Client()
			if err != nil {
				return err
			}
			return f.sweep(cmd.Context(), e, cl, args[0])
		},
	}
	set := cmd.Flags()
	set.StringArrayVar(&f.matrix, "matrix", nil, "a parameter and its values, as `name=a,b,c`; may be repeated")
	set.StringVar(&f.preset, "preset", "", "a matrix that has a `name`: "+strings.Join(PresetNames(), ", "))
	set.StringArrayVarP(&f.values, "param", "p", nil, "set a parameter of all runs, as `name=value`; may be repeated")
	set.StringVar(&f.strong, "strong", "", "strong scaling: divide this batch among the ranks, as `name=number` of the parameter with the batch of a rank")
	set.IntVar(&f.repeats, "repeats", 5, "`n` runs of each combination; fewer than 4 can show no difference")
	set.Uint64Var(&f.seed, "seed", 1, "`number` that the order comes from")
	set.StringVar(&f.experiment, "experiment", "", "`name` of the experiment (default: the pipeline's and those of the parameters)")
	set.DurationVar(&f.timeout, "timeout", 0, "stop a run after this `time`, such as 30m; it counts as failed")
	set.BoolVar(&f.again, "retry-failed", false, "make another run for each that failed; the failed ones stay in the report")
	set.BoolVar(&f.probe, "probe", false, "measure the bandwidth between the ranks of each run: sets the pipeline's parameter probe, which it gives to train.Spec.Probe")
	set.BoolVar(&f.dry, "dry-run", false, "print the order of the runs, and do nothing")
	f.report.Add(cmd)
	return cmd
}

// sweep does what the flags say.
func (f *flags) sweep(ctx context.Context, e report.Env, cl *client.Client, what string) error {
	o, err := f.report.Options()
	if err != nil {
		return err
	}
	axes, fixed, err := f.parse()
	if err != nil {
		return err
	}
	divide, err := parseStrong(f.strong)
	if err != nil {
		return err
	}
	slots := order(cells(axes), f.repeats, f.seed)
	if f.dry {
		for i, s := range slots {
			fmt.Fprintf(e.Out, "%d %s #%d\n", i+1, s.cell.name(), s.repeat)
		}
		return nil
	}
	t, err := find(ctx, cl, what)
	if err != nil {
		return err
	}
	names := slices.Collect(maps.Keys(fixed))
	for _, a := range axes {
		names = append(names, a.name)
	}
	if divide != nil {
		names = append(names, divide.name)
	}
	if err := t.takes(names...); err != nil {
		return err
	}
	experiment, err := f.place(ctx, cl, t, axes, f.line(what, o))
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "experiment %s: %d combinations, %d runs each, order by seed %d\n", experiment.Name, len(slots)/f.repeats, f.repeats, f.seed)
	s := sweep{
		client: cl, err: e.Err, target: t, experiment: experiment, slots: slots, fixed: fixed, strong: divide, timeout: f.timeout, again: f.again, metric: o.Metric,
	}
	if err := s.run(ctx); err != nil {
		return err
	}
	if o.By == "" {
		o.By = by(axes)
	}
	return report.Make(ctx, e, cl, report.Selection{Experiment: experiment.ID}, o)
}

// by is the parameter that the report is by: workers, else the first one with several values.
func by(axes []axis) (name string) {
	for _, a := range slices.Backward(axes) {
		if len(a.values) > 1 && name != "workers" {
			name = a.name
		}
	}
	return name
}

// probe is the parameter of a pipeline that has it measure the bandwidth.
const probe = "probe"

// parse reads the matrix and the parameters of all runs.
func (f *flags) parse() (axes []axis, fixed map[string]string, err error) {
	if axes, err = parseMatrix(f.matrix); err == nil {
		axes, err = withPreset(f.preset, axes)
	}
	switch {
	case err != nil:
		return nil, nil, err
	case len(axes) == 0:
		return nil, nil, exit.Usagef("say what to vary: --matrix name=a,b,c or --preset NAME")
	case f.repeats < 1:
		return nil, nil, exit.Usagef("--repeats %d: want at least 1", f.repeats)
	}
	fixed = map[string]string{}
	for _, v := range f.values {
		name, value, found := strings.Cut(v, "=")
		if !found || name == "" {
			return nil, nil, exit.Usagef("-p %s: want name=value", v)
		}
		if _, twice := fixed[name]; twice || slices.ContainsFunc(axes, func(a axis) bool { return a.name == name }) {
			return nil, nil, exit.Usagef("-p %s: %s is given twice", v, name)
		}
		fixed[name] = value
	}
	if f.probe {
		fixed[probe] = "true"
	}
	return axes, fixed, nil
}

// place gives the experiment of the runs, whose description is the command that repeats the sweep.
func (f *flags) place(ctx context.Context, cl *client.Client, t *target, axes []axis, line string) (*client.Experiment, error) {
	name := f.experiment
	if name == "" {
		name = t.pipeline.Name
		for _, a := range axes {
			name += "-" + a.name
		}
	}
	found, err := cl.Experiments.ByName(ctx, name)
	if client.IsNotFound(err) {
		return cl.Experiments.Create(ctx, name, line)
	}
	return found, err
}

// line is the command line that makes the same sweep.
func (f *flags) line(what string, o report.Options) string {
	words := []string{what}
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag, value)
		}
	}
	for _, m := range f.matrix {
		add("--matrix", m)
	}
	add("--preset", f.preset)
	for _, v := range f.values {
		add("-p", v)
	}
	add("--strong", f.strong)
	add("--repeats", strconv.Itoa(f.repeats))
	add("--seed", strconv.FormatUint(f.seed, 10))
	add("--experiment", f.experiment)
	if f.probe {
		words = append(words, "--probe")
	}
	if f.timeout > 0 {
		add("--timeout", f.timeout.String())
	}
	if o.Metric != "images/sec" {
		add("--metric", o.Metric)
	}
	add("--step", o.Step)
	base := o.Base
	if o.By != "" {
		base = o.By + "=" + o.Base
	}
	add("--base", base)
	for i, w := range words {
		words[i] = scaling.Quote(w)
	}
	return scaling.SweepCommand + strings.Join(words, " ")
}
