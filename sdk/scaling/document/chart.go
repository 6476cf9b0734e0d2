package document

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/scaling"
)

// Sizes of a chart, in its own units.
const (
	chartWidth, chartHeight = 400, 270
	plotLeft, plotRight     = 54, 388
	plotTop, plotBottom     = 38, 222
)

// point is a cell in a chart.
type point struct {
	label     string
	x, y      float64
	low, high *float64  // interval of y
	runs      []float64 // y of each run
}

// chart is points over an axis of ranks, or of names.
type chart struct {
	title, xTitle string
	points        []point
	ideal         func(x float64) float64 // nil: there is none
	idealName     string
	names         bool // the axis has names in place of numbers
	share         bool // y is a share of one
	logarithmic   bool
	low, high     float64 // of y
	least, most   float64 // of x
}

// charts draws a line of the report: its throughput, and where ranks change its efficiency.
func charts(r *scaling.Report, l *scaling.Line) []template.HTML {
	c := chart{title: r.Metric, xTitle: r.By, names: true}
	for i, cell := range l.Cells {
		c.points = append(c.points, point{label: cell.At, x: float64(i), y: cell.Median, low: cell.Low, high: cell.High, runs: cell.Values})
	}
	if !r.Scaling || l.Cells[0].Efficiency == 0 {
		c.title += ", and each run"
		c.fit(false)
		return []template.HTML{c.svg()}
	}
	c.names, c.xTitle = false, "ranks"
	base := l.Cells[slices.IndexFunc(l.Cells, func(c scaling.Cell) bool { return c.At == l.Base })]
	perRank := base.PerRank
	efficiency := chart{title: "efficiency", xTitle: "ranks", share: true, ideal: func(float64) float64 { return 1 }, idealName: "ideal: as at the base"}
	for i, cell := range l.Cells {
		c.points[i].x = float64(cell.Ranks)
		p := point{x: float64(cell.Ranks), y: cell.Efficiency}
		if cell.Against != nil {
			p.low, p.high = cell.Against.Low, cell.Against.High
		}
		for _, v := range cell.Values {
			p.runs = append(p.runs, v/float64(cell.Ranks)/perRank)
		}
		efficiency.points = append(efficiency.points, p)
	}
	c.ideal, c.idealName = func(x float64) float64 { return perRank * x }, "ideal: linear from the base"
	for _, each := range []*chart{&c, &efficiency} {
		slices.SortFunc(each.points, func(a, b point) int { return int(a.x - b.x) })
		each.fit(true)
	}
	return []template.HTML{c.svg(), efficiency.svg()}
}

// fit chooses what the axes cover. Throughput over ranks begins at zero; what is compared by name shows its differences.
func (c *chart) fit(zero bool) {
	c.least, c.most = c.points[0].x, c.points[len(c.points)-1].x
	c.low, c.high = math.Inf(1), math.Inf(-1)
	take := func(v float64) { c.low, c.high = min(c.low, v), max(c.high, v) }
	for _, p := range c.points {
		take(p.y)
		for _, v := range p.runs {
			take(v)
		}
		if p.low != nil {
			take(*p.low)
			take(*p.high)
		}
		if c.ideal != nil {
			take(c.ideal(p.x))
		}
	}
	const wide = 8 // times as many ranks need logarithmic axes
	c.logarithmic = zero && !c.share && c.least > 0 && c.most/c.least > wide
	switch {
	case c.logarithmic:
		c.low, c.high = c.low/1.3, c.high*1.3
	case zero:
		c.low, c.high = 0, c.high*1.08
	case c.high == c.low:
		c.low, c.high = c.low*0.95, c.high*1.05
	default:
		room := (c.high - c.low) * 0.15
		c.low, c.high = c.low-room, c.high+room
	}
}

func (c *chart) x(v float64) float64 {
	const inset = 26
	if c.most == c.least {
		return (plotLeft + plotRight) / 2
	}
	part := (v - c.least) / (c.most - c.least)
	if !c.names && c.least > 0 && c.most/c.least > 8 {
		part = math.Log(v/c.least) / math.Log(c.most/c.least)
	}
	if c.names {
		each := (plotRight - plotLeft) / float64(len(c.points))
		return plotLeft + each/2 + part*(plotRight-plotLeft-each)
	}
	return plotLeft + inset + part*(plotRight-plotLeft-2*inset)
}

func (c *chart) y(v float64) float64 {
	part := (v - c.low) / (c.high - c.low)
	if c.logarithmic {
		part = math.Log(v/c.low) / math.Log(c.high/c.low)
	}
	return plotBottom - part*(plotBottom-plotTop)
}

func (c *chart) text(v float64) string {
	if c.share {
		return fmt.Sprintf("%.0f %%", 100*v)
	}
	return Number(v)
}

