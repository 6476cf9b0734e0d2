// Package collect reads the runs of a server as measurements for a scaling report.
package collect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/sdk/scaling"
	"github.com/argosy-ml/argosy/sdk/scaling/record"
)

// Metric says which number of a run is measured.
type Metric = record.Metric

// Runs reads runs with their steps. Those that go on are refused: a report is of runs that have ended. A run whose measured step is in
// a loop gives a measurement for each pass.
func Runs(ctx context.Context, c *client.Client, m Metric, ids ...string) ([]scaling.Run, error) {
	const most = 100 // at a time
	var all []scaling.Run
	for chunk := range slices.Chunk(ids, most) {
		found, err := c.Runs.Compare(ctx, chunk...)
		if err != nil {
			return nil, err
		}
		for _, r := range found.Runs {
			measured, err := of(r, m)
			if err != nil {
				return nil, err
			}
			if err := ranks(ctx, c, r, m, measured); err != nil {
				return nil, err
			}
			for _, one := range measured {
				all = append(all, one.Run)
			}
		}
	}
	if err := record.Missing(all, m); err != nil {
		return nil, err
	}
	return all, nil
}

// ranks reads what each rank printed of the metric.
func ranks(ctx context.Context, c *client.Client, r *client.Run, m Metric, measured []record.Measurement) error {
	if !slices.ContainsFunc(measured, func(one record.Measurement) bool { return one.Value != nil }) {
		return nil
	}
	series, err := c.Series.Get(ctx, r.ID, m.Name, client.SeriesOptions{Points: record.Points})
	if client.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", r.Name, err)
	}
	var curves []record.Curve
	for _, s := range series {
		if s.Rank == client.Unranked {
			continue
		}
		curve := record.Curve{StepID: s.NodeID, Step: s.StepName, Rank: s.Rank}
		for _, p := range s.Points {
			if p.Value != nil {
				curve.Values = append(curve.Values, *p.Value)
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

// Of reads one run, which has its nodes, without the values of its ranks.
func Of(r *client.Run, m Metric) (all []scaling.Run, err error) {
	measured, err := of(r, m)
	for _, one := range measured {
		all = append(all, one.Run)
	}
	return all, err
}

func of(r *client.Run, m Metric) ([]record.Measurement, error) {
	if !r.Done() {
		return nil, fmt.Errorf("run %s has not ended: report on it afterwards (argosy run wait %s)", r.Name, r.ID)
	}
	known := record.Run{
		ID: r.ID, Name: r.Name, Started: r.StartedAt, Succeeded: r.Status == client.Succeeded, Failure: Why(r),
		Pipeline: r.Pipeline.Name, Version: r.Pipeline.VersionID, Parameters: map[string]string{},
	}
	for _, p := range r.Parameters {
		known.Parameters[p.Name] = p.Value
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		known.Steps = append(known.Steps, record.Step{
			ID: n.ID, Label: n.Label(), Name: cmp.Or(n.DisplayName, n.Name), Around: n.BoundaryID, Pod: n.Type == "Pod" || n.Type == "Retry",
			Succeeded: n.Phase == client.Succeeded, Message: n.Message, Started: n.StartedAt, Inputs: values(n.Inputs), Outputs: values(n.Outputs),
		})
	}
	for _, n := range r.Metrics {
		known.Numbers = append(known.Numbers, record.Number{StepID: n.NodeID, Name: n.Name, Value: n.Value})
	}
	return record.Of(known, m)
}

func values(parameters []client.Parameter) (all []record.Value) {
	for _, p := range parameters {
		all = append(all, record.Value{Name: p.Name, Value: p.Value})
	}
	return all
}

// Why says in a line why a run did not succeed: as the server does, else as the first step that failed, else as the run's warnings do.
func Why(r *client.Run) string {
	reasons := []string{r.Error}
	for _, n := range r.Nodes {
		if n.Type == "Pod" && (n.Phase == client.Failed || n.Phase == client.Errored) && n.Message != "" {
			reasons = append(reasons, record.FailedStep(n.Label(), n.Message))
		}
	}
	return record.Failed(append(append(reasons, r.Warnings...), strings.ToLower(r.Status))...)
}
