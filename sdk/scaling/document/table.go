// Package document writes a scaling report as tables, Markdown, an HTML page or CSV.
package document

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/argosy-ml/argosy/sdk/scaling"
)

// Table is a part of a report.
type Table struct {
	Title  string
	Note   string // below the title
	Header []string
	Rows   [][]string
	// Left is how many columns are text; the others are numbers.
	Left int
}

// Method says how a report comes to its figures.
func Method(r *scaling.Report) string {
	text := "Each run, or each pass of its loop, gives one value. Figures are medians over runs. A difference counts when the Mann-Whitney test finds it at 5 %, corrected after Holm for " +
		strconv.Itoa(r.Comparisons) + " " + plural(r.Comparisons, "comparison") + ", and the interval of the ratio excludes none. Intervals are of 95 %: of medians by order statistics, which takes 6 runs; of ratios by a bootstrap over runs, which takes 4, seed " +
		strconv.FormatUint(r.Seed, 10) + ". The smallest effect is what so many runs with this spread show in four of five tries."
	if r.Scaling {
		text += " Efficiency is the throughput of a rank as a share of that at the base."
	}
	if slices.ContainsFunc(r.Lines, func(l scaling.Line) bool { return probed(&l) }) {
		text += " Bus GB/s is the bus bandwidth of an all-reduce over the same ranks, before the measurement: size / time * 2 * (ranks - 1) / ranks, as in nccl-tests (PERFORMANCE.md)."
	}
	if r.PriceSource != "" {
		text += " Costs: " + r.PriceSource + "."
	}
	return text
}

// Cells gives a table for each line of the report.
func Cells(r *scaling.Report) (tables []Table) {
	for i := range r.Lines {
		tables = append(tables, cells(r, &r.Lines[i]))
	}
	return tables
}

func cells(r *scaling.Report, l *scaling.Line) Table {
	t := Table{Title: LineTitle(r, l), Header: []string{r.By, "runs"}, Left: 1}
	if r.By == "" {
		t.Header[0] = "runs of"
	}
	column := func(names ...string) { t.Header = append(t.Header, names...) }
	column(r.Metric, "95 % or range")
	if r.Scaling {
		column("ranks", "each rank", "speedup", "efficiency", "95 %")
	} else {
		column("against "+l.Base, "95 %")
	}
	column("p (Holm)", "smallest effect")
	if straggles(l) {
		column("slowest rank")
	}
	if probed(l) {
		column("bus GB/s")
	}
	if r.PriceSource != "" {
		column("cost an hour", "cost a million")
	}
	for i := range l.Cells {
		t.Rows = append(t.Rows, cell(r, l, &l.Cells[i]))
	}
	return t
}

func cell(r *scaling.Report, l *scaling.Line, c *scaling.Cell) []string {
	name := c.At
	if c.At == l.Base && len(l.Cells) > 1 {
		name += " (base)"
	}
	if name == "" {
		name = "all"
	}
	runs := strconv.Itoa(len(c.Values))
	if c.Failed > 0 {
		runs += fmt.Sprintf(" + %d failed", c.Failed)
	}
	row := []string{name, runs, Number(c.Median), spread(c)}
	ratio, interval, p, smallest := "", "", "", ""
	if a := c.Against; a != nil {
		ratio, p, smallest = percent(a.Ratio), probability(a.Adjusted), "none"
		if a.Low != nil {
			interval = percent(*a.Low) + " – " + percent(*a.High)
		}
		if a.Smallest != nil {
			smallest = percent(*a.Smallest)
		}
	}
	if r.Scaling {
		ranks := strconv.Itoa(c.Ranks)
		if !c.Counted {
			ranks += " asked"
		}
		each, speedup, efficiency := "", "", "" // of a line whose ranks do not change
		if c.Efficiency > 0 {
			each, speedup, efficiency = Number(c.PerRank), strconv.FormatFloat(c.Speedup, 'f', 2, 64), percent(c.Efficiency)
		}
		row = append(row, ranks, each, speedup, efficiency, interval)
	} else {
		row = append(row, ratio, interval)
	}
	row = append(row, p, smallest)
	if straggles(l) {
		slowest := ""
		if len(c.Stragglers) > 0 {
			slowest = percent(slices.Min(c.Stragglers))
		}
		row = append(row, slowest)
	}
	if probed(l) {
		bandwidth := ""
		if c.Bandwidth > 0 {
			bandwidth = Number(c.Bandwidth)
		}
		row = append(row, bandwidth)
	}
	if r.PriceSource != "" {
		row = append(row, money(c.CostPerHour), money(c.CostPerMillion))
	}
	return row
}

