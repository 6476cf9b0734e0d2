package scaling

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// New makes a report of runs.
func New(runs []Run, o Options) (*Report, error) {
	if err := check(runs, o); err != nil {
		return nil, err
	}
	g := sortRuns(runs, o)
	if o.By != "" && !slices.Contains(g.varying, o.By) {
		return nil, fmt.Errorf("%s is the same in all runs; %s", o.By, varyingText(g.varying))
	}
	r := &Report{Title: o.Title, Metric: o.Metric, By: g.By, Confidence: confidence, Seed: o.Seed, Command: again(o.Command, runs), PriceSource: o.PriceSource, Runs: runs}
	random := rand.New(rand.NewPCG(o.Seed, 0))
	for _, cells := range g.lines() {
		line, err := g.line(cells, random)
		if err != nil {
			return nil, err
		}
		if line != nil {
			r.Lines = append(r.Lines, *line)
			r.Scaling = r.Scaling || line.Cells[0].Efficiency > 0
		}
	}
	r.decide()
	r.fail(g)
	r.describe(g)
	r.warn(g)
	return r, nil
}

func varyingText(names []string) string {
	if len(names) == 0 {
		return "no parameter varies"
	}
	return "these vary: " + strings.Join(names, ", ")
}

// line makes a line of cells with their statistics; nil when no cell has a value.
func (g *grid) line(cells []*group, random *rand.Rand) (*Line, error) {
	kept := slices.DeleteFunc(slices.Clone(cells), func(c *group) bool { return len(c.values()) == 0 })
	if len(kept) == 0 {
		return nil, nil
	}
	base, err := g.base(cells, kept)
	if err != nil {
		return nil, err
	}
	line := &Line{Base: base.at[g.By], Kind: g.kind(kept), Held: g.without(base.at, g.By)}
	switch line.Kind {
	case Strong:
		line.Held = g.without(line.Held, g.Batch)
	case Weak:
		line.Held = g.without(line.Held, g.GlobalBatch)
	}
	scaling, baseline := scales(kept), base.values()
	for _, c := range kept {
		cell := c.cell(g.By)
		values := cell.Values
		if scaling {
			values = divided(values, c.ranks)
			cell.PerRank = cell.Median / float64(c.ranks)
			cell.Speedup = cell.Median / median(baseline)
			cell.Efficiency = cell.Speedup * float64(base.ranks) / float64(c.ranks)
		}
		cell.CostPerHour = g.Price * float64(c.ranks)
		cell.CostPerMillion = cell.CostPerHour / 3600 / cell.Median * 1e6
		if c != base {
			against := baseline
			if scaling {
				against = divided(against, base.ranks)
			}
			compared := compare(values, against, random)
			cell.Against = &compared
		}
		line.Cells = append(line.Cells, cell)
	}
	return line, nil
}

// base finds the cell that the others of the line are compared with.
func (g *grid) base(cells, kept []*group) (*group, error) {
	if g.Base == "" {
		return kept[0], nil
	}
	var have []string
	for _, c := range cells {
		if c.at[g.By] != g.Base {
			have = append(have, c.at[g.By])
			continue
		}
		if !slices.Contains(kept, c) {
			return nil, fmt.Errorf("no run of the base %s=%s gave a value", g.By, g.Base)
		}
		return c, nil
	}
	return nil, fmt.Errorf("no run has %s=%s, which is to be the base; it is one of %s", g.By, g.Base, strings.Join(have, ", "))
}

func (c *group) cell(by string) Cell {
	values := c.values()
	cell := Cell{
		At: c.at[by], Parameters: c.at, Values: values, Failed: len(c.runs) + len(c.mismatched) - len(values), Ranks: c.ranks, Counted: c.counted,
		Median: median(values), Least: slices.Min(values), Most: slices.Max(values),
	}
	cell.Low, cell.High = bounds(values)
	cell.Stragglers = c.stragglers()
	if measured := c.bandwidths(); len(measured) > 0 {
		cell.Bandwidth = median(measured)
	}
	return cell
}

// bandwidths are those of the runs that measured it.
func (c *group) bandwidths() (all []float64) {
	for _, r := range c.runs {
		if r.Bandwidth > 0 {
			all = append(all, r.Bandwidth)
		}
	}
	return all
}

// stragglers holds each rank against the fastest rank of its run, and gives the median of that over runs.
func (c *group) stragglers() (shares []float64) {
	byRank := make([][]float64, c.ranks)
	for _, r := range c.runs {
		if r.Value == nil || len(r.Ranks) != c.ranks || c.ranks < 2 {
			continue
		}
		for rank, v := range r.Ranks {
			byRank[rank] = append(byRank[rank], v/slices.Max(r.Ranks))
		}
	}
	for _, of := range byRank {
		if len(of) == 0 {
			return nil
		}
		shares = append(shares, median(of))
	}
	return shares
}

func divided(values []float64, by int) []float64 {
	each := make([]float64, len(values))
	for i, v := range values {
		each[i] = v / float64(by)
	}
	return each
}

