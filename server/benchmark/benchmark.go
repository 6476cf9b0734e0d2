// Package benchmark reports how the throughput of runs changes with a parameter. It reads the runs; the statistics are those of
// sdk/scaling, as in the command argosy report.
package benchmark

import (
	"cmp"
	"context"
	"slices"

	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/sdk/scaling"
	"github.com/argosy-ml/argosy/sdk/scaling/record"
	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/experiment"
	"github.com/argosy-ml/argosy/server/listing"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/series"
)

const (
	maxRuns  = 1000
	pageSize = 200
)

// Config is what the service reads.
type Config struct {
	Runs        *run.Reader
	Experiments *experiment.Service
	Series      *series.Reader
}

// Service makes reports. Errors are *apierr.Error.
type Service struct{ c Config }

// NewService makes the service.
func NewService(c Config) *Service { return &Service{c} }

// Query chooses what is reported, and the runs: those named, else those of the experiment.
type Query struct {
	scaling.Options
	Step         string
	RunIDs       []string
	ExperimentID string
}

// Answer is a report, and what else could be reported of these runs.
type Answer struct {
	Report     *scaling.Report // nil: it is refused
	Refused    string          // why
	Metrics    []Measured
	Varying    []Varying
	Open       int    // runs that go on, which are left out
	Experiment string // name; empty when the runs were named
	Metric     record.Metric
}

// Measured is a metric that some of the runs report.
type Measured struct {
	record.Metric
	Runs int
}

// Varying is a parameter with several values, in their order.
type Varying struct {
	Name   string
	Values []string
}

// Report builds the report. If the runs do not allow one, the answer says why and the error is nil.
func (s *Service) Report(ctx context.Context, q Query) (*Answer, error) {
	all, title, command, err := s.find(ctx, q)
	if err != nil {
		return nil, err
	}
	a := &Answer{Experiment: title}
	var ended []record.Run
	for _, r := range all {
		if !run.Final(r.Status) {
			a.Open++
			continue
		}
		known, err := s.known(ctx, r)
		if err != nil {
			return nil, err
		}
		ended = append(ended, known)
	}
	a.Metrics = metrics(ended)
	if a.Metric = (record.Metric{Name: q.Metric, Step: q.Step}); a.Metric.Name == "" {
		a.Metric = usual(a.Metrics)
	}
	q.Metric, q.Step = a.Metric.Name, a.Metric.Step
	if q.Title == "" {
		q.Title = title
	}
	if q.Command = command; command == "" {
		q.Command = commandLine(q, title)
	}
	q.Seed = 1
	if len(ended) == 0 {
		a.Refused = "no run of these has ended"
		return a, nil
	}
	runs, refused, err := s.measure(ctx, ended, a.Metric)
	if err != nil {
		return nil, err
	}
	a.Varying = varying(runs)
	if refused == nil {
		a.Report, refused = scaling.New(runs, q.Options)
	}
	if refused != nil {
		a.Refused = refused.Error()
	}
	return a, nil
}

// find gives the runs, and of an experiment its name, and the command of the sweep that made it.
func (s *Service) find(ctx context.Context, q Query) (all []run.Run, name, command string, err error) {
	switch {
	case len(q.RunIDs) > maxRuns:
		return nil, "", "", apierr.New(apierr.Invalid, "run_ids has %d runs; a report is of at most %d", len(q.RunIDs), maxRuns)
	case len(q.RunIDs) == 0 && q.ExperimentID == "":
		return nil, "", "", apierr.New(apierr.Invalid, "run_ids and experiment_id are missing; say which runs the report is of")
	}
	for _, id := range q.RunIDs {
		r, err := s.c.Runs.Get(ctx, id)
		if err != nil {
			return nil, "", "", err
		}
		all = append(all, r)
	}
	if len(all) > 0 {
		return all, "", "", nil
	}
	e, err := s.c.Experiments.Recall(ctx, q.ExperimentID)
	if err != nil {
		return nil, "", "", err
	}
	next := listing.Query{Size: pageSize, SortBy: "created_at"}
	for {
		p, err := s.c.Runs.List(ctx, next, run.Scope{ExperimentID: e.ID})
		if err != nil {
			return nil, "", "", err
		}
		all = append(all, slices.DeleteFunc(p.Items, func(r run.Run) bool { return r.Archived })...)
		if len(all) > maxRuns {
			return nil, "", "", apierr.New(apierr.Invalid, "experiment %s has more than %d runs; choose some of them", e.Name, maxRuns)
		}
		if next.Start = p.Next; p.Next == nil {
			return all, e.Name, sweepCommand(e.Description), nil
		}
	}
}

