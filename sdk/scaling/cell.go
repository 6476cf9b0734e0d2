package scaling

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// grid is runs sorted into cells.
type grid struct {
	Options
	varying []string // the parameters that tell cells apart
	cells   []*group
}

// group is the runs of a cell.
type group struct {
	at         map[string]string
	runs       []Run
	ranks      int
	counted    bool
	mismatched []Run // took part with another number of ranks than the rest of the cell
}

var (
	rankBatches   = []string{"batch_size", "batch", "batch_size_per_worker"}
	globalBatches = []string{"global_batch_size", "global_batch"}
)

// sortRuns finds the parameters that vary and sorts runs into cells, the first seen first.
func sortRuns(runs []Run, o Options) *grid {
	g := &grid{Options: o}
	values := map[string]map[string]bool{}
	for _, r := range runs {
		for name, value := range r.Parameters {
			if values[name] == nil {
				values[name] = map[string]bool{}
			}
			values[name][value] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(values[name]) > 1 && !slices.Contains(o.Ignore, name) {
			g.varying = append(g.varying, name)
		}
	}
	if g.By == "" && len(g.varying) > 0 {
		g.By = g.varying[0]
		if slices.Contains(g.varying, "workers") {
			g.By = "workers"
		}
	}
	has := func(names []string) string {
		for _, name := range names {
			if values[name] != nil {
				return name
			}
		}
		return ""
	}
	if g.Batch == "" && g.GlobalBatch == "" {
		if g.GlobalBatch = has(globalBatches); g.GlobalBatch == "" {
			g.Batch = has(rankBatches)
		}
	}
	byName := map[string]*group{}
	for _, r := range runs {
		at := map[string]string{}
		for _, name := range g.varying {
			at[name] = r.Parameters[name]
		}
		name := axisName(at)
		if byName[name] == nil {
			byName[name] = &group{at: at}
			g.cells = append(g.cells, byName[name])
		}
		byName[name].runs = append(byName[name].runs, r)
	}
	for _, c := range g.cells {
		c.count()
	}
	return g
}

// count finds the world size of the cell: the one that most of its runs were seen with, else the one asked for.
func (c *group) count() {
	seen := map[int]int{}
	for _, r := range c.runs {
		if r.World > 0 && r.Value != nil {
			seen[r.World]++
		}
		c.ranks = max(c.ranks, r.Asked)
	}
	if len(seen) == 0 {
		return
	}
	sizes := slices.Collect(maps.Keys(seen))
	c.counted = true
	c.ranks = slices.MaxFunc(sizes, func(a, b int) int { return cmp.Or(cmp.Compare(seen[a], seen[b]), cmp.Compare(a, b)) })
	kept := c.runs[:0:0]
	for _, r := range c.runs {
		if r.World > 0 && r.World != c.ranks && r.Value != nil {
			c.mismatched = append(c.mismatched, r)
			continue
		}
		kept = append(kept, r)
	}
	c.runs = kept
}

func (c *group) values() (values []float64) {
	for _, r := range c.runs {
		if r.Value != nil {
			values = append(values, *r.Value)
		}
	}
	return values
}

// number returns a parameter of the cell as a number; 0 if it is missing or text.
func (c *group) number(name string) float64 {
	if len(c.runs) == 0 || name == "" {
		return 0
	}
	v, err := strconv.ParseFloat(c.runs[0].Parameters[name], 64)
	if err != nil {
		return 0
	}
	return v
}

// lines puts the cells that differ in By alone beside each other. Cells of strong scaling differ in the batch of a rank,
// too; other cells with different batches are lines of their own.
func (g *grid) lines() (lines [][]*group) {
	batch := cmp.Or(g.GlobalBatch, g.Batch)
	for _, line := range g.split(g.cells, g.By, batch) {
		if batch == g.By || !slices.Contains(g.varying, batch) || g.kind(line) != "" && distinct(line, g.By) {
			lines = append(lines, line)
			continue
		}
		lines = append(lines, g.split(line, g.By)...)
	}
	for _, line := range lines {
		slices.SortStableFunc(line, func(a, b *group) int { return CompareValues(a.at[g.By], b.at[g.By]) })
	}
	return lines
}

// split sorts cells by the parameters that vary, except some.
func (g *grid) split(cells []*group, except ...string) (lines [][]*group) {
	index := map[string]int{}
	for _, c := range cells {
		name := axisName(g.without(c.at, except...))
		if _, ok := index[name]; !ok {
			index[name] = len(lines)
			lines = append(lines, nil)
		}
		lines[index[name]] = append(lines[index[name]], c)
	}
	return lines
}

func (g *grid) without(at map[string]string, names ...string) map[string]string {
	rest := maps.Clone(at)
	for _, name := range names {
		delete(rest, name)
	}
	return rest
}

func distinct(cells []*group, name string) bool {
	seen := map[string]bool{}
	for _, c := range cells {
		if seen[c.at[name]] {
			return false
		}
		seen[c.at[name]] = true
	}
	return true
}

// scales tells whether the number of ranks is known in the whole line, and changes.
func scales(line []*group) bool {
	changes := false
	for _, c := range line {
		if c.ranks == 0 {
			return false
		}
		changes = changes || c.ranks != line[0].ranks
	}
	return changes
}

// kind tells strong from weak scaling by what stays the same in all cells.
func (g *grid) kind(line []*group) Kind {
	if !scales(line) {
		return ""
	}
	perRank, whole := true, true
	rank := func(c *group) float64 {
		if g.GlobalBatch != "" {
			return c.number(g.GlobalBatch) / float64(c.ranks)
		}
		return c.number(g.Batch)
	}
	for _, c := range line {
		if rank(c) == 0 {
			return ""
		}
		perRank = perRank && rank(c) == rank(line[0])
		whole = whole && rank(c)*float64(c.ranks) == rank(line[0])*float64(line[0].ranks)
	}
	switch {
	case perRank:
		return Weak
	case whole:
		return Strong
	}
	return ""
}

// CompareValues orders values of parameters: numbers by their size, then texts.
func CompareValues(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Compare(x, y)
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return strings.Compare(a, b)
}