// decide corrects the comparisons together, and puts what they show into words.
func (r *Report) decide() {
	var all []*Comparison
	for _, l := range r.Lines {
		for i := range l.Cells {
			if c := l.Cells[i].Against; c != nil {
				all = append(all, c)
			}
		}
	}
	correct(all)
	if r.Comparisons = len(all); len(all) > 0 {
		r.Needed = neededRuns(len(all))
	}
	for l := range r.Lines {
		line := &r.Lines[l]
		base := line.base()
		for i := range line.Cells {
			cell := &line.Cells[i]
			if cell.Against == nil {
				continue
			}
			cell.Against.Smallest = smallest(cell.Values, base.Values, alpha/float64(len(all)))
			cell.Verdict = r.verdict(cell, base)
			prefix := ""
			if len(r.Lines) > 1 && len(line.Held) > 0 {
				prefix = line.Name() + ": "
			}
			r.Verdicts = append(r.Verdicts, prefix+cell.Verdict)
		}
	}
	if len(r.Verdicts) == 0 {
		r.Verdicts = []string{"There is nothing to compare: the runs have one cell with values."}
	}
}

func (l *Line) base() *Cell {
	return &l.Cells[slices.IndexFunc(l.Cells, func(c Cell) bool { return c.At == l.Base })]
}

// fail names the runs that do not count.
func (r *Report) fail(g *grid) {
	for _, c := range g.cells {
		name := axisName(c.at)
		for _, run := range c.runs {
			if run.Value == nil {
				why := run.Failure
				if why == "" {
					why = "it has no " + r.Metric
				}
				r.Failures = append(r.Failures, Failure{Run: run.Name, ID: run.ID, Cell: name, Why: why})
			}
		}
		for _, run := range c.mismatched {
			why := fmt.Sprintf("%d ranks took part; the other runs of this cell had %d", run.World, c.ranks)
			r.Failures = append(r.Failures, Failure{Run: run.Name, ID: run.ID, Cell: name, Why: why})
		}
	}
}

// describe tells what all runs share, and what differs beside the axes.
func (r *Report) describe(g *grid) {
	values := map[string]map[string][]string{} // by name and cell
	for _, c := range g.cells {
		for _, run := range slices.Concat(c.runs, c.mismatched) {
			facts := maps.Clone(run.Parameters)
			if facts == nil {
				facts = map[string]string{}
			}
			maps.DeleteFunc(facts, func(name, _ string) bool { return slices.Contains(g.varying, name) })
			maps.Copy(facts, run.Facts)
			for name, value := range facts {
				if values[name] == nil {
					values[name] = map[string][]string{}
				}
				cell := axisName(c.at)
				if !slices.Contains(values[name][cell], value) {
					values[name][cell] = append(values[name][cell], value)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		var different []string
		for _, list := range values[name] {
			for _, v := range list {
				if !slices.Contains(different, v) {
					different = append(different, v)
				}
			}
		}
		if len(different) > 1 || len(values[name]) < len(g.cells) {
			r.Differences = append(r.Differences, Difference{Name: name, Values: values[name]})
			continue
		}
		if r.Same == nil {
			r.Same = map[string]string{}
		}
		r.Same[name] = different[0]
	}
}

// warn says what makes the report less than it could be.
func (r *Report) warn(g *grid) {
	say := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	for _, c := range g.cells {
		asked := 0
		for _, run := range c.runs {
			asked = max(asked, run.Asked)
		}
		if c.counted && c.ranks < asked {
			say("%s: %d of %d ranks took part; check how the ranks are started", axisName(c.at), c.ranks, asked)
		}
		if i := slices.IndexFunc(c.runs, func(r Run) bool { return r.Probe != "" && r.Bandwidth == 0 }); i >= 0 && c.ranks > 1 && len(c.bandwidths()) == 0 {
			say("%s: the bandwidth is not known: %s", axisName(c.at), c.runs[i].Probe)
		}
	}
	for _, l := range r.Lines {
		if r.Scaling && l.Kind == "" && len(l.Cells) > 1 {
			say("%swhether this is strong or weak scaling is not known: no parameter is named as the batch, or it changes with neither rule", lineStart(l.Name()))
		}
		for _, c := range l.Cells {
			if r.Scaling && !c.Counted {
				say("%s: the number of ranks is what was asked for; no run has counted them", c.Name())
			}
		}
	}
	few := 0
	for _, l := range r.Lines {
		for _, c := range l.Cells {
			if len(c.Values) < r.Needed {
				few++
			}
		}
	}
	if few > 0 {
		say("%d of the cells have fewer than %d runs, so that no test can show a difference among %d %s", few, r.Needed, r.Comparisons, plural(r.Comparisons, "comparison"))
	}
	if len(r.Failures) > 0 {
		say("%d of %d runs do not count", len(r.Failures), len(r.Runs))
	}
	for _, d := range r.Differences {
		if r.Scaling && strings.HasSuffix(d.Name, " placement") {
			continue // more ranks are on more nodes
		}
		say("%s differs between runs and is no axis of this report", d.Name)
	}
}

func lineStart(name string) string {
	if name == "" {
		return ""
	}
	return name + ": "
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
