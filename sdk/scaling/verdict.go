package scaling

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// verdict says what a cell's runs show against those of the base.
func (r *Report) verdict(cell, base *Cell) string {
	if cell.Efficiency > 0 {
		return r.scalingVerdict(cell, base)
	}
	c := cell.Against
	more, less := r.words()
	switch {
	case c.Different:
		return fmt.Sprintf("%s %s than %s%s", cell.At, change(c.Ratio, more, less), base.At, c.interval())
	case !r.enough(cell, base):
		return fmt.Sprintf("%s %s than %s%s; %s", cell.At, change(c.Ratio, more, less), base.At, c.interval(), r.tooFew(cell, base))
	}
	return fmt.Sprintf("%s: no difference above %s %% from %s", cell.At, upTo(c.farthest()), base.At)
}

// scalingVerdict speaks of efficiency. The comparison is of the throughput of a rank, so its ratio is the efficiency.
func (r *Report) scalingVerdict(cell, base *Cell) string {
	c := cell.Against
	interval := ""
	if c.Low != nil {
		interval = fmt.Sprintf(" (95 %%: %s–%s %%)", percent(100**c.Low), percent(100**c.High))
	}
	text := fmt.Sprintf("%s %s: %s %% efficient%s, %s times the throughput of %d", strconv.Itoa(cell.Ranks), plural(cell.Ranks, "rank"), percent(100*cell.Efficiency),
		interval, strconv.FormatFloat(cell.Speedup, 'f', 2, 64), base.Ranks)
	switch {
	case c.Different && c.Ratio < 1:
		return text + "; ranks lose speed"
	case c.Different:
		return text + "; faster than linear"
	case !r.enough(cell, base):
		return text + "; " + r.tooFew(cell, base)
	}
	return text + fmt.Sprintf("; no loss shown, it is at most %s %%", upTo(max(0, 1-*c.Low)))
}

// words are faster and slower for rates, and higher and lower for other metrics.
func (r *Report) words() (more, less string) {
	if Rate(r.Metric) {
		return "faster", "slower"
	}
	return "higher", "lower"
}

// Rate tells whether a metric counts something in a time, by its name.
func Rate(metric string) bool {
	name := strings.ToLower(metric)
	return slices.ContainsFunc([]string{"/s", "-sec", "per_second", "per second", "throughput", "ips", "/day"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}

func change(ratio float64, more, less string) string {
	if ratio < 1 {
		return fmt.Sprintf("%s %% %s", percent(100*(1-ratio)), less)
	}
	return fmt.Sprintf("%s %% %s", percent(100*(ratio-1)), more)
}

// interval is the bounds as a change: of a loss, more loss is a greater number.
func (c *Comparison) interval() string {
	if c.Low == nil {
		return ""
	}
	low, high := 100*(*c.Low-1), 100*(*c.High-1)
	if c.Ratio < 1 {
		low, high = -high, -low
	}
	if low < 0 {
		return fmt.Sprintf(" (95 %%: %s to %s %%)", percent(low), percent(high))
	}
	return fmt.Sprintf(" (95 %%: %s–%s %%)", percent(low), percent(high))
}

// farthest is how far the bounds are from no change at all.
func (c *Comparison) farthest() float64 {
	if c.Low == nil {
		return math.Abs(c.Ratio - 1)
	}
	return max(1-*c.Low, *c.High-1)
}

func (r *Report) enough(cell, base *Cell) bool {
	return leastP(len(cell.Values), len(base.Values))*float64(r.Comparisons) < alpha
}

func (r *Report) tooFew(cell, base *Cell) string {
	return fmt.Sprintf("%d and %d runs are too few to tell, each cell needs %d", len(cell.Values), len(base.Values), r.Needed)
}

// percent has one decimal.
func percent(v float64) string {
	text := strconv.FormatFloat(v, 'f', 1, 64)
	if text == "-0.0" {
		text = "0.0"
	}
	return strings.Replace(text, "-", "−", 1)
}

// upTo is a share in per cent, rounded up to two digits.
func upTo(share float64) string {
	v := 100 * share
	if v < 10 {
		return strconv.FormatFloat(math.Ceil(v*10-1e-9)/10, 'f', -1, 64)
	}
	return strconv.FormatFloat(math.Ceil(v-1e-9), 'f', -1, 64)
}