// straggles tells whether the speed of each rank is known in some cell.
func straggles(l *scaling.Line) bool {
	return slices.ContainsFunc(l.Cells, func(c scaling.Cell) bool { return len(c.Stragglers) > 0 })
}

// probed tells whether the bandwidth is known in some cell.
func probed(l *scaling.Line) bool {
	return slices.ContainsFunc(l.Cells, func(c scaling.Cell) bool { return c.Bandwidth > 0 })
}

// spread is the interval of the median, or the range of the values where they are too few for one.
func spread(c *scaling.Cell) string {
	switch {
	case c.Low != nil:
		return Number(*c.Low) + " – " + Number(*c.High)
	case len(c.Values) > 1:
		return Number(c.Least) + " … " + Number(c.Most)
	}
	return ""
}

// LineTitle names a line: its kind and what is held in it.
func LineTitle(r *scaling.Report, l *scaling.Line) string {
	title := r.Metric
	if r.By != "" {
		title += " by " + r.By
	}
	if l.Kind != "" {
		title = strings.ToUpper(string(l.Kind)[:1]) + string(l.Kind)[1:] + " scaling: " + title
	}
	if name := l.Name(); name != "" {
		title += ", " + name
	}
	return title
}

// Kind explains the kind of scaling of a line.
func Kind(l *scaling.Line) string {
	switch l.Kind {
	case scaling.Weak:
		return "The batch of each rank stays the same."
	case scaling.Strong:
		return "The batch of all ranks together stays the same."
	}
	return ""
}

// Titles of tables among the details that are of more concern than others.
const (
	FailuresTitle    = "Runs that do not count"
	DifferencesTitle = "What else differs"
)

// Details gives what else is to be known: failures, differences, what is the same, the runs.
func Details(r *scaling.Report) (tables []Table) {
	add := func(t Table) {
		if len(t.Rows) > 0 {
			tables = append(tables, t)
		}
	}
	failures := Table{Title: FailuresTitle, Header: []string{"run", "cell", "why"}, Left: 3}
	for _, f := range r.Failures {
		failures.Rows = append(failures.Rows, []string{f.Run, f.Cell, f.Why})
	}
	add(failures)
	differences := Table{Title: DifferencesTitle, Note: "These are not axes of the report and may explain what it shows.", Header: []string{"what", "cell", "values"}, Left: 3}
	for _, d := range r.Differences {
		for _, cell := range slices.Sorted(maps.Keys(d.Values)) {
			differences.Rows = append(differences.Rows, []string{d.Name, cell, strings.Join(d.Values[cell], ", ")})
		}
	}
	add(differences)
	same := Table{Title: "The same in all runs", Header: []string{"what", "value"}, Left: 2}
	for _, name := range slices.Sorted(maps.Keys(r.Same)) {
		same.Rows = append(same.Rows, []string{name, r.Same[name]})
	}
	add(same)
	raw := Table{Title: "Runs, in the order in which they ran", Header: []string{"run", "started", r.Metric, "ranks"}, Left: 2}
	measured := slices.ContainsFunc(r.Runs, func(run scaling.Run) bool { return run.Probe != "" })
	if measured {
		raw.Header = append(raw.Header, "bus GB/s", "bandwidth probe")
	}
	for _, run := range ordered(r.Runs) {
		value, ranks := "none", ""
		if run.Value != nil {
			value = strconv.FormatFloat(*run.Value, 'g', 10, 64) // a sum of ranks has more digits than it means
		}
		if run.World > 0 {
			ranks = strconv.Itoa(run.World)
		}
		row := []string{run.Name, stamp(run.Started), value, ranks}
		if measured {
			row = append(row, known(run.Bandwidth), run.Probe)
		}
		raw.Rows = append(raw.Rows, row)
	}
	add(raw)
	return tables
}

// ordered gives runs as they ran.
func ordered(runs []scaling.Run) []scaling.Run {
	return slices.SortedStableFunc(slices.Values(runs), func(a, b scaling.Run) int { return a.Started.Compare(b.Started) })
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateTime) + " UTC"
}

// Number writes a value in five digits, without an exponent where people read it.
func Number(v float64) string {
	decimals := 0
	for limit := 10000.0; v < limit && decimals < 8; limit /= 10 {
		decimals++
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func money(v float64) string {
	if v < 1 {
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

func probability(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
