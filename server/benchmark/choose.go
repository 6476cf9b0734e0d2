package benchmark

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/argosy-ml/argosy/sdk/scaling"
	"github.com/argosy-ml/argosy/sdk/scaling/record"
)

// usualMetric is the default metric of argosy report.
const usualMetric = "images/sec"

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// metrics lists the metrics of runs, those of most runs first.
func metrics(runs []record.Run) []Measured {
	counts := map[record.Metric]int{}
	for _, r := range runs {
		seen := map[record.Metric]bool{}
		for _, n := range r.Numbers {
			m := record.Metric{Name: n.Name, Step: r.StepName(n.StepID)}
			if !seen[m] {
				seen[m] = true
				counts[m]++
			}
		}
	}
	var all []Measured
	for m, n := range counts {
		all = append(all, Measured{m, n})
	}
	slices.SortFunc(all, func(a, b Measured) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), strings.Compare(a.Name, b.Name), strings.Compare(a.Step, b.Step))
	})
	return all
}

// usual is the metric that a report is most likely meant to be of.
func usual(metrics []Measured) record.Metric {
	for _, fits := range []func(name string) bool{
		func(name string) bool { return record.SameMetric(name, usualMetric) }, scaling.Rate, func(string) bool { return true },
	} {
		for _, m := range metrics {
			if fits(m.Name) {
				return m.Metric
			}
		}
	}
	return record.Metric{Name: usualMetric}
}

// varying lists the parameters that differ between measurements.
func varying(runs []scaling.Run) (all []Varying) {
	values := map[string]map[string]bool{}
	for _, r := range runs {
		for name, v := range r.Parameters {
			if values[name] == nil {
				values[name] = map[string]bool{}
			}
			values[name][v] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(values[name]) > 1 {
			all = append(all, Varying{name, slices.SortedFunc(maps.Keys(values[name]), scaling.CompareValues)})
		}
	}
	return all
}

// sweepCommand is the command that made an experiment, when a sweep did: it stands in the description.
func sweepCommand(description string) string {
	if strings.HasPrefix(description, scaling.SweepCommand) {
		return description
	}
	return ""
}

// commandLine is the command that makes the same report.
func commandLine(q Query, experiment string) string {
	words := []string{"argosy", "report"}
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag, scaling.Quote(value))
		}
	}
	if len(q.RunIDs) == 0 {
		add("--experiment", experiment)
	}
	for _, id := range q.RunIDs {
		words = append(words, scaling.Quote(id))
	}
	if q.Metric != usualMetric {
		add("--metric", q.Metric)
	}
	add("--step", q.Step)
	add("--by", q.By)
	add("--base", q.Base)
	add("--batch", q.Batch)
	add("--global-batch", q.GlobalBatch)
	for _, name := range q.Ignore {
		add("--ignore", name)
	}
	if q.Price > 0 {
		add("--price", strconv.FormatFloat(q.Price, 'f', -1, 64))
		add("--price-source", q.PriceSource)
	}
	return strings.Join(words, " ")
}
