package scaling

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// Gate holds a report against an earlier one.
type Gate struct {
	FailBelow float64    `json:"fail_below"`
	Cells     []GateCell `json:"cells"`
	Failed    []string   `json:"failed,omitempty"` // a sentence for each cell that does not pass
	// Warnings name parameters and facts that all runs of the report share, and that are others in the baseline.
	Warnings []string `json:"warnings,omitempty"`
}

// GateCell is a cell in both reports.
type GateCell struct {
	Cell     string  `json:"cell"`
	Median   float64 `json:"median"`
	Baseline float64 `json:"baseline"`
	// Against is nil when the report's runs of this cell gave no value.
	Against *Comparison `json:"against,omitempty"`
	Passed  bool        `json:"passed"`
}

// Gate compares each cell with the runs of the baseline that have the same values of the parameters that vary in either.
// A cell fails when its median is below so much of the baseline's, and when it gave values then and gives none now.
func (r *Report) Gate(baseline *Report, failBelow float64) (*Gate, error) {
	if r.Metric != baseline.Metric {
		return nil, fmt.Errorf("the baseline has %s, this report %s: both must measure the same", baseline.Metric, r.Metric)
	}
	names := map[string]bool{}
	for _, report := range []*Report{r, baseline} {
		for _, l := range report.Lines {
			for name := range l.Cells[0].Parameters {
				names[name] = true
			}
		}
	}
	gate := &Gate{FailBelow: failBelow}
	for _, name := range slices.Sorted(maps.Keys(r.Same)) {
		if old, known := baseline.Same[name]; known && old != r.Same[name] {
			gate.Warnings = append(gate.Warnings, fmt.Sprintf("%s is %q, and %q in the baseline", name, r.Same[name], old))
		}
	}
	now, order := r.byCell(names)
	then, _ := baseline.byCell(names)
	random := rand.New(rand.NewPCG(r.Seed, 1))
	for _, cell := range order {
		if len(then[cell]) == 0 {
			continue
		}
		c := GateCell{Cell: cell, Baseline: median(then[cell])}
		if len(now[cell]) > 0 {
			compared := compare(now[cell], then[cell], random)
			c.Median, c.Against, c.Passed = median(now[cell]), &compared, compared.Ratio >= failBelow
		}
		gate.add(c, r.Metric)
	}
	if len(gate.Cells) == 0 {
		return nil, fmt.Errorf("the baseline has no cell of this report: both must have runs with the same values of %s", r.By)
	}
	return gate, nil
}

func (g *Gate) add(c GateCell, metric string) {
	g.Cells = append(g.Cells, c)
	switch {
	case c.Passed:
	case c.Against == nil:
		g.Failed = append(g.Failed, fmt.Sprintf("%s: no run gave %s; the baseline has %.5g", c.Cell, metric, c.Baseline))
	default:
		doubt := ""
		if c.Against.High != nil && *c.Against.High >= g.FailBelow {
			doubt = fmt.Sprintf("; with these runs it could be as much as %.3f", *c.Against.High)
		}
		g.Failed = append(g.Failed, fmt.Sprintf("%s: %s is %.5g, %.3f of the baseline's %.5g, and below %.3f%s",
			c.Cell, metric, c.Median, c.Against.Ratio, c.Baseline, g.FailBelow, doubt))
	}
}

// byCell gives the values of each cell that count, and the cells in the order of their runs.
func (r *Report) byCell(names map[string]bool) (values map[string][]float64, order []string) {
	values = map[string][]float64{}
	for _, run := range r.Runs {
		at := map[string]string{}
		for name := range names {
			at[name] = run.Parameters[name]
		}
		cell := axisName(at)
		if cell == "" {
			cell = "all runs"
		}
		if _, known := values[cell]; !known {
			order = append(order, cell)
			values[cell] = nil
		}
		failed := slices.ContainsFunc(r.Failures, func(f Failure) bool { return f.ID == run.ID && f.Run == run.Name })
		if run.Value != nil && !failed {
			values[cell] = append(values[cell], *run.Value)
		}
	}
	return values, order
}
