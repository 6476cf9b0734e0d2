package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/sdk/scaling/collect"
	"github.com/argosy-ml/argosy/sdk/scaling/record"
)

// sweep makes the runs of a plan in one experiment. Runs that are there already are not made again.
type sweep struct {
	client     *client.Client
	err        io.Writer // progress, for a person
	target     *target
	experiment *client.Experiment
	slots      []slot
	fixed      map[string]string // parameters of all runs
	strong     *strong
	timeout    time.Duration // of a run; 0: none
	again      bool          // make another run where the one of a slot failed
	metric     string

	runs  map[string]*client.Run // of the experiment, by name
	unfit map[string]string      // cells that the cluster can never hold, and why
}

// parameters are those of a cell's runs, as they are given.
func (s *sweep) parameters(c cell) (map[string]string, error) {
	given := maps.Clone(s.fixed)
	maps.Copy(given, c)
	if s.strong == nil {
		return given, nil
	}
	all := maps.Clone(s.target.defaults)
	maps.Copy(all, given)
	batch, err := s.strong.of(c, all)
	if err != nil {
		return nil, err
	}
	given[s.strong.name] = batch
	return given, nil
}

// run makes all runs, one after the other.
func (s *sweep) run(ctx context.Context) error {
	for _, slot := range s.slots { // report faults of a later cell before the first run
		if _, err := s.parameters(slot.cell); err != nil {
			return err
		}
	}
	if err := s.read(ctx); err != nil {
		return err
	}
	s.unfit = map[string]string{}
	for i, slot := range s.slots {
		if err := s.slot(ctx, fmt.Sprintf("[%d/%d] %s #%d", i+1, len(s.slots), slot.cell.name(), slot.repeat), slot); err != nil {
			if errors.Is(err, context.Canceled) {
				fmt.Fprintln(s.err, "the run goes on; the same command goes on with the sweep")
			}
			return err
		}
	}
	return nil
}

// read finds the runs that the experiment has.
func (s *sweep) read(ctx context.Context) error {
	s.runs = map[string]*client.Run{}
	all := client.RunListOptions{ListOptions: client.ListOptions{PageSize: 200, SortBy: "created_at"}, ExperimentID: s.experiment.ID}
	for r, err := range s.client.Runs.All(ctx, all) {
		if err != nil {
			return err
		}
		s.runs[r.Name] = &r
	}
	return nil
}

// slot makes one run and waits for its end, unless it has been made.
func (s *sweep) slot(ctx context.Context, label string, at slot) error {
	want, err := s.parameters(at.cell)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s.%s.%d", s.experiment.Name, at.cell.name(), at.repeat)
	r := s.runs[name]
	for try := 2; r != nil && s.again && r.Done() && r.Status != client.Succeeded; try++ {
		name = fmt.Sprintf("%s.%s.%d-%d", s.experiment.Name, at.cell.name(), at.repeat, try)
		r = s.runs[name]
	}
	done := "done before: "
	if r == nil {
		if why := s.unfit[at.cell.name()]; why != "" {
			fmt.Fprintf(s.err, "%s: left out, %s\n", label, why)
			return nil
		}
		done = ""
		if r, err = s.start(ctx, name, want); err != nil {
			return fmt.Errorf("%s: %w", label, err)
		}
	} else if err := s.same(r, want); err != nil {
		return err
	}
	if !r.Done() {
		done = ""
	}
	ended, err := s.end(ctx, r)
	if err != nil {
		return err
	}
	if ended.Status != client.Succeeded && len(ended.Warnings) > 0 {
		s.unfit[at.cell.name()] = ended.Warnings[0]
	}
	fmt.Fprintf(s.err, "%s: %s%s\n", label, done, s.outcome(ended))
	return nil
}

// start makes a run.
func (s *sweep) start(ctx context.Context, name string, parameters map[string]string) (*client.Run, error) {
	n := client.NewRun{Name: name, PipelineID: s.target.pipeline.ID, VersionID: s.target.version, ExperimentID: s.experiment.ID}
	for _, p := range slices.Sorted(maps.Keys(parameters)) {
		n.Parameters = append(n.Parameters, client.Parameter{Name: p, Value: parameters[p]})
	}
	r, err := s.client.Runs.Create(ctx, n)
	if err != nil {
		return nil, err
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(s.err, "warning: %s\n", w)
	}
	return r, nil
}

// same refuses to count a run that was made of another pipeline or with other parameters.
func (s *sweep) same(r *client.Run, want map[string]string) error {
	other := func(format string, args ...any) error {
		return exit.With(exit.Refused, fmt.Errorf("the experiment %s has a run %s %s: name another --experiment", s.experiment.Name, r.Name, fmt.Sprintf(format, args...)))
	}
	if s.target.version != "" && r.Pipeline.VersionID != "" && r.Pipeline.VersionID != s.target.version {
		return other("of another version of the pipeline")
	}
	all := maps.Clone(s.target.defaults)
	maps.Copy(all, want)
	for _, p := range r.Parameters {
		if value, known := all[p.Name]; known && value != p.Value {
			return other("with %s=%s instead of %s", p.Name, p.Value, value)
		}
	}
	return nil
}

// end waits for the end of a run, and stops it when its time is over.
func (s *sweep) end(ctx context.Context, r *client.Run) (*client.Run, error) {
	bounded, cancel := ctx, context.CancelFunc(func() {})
	if s.timeout > 0 {
		bounded, cancel = context.WithTimeout(ctx, s.timeout)
	}
	defer cancel()
	ended, err := s.client.Runs.Wait(bounded, r.ID)
	if err == nil || ctx.Err() != nil || bounded.Err() == nil {
		return ended, err
	}
	fmt.Fprintf(s.err, "%s: stopped, since it was not done after %s\n", r.Name, s.timeout)
	if err := s.client.Runs.Terminate(ctx, r.ID); err != nil && !client.IsInvalid(err) {
		return nil, err
	}
	return s.client.Runs.Wait(ctx, r.ID)
}

func (s *sweep) outcome(r *client.Run) string {
	took := r.Duration().Round(100 * time.Millisecond)
	if r.Status != client.Succeeded {
		return fmt.Sprintf("%s after %s: %s", strings.ToLower(r.Status), took, collect.Why(r))
	}
	for _, m := range r.Metrics {
		if record.SameMetric(m.Name, s.metric) {
			return fmt.Sprintf("%.6g %s (%s)", m.Value, s.metric, took)
		}
	}
	return fmt.Sprintf("no %s (%s)", s.metric, took)
}