func (c *chart) svg() template.HTML {
	var b strings.Builder
	var spoken []string
	for _, p := range c.points {
		spoken = append(spoken, p.name()+": "+c.text(p.y))
	}
	title := html.EscapeString(c.title)
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s by %s. %s">`, chartWidth, chartHeight, title, html.EscapeString(c.xTitle), html.EscapeString(strings.Join(spoken, "; ")))
	fmt.Fprintf(&b, `<text class="title" x="12" y="20">%s</text>`, title)
	c.axes(&b)
	if c.ideal != nil {
		fmt.Fprintf(&b, `<path class="ideal" d="M%.1f %.1fL%.1f %.1f"/>`, c.x(c.least), c.y(c.ideal(c.least)), c.x(c.most), c.y(c.ideal(c.most)))
		fmt.Fprintf(&b, `<path class="ideal" d="M%d 16h22"/><text x="%d" y="20">%s</text>`, 212, 240, c.idealName)
	}
	if !c.names {
		for i, p := range c.points {
			command := "L"
			if i == 0 {
				b.WriteString(`<path class="curve" d="`)
				command = "M"
			}
			fmt.Fprintf(&b, "%s%.1f %.1f", command, c.x(p.x), c.y(p.y))
		}
		b.WriteString(`"/>`)
	}
	for i, p := range c.points {
		c.point(&b, i, p)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // every text in it is escaped above
}

func (p point) name() string {
	if p.label != "" {
		return p.label
	}
	return Number(p.x)
}

func (c *chart) axes(b *strings.Builder) {
	for _, v := range c.ticks() {
		fmt.Fprintf(b, `<path class="grid" d="M%d %.1fH%d"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`, plotLeft, c.y(v), plotRight, plotLeft-7, c.y(v)+4, c.text(v))
	}
	last := math.Inf(-1)
	for _, p := range c.points {
		label := p.label
		if !c.names {
			label = Number(p.x)
		}
		at, half := c.x(p.x), 3.2*float64(len([]rune(label)))
		if at-half < last+6 {
			continue
		}
		last = at + half
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`, at, plotBottom+18, html.EscapeString(label))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`, (plotLeft+plotRight)/2, chartHeight-10, html.EscapeString(c.xTitle))
}

// ticks are round values on the axis of y.
func (c *chart) ticks() (values []float64) {
	if c.logarithmic {
		for power := math.Floor(math.Log10(c.low)); power <= math.Ceil(math.Log10(c.high)); power++ {
			for _, step := range []float64{1, 2, 5} {
				if v := step * math.Pow(10, power); v >= c.low && v <= c.high {
					values = append(values, v)
				}
			}
		}
		return values
	}
	step := math.Pow(10, math.Floor(math.Log10((c.high-c.low)/4)))
	for _, times := range []float64{1, 2, 5, 10} {
		if (c.high-c.low)/(step*times) <= 7 {
			step *= times
			break
		}
	}
	for v := math.Ceil(c.low/step) * step; v <= c.high; v += step {
		values = append(values, math.Round(v/step)*step)
	}
	return values
}

// point draws a cell: its runs beside its median, and the interval through it.
func (c *chart) point(b *strings.Builder, i int, p point) {
	x := c.x(p.x)
	for _, v := range p.runs {
		fmt.Fprintf(b, `<circle class="run" cx="%.1f" cy="%.1f" r="3"/>`, x+9, c.y(v))
	}
	if p.low != nil {
		fmt.Fprintf(b, `<path class="interval" d="M%.1f %.1fV%.1fM%.1f %.1fh8M%.1f %.1fh8"/>`, x, c.y(*p.low), c.y(*p.high), x-4, c.y(*p.low), x-4, c.y(*p.high))
	}
	fmt.Fprintf(b, `<circle class="median" cx="%.1f" cy="%.1f" r="4"/>`, x, c.y(p.y))
	anchor, at, above := "middle", x, c.y(p.y)-12
	switch {
	case c.names:
		anchor, at, above = "end", x-9, c.y(p.y)+4
	case i == 0:
		anchor, at = "start", x-4
	case i == len(c.points)-1:
		anchor, at = "end", x+4
	}
	if !c.names { // below the curve, where neither the ideal line nor the intervals are
		above = min(plotBottom-4, c.lowest(p)+16)
	}
	fmt.Fprintf(b, `<text class="value" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, at, above, anchor, c.precise(p.y))
}

// lowest is how far down a cell's marks reach.
func (c *chart) lowest(p point) float64 {
	down := c.y(p.y)
	for _, v := range p.runs {
		down = max(down, c.y(v))
	}
	if p.low != nil {
		down = max(down, c.y(*p.low))
	}
	return down
}

func (c *chart) precise(v float64) string {
	if c.share {
		return percent(v)
	}
	return Number(v)
}

// pictureStyle is what a chart needs outside of the page, on white.
const pictureStyle = `<style>text{fill:#4b5563;font:11.5px system-ui,sans-serif}.title{fill:#1f2937;font-weight:600}.value{fill:#1f2937}` +
	`.grid{stroke:#d1d5db}.ideal{stroke:#6b7280;stroke-width:1.5;stroke-dasharray:5 4;fill:none}.curve,.interval{stroke:#0b66b0;stroke-width:2;fill:none}` +
	`.median{fill:#0b66b0}.run{fill:#0b66b0;fill-opacity:.35}</style><rect width="100%" height="100%" fill="#ffffff"/>`

// Pictures draws a line of the report as SVG files, each of its own.
func Pictures(r *scaling.Report, l *scaling.Line) (files []string) {
	for _, chart := range charts(r, l) {
		head, rest, _ := strings.Cut(string(chart), ">")
		head = strings.Replace(head, "<svg ", fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" `, chartWidth, chartHeight), 1)
		files = append(files, head+">"+pictureStyle+rest)
	}
	return files
}