// known reads what is known of a run.
func (s *Service) known(ctx context.Context, r run.Run) (record.Run, error) {
	known := record.Run{
		ID: r.ID, Name: r.Name, Started: r.StartedAt, Succeeded: r.Status == run.Succeeded, Pipeline: r.PipelineName, Version: r.VersionID,
		Parameters: map[string]string{},
	}
	for _, p := range slices.Concat(r.Parameters, r.Defaults) {
		known.Parameters[p.Name] = p.Value
	}
	nodes, err := s.c.Runs.Nodes(ctx, r.ID)
	if err != nil {
		return known, err
	}
	reasons := []string{r.Message}
	for _, n := range nodes {
		step := record.Step{
			ID: n.ID, Label: (&client.Node{Name: n.Name, DisplayName: n.DisplayName}).Label(), Name: cmp.Or(n.DisplayName, n.Name), Around: n.BoundaryID,
			Pod: n.Type == "Pod" || n.Type == "Retry", Succeeded: n.Phase == run.Succeeded, Message: n.Message, Started: n.StartedAt,
			Inputs: values(n.Inputs), Outputs: values(n.Outputs),
		}
		known.Steps = append(known.Steps, step)
		if n.Type == "Pod" && (n.Phase == run.Failed || n.Phase == run.Error) && n.Message != "" {
			reasons = append(reasons, record.FailedStep(step.Label, n.Message))
		}
	}
	known.Failure = record.Failed(append(append(reasons, r.Warnings...), r.Status)...)
	for _, m := range r.Metrics {
		known.Numbers = append(known.Numbers, record.Number{StepID: m.NodeID, Name: m.Name, Value: m.Value})
	}
	return known, nil
}

func values(parameters []run.Parameter) (all []record.Value) {
	for _, p := range parameters {
		all = append(all, record.Value{Name: p.Name, Value: p.Value})
	}
	return all
}

// measure makes measurements of runs; refused says why it cannot, and the runs then have their parameters alone.
func (s *Service) measure(ctx context.Context, ended []record.Run, m record.Metric) (runs []scaling.Run, refused, err error) {
	for _, known := range ended {
		measured, refused := record.Of(known, m)
		if refused != nil {
			return plain(ended), refused, nil
		}
		if err := s.ranks(ctx, known.ID, m, measured); err != nil {
			return nil, nil, err
		}
		for _, one := range measured {
			runs = append(runs, one.Run)
		}
	}
	return runs, record.Missing(runs, m), nil
}

func plain(ended []record.Run) (runs []scaling.Run) {
	for _, known := range ended {
		runs = append(runs, scaling.Run{ID: known.ID, Name: known.Name, Parameters: known.Parameters})
	}
	return runs
}

// ranks reads what each rank printed of the metric.
func (s *Service) ranks(ctx context.Context, id string, m record.Metric, measured []record.Measurement) error {
	if !slices.ContainsFunc(measured, func(one record.Measurement) bool { return one.Value != nil }) {
		return nil
	}
	found, err := s.c.Series.Curves(ctx, id, series.Query{Name: m.Name, Points: record.Points})
	if apierr.KindOf(err) == apierr.NotFound && err != nil {
		return nil
	}
	if err != nil {
		return err
	}
	var curves []record.Curve
	for _, c := range found {
		if c.Rank == run.Unranked {
			continue
		}
		curve := record.Curve{StepID: c.NodeID, Step: c.StepName, Rank: c.Rank}
		for _, p := range c.Points {
			if finite(p.Value) {
				curve.Values = append(curve.Values, p.Value)
			}
		}
		curves = append(curves, curve)
	}
	for i := range measured {
		if measured[i].Value != nil {
			measured[i].SetRanks(curves, m)
		}
	}
	return nil
}
