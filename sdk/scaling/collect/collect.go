// Package collect reads the runs of a server as measurements for a scaling report.
package collect

import (
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

// Runs reads runs with their steps. Those that go on are refused: a report is of runs that have ended.
func Runs(ctx context.Context, c *client.Client, m Metric, ids ...string) ([]scaling.Run, error) {
	const most = 100 // at a time
	var all []scaling.Run
	for chunk := range slices.Chunk(ids, most) {
		found, err := c.Runs.Compare(ctx, chunk...)
		if err != nil {
			return nil, err
		}
		for _, r := range found.Runs {
			run, err := Of(r, m)
			if err == nil && run.Value != nil {
				run.Ranks, err = ranks(ctx, c, r, m)
			}
			if err != nil {
				return nil, err
			}
			all = append(all, run)
		}
	}
	if err := record.Missing(all, m); err != nil {
		return nil, err
	}
	return all, nil
}

// ranks reads what each rank printed of the metric; nil when not all did.
func ranks(ctx context.Context, c *client.Client, r *client.Run, m Metric) ([]float64, error) {
	series, err := c.Series.Get(ctx, r.ID, m.Name, record.Points)
	if client.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", r.Name, err)
	}
	var curves []record.Curve
	for _, s := range series {
		if s.Rank == client.Unranked || m.Step != "" && s.StepName != m.Step {
			continue
		}
		curve := record.Curve{Rank: s.Rank}
		for _, p := range s.Points {
			if p.Value != nil {
				curve.Values = append(curve.Values, *p.Value)
			}
		}
		curves = append(curves, curve)
	}
	return record.Ranks(curves), nil
}

// Of reads one run, which has its nodes.
func Of(r *client.Run, m Metric) (scaling.Run, error) {
	if !r.Done() {
		return scaling.Run{}, fmt.Errorf("run %s goes on: report on it when it has ended (argosy run wait %s)", r.Name, r.ID)
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
		step := record.Step{ID: n.ID, Label: n.Label()}
		for _, o := range n.Outputs {
			step.Outputs = append(step.Outputs, record.Output{Name: o.Name, Value: o.Value})
		}
		known.Steps = append(known.Steps, step)
	}
	for _, n := range r.Metrics {
		known.Numbers = append(known.Numbers, record.Number{StepID: n.NodeID, Name: n.Name, Value: n.Value})
	}
	return record.Of(known, m)
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
