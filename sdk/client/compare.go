package client

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Comparison is a table of runs: each row has a value for each run, in the order of Runs.
type Comparison struct {
	Runs       []*Run           `json:"runs"`
	Parameters []ComparedRow    `json:"parameters,omitempty"`
	Metrics    []ComparedMetric `json:"metrics,omitempty"`
}

// ComparedRow is one parameter in all runs. A run that does not have it has an empty value.
type ComparedRow struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
	Same   bool     `json:"same"` // all runs have the same value
}

// ComparedMetric is one metric of one step in all runs. A run that did not report it has nil.
type ComparedMetric struct {
	Name   string     `json:"name"`
	Step   string     `json:"step"`
	Format string     `json:"format,omitempty"` // RAW or PERCENTAGE
	Values []*float64 `json:"values"`
}

// Compare reads runs from the server and compares them.
func (s RunsService) Compare(ctx context.Context, runIDs ...string) (*Comparison, error) {
	runs := make([]*Run, len(runIDs))
	errs := make([]error, len(runIDs))
	var reads sync.WaitGroup
	const atOnce = 8
	slots := make(chan struct{}, atOnce)
	for i, id := range runIDs {
		reads.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if runs[i], errs[i] = s.Get(ctx, id); errs[i] != nil {
				errs[i] = fmt.Errorf("run %s: %w", id, errs[i])
			}
		})
	}
	reads.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return CompareRuns(runs...), nil
}

// CompareRuns compares runs that were read before.
func CompareRuns(runs ...*Run) *Comparison {
	c := &Comparison{Runs: runs}
	for i, r := range runs {
		for _, p := range r.Parameters {
			row := c.parameter(p.Name)
			row.Values[i] = p.Value
		}
		for _, m := range r.Metrics {
			value := m.Value
			c.metric(m.Name, r.Step(m.NodeID), m.Format).Values[i] = &value
		}
	}
	for i := range c.Parameters {
		values := c.Parameters[i].Values
		c.Parameters[i].Same = !slices.ContainsFunc(values, func(v string) bool { return v != values[0] })
	}
	return c
}

// Step returns the Label of the node with that id.
func (r *Run) Step(nodeID string) string {
	for i := range r.Nodes {
		if n := &r.Nodes[i]; n.ID == nodeID {
			return n.Label()
		}
	}
	return nodeID
}

func (c *Comparison) parameter(name string) *ComparedRow {
	i := slices.IndexFunc(c.Parameters, func(r ComparedRow) bool { return r.Name == name })
	if i < 0 {
		i = len(c.Parameters)
		c.Parameters = append(c.Parameters, ComparedRow{Name: name, Values: make([]string, len(c.Runs))})
	}
	return &c.Parameters[i]
}

func (c *Comparison) metric(name, step, format string) *ComparedMetric {
	i := slices.IndexFunc(c.Metrics, func(m ComparedMetric) bool { return m.Name == name && m.Step == step })
	if i < 0 {
		i = len(c.Metrics)
		c.Metrics = append(c.Metrics, ComparedMetric{Name: name, Step: step, Format: format, Values: make([]*float64, len(c.Runs))})
	}
	return &c.Metrics[i]
}

// String formats the value for display: 0.5 as a PERCENTAGE is 50.00%.
func (m Metric) String() string {
	if m.Format == "PERCENTAGE" {
		return strconv.FormatFloat(m.Value*100, 'f', 2, 64) + "%"
	}
	return strconv.FormatFloat(m.Value, 'f', -1, 64)
}

// Took is how long each run has taken.
func (c *Comparison) Took() []time.Duration {
	took := make([]time.Duration, len(c.Runs))
	for i, r := range c.Runs {
		took[i] = r.Duration()
	}
	return took
}
