package scaling

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

const (
	confidence = 0.95
	alpha      = 1 - confidence
	power      = 0.8 // of the smallest effect
	resamples  = 2000
	leastRuns  = 4 // for bounds
)

// Comparison is one set of values against another, as a ratio of medians.
type Comparison struct {
	Ratio float64 `json:"ratio"`
	// Low and High bound the ratio with the report's confidence. They are nil with fewer than four values on a side: a
	// bootstrap cannot reach that confidence with so few.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
	// P is from the Mann-Whitney test; Adjusted is corrected for the number of comparisons, after Holm.
	P        float64 `json:"p"`
	Adjusted float64 `json:"adjusted"`
	// Smallest is the least change that so many runs with such a spread show in four of five tries: 0.02 is two per cent.
	// nil: they could show none, whatever its size.
	Smallest *float64 `json:"smallest,omitempty"`
	// Different: the test finds a difference, corrected for all comparisons of the report, and the bounds exclude zero difference.
	Different bool `json:"different"`
}

// compare holds a against b.
func compare(a, b []float64, random *rand.Rand) Comparison {
	c := Comparison{Ratio: median(a) / median(b)}
	c.P = benchmath.AssumeNothing.Compare(sample(a), sample(b)).P
	c.Adjusted = c.P
	if min(len(a), len(b)) >= leastRuns {
		low, high := bootstrap(a, b, random)
		c.Low, c.High = &low, &high
	}
	return c
}

func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}

func median(values []float64) float64 {
	return benchmath.AssumeNothing.Summary(sample(values), confidence).Center
}

// bounds gives the interval of the median; it takes six values.
func bounds(values []float64) (low, high *float64) {
	s := benchmath.AssumeNothing.Summary(sample(values), confidence)
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		return nil, nil
	}
	return &s.Lo, &s.Hi
}

// bootstrap bounds the ratio of the medians by drawing runs again and again. Percentiles of a bootstrap over few values are
// too narrow, so they lie further out, by as much as Student's distribution is wider than the normal one (Hesterberg 2015).
func bootstrap(a, b []float64, random *rand.Rand) (low, high float64) {
	ratios := make([]float64, resamples)
	x, y := make([]float64, len(a)), make([]float64, len(b))
	for i := range ratios {
		ratios[i] = drawn(a, x, random) / drawn(b, y, random)
	}
	slices.Sort(ratios)
	tail := stats.StdNormal.CDF(-student(1-alpha/2, float64(len(a)+len(b)-2)))
	at := func(part float64) float64 {
		i := part * float64(len(ratios)-1)
		floor := int(i)
		if floor+1 >= len(ratios) {
			return ratios[len(ratios)-1]
		}
		return ratios[floor] + (i-float64(floor))*(ratios[floor+1]-ratios[floor])
	}
	return at(tail), at(1 - tail)
}

// drawn is the median of as many values drawn with replacement; into is room for them.
func drawn(from, into []float64, random *rand.Rand) float64 {
	for i := range into {
		into[i] = from[random.IntN(len(from))]
	}
	slices.Sort(into)
	half := len(into) / 2
	if len(into)%2 == 1 {
		return into[half]
	}
	return (into[half-1] + into[half]) / 2
}

// student is the quantile of Student's t distribution.
func student(part, freedom float64) float64 {
	return stats.InvCDF(stats.TDist{V: freedom})(part)
}

// correct decides over all comparisons together, after Holm, so that the chance of any false alarm stays below alpha.
func correct(all []*Comparison) {
	ordered := slices.Clone(all)
	slices.SortStableFunc(ordered, func(a, b *Comparison) int {
		switch {
		case a.P < b.P:
			return -1
		case a.P > b.P:
			return 1
		}
		return 0
	})
	before := 0.0
	for i, c := range ordered {
		c.Adjusted = min(1, max(before, c.P*float64(len(all)-i)))
		c.Different = c.Adjusted < alpha && c.Low != nil && (*c.Low > 1 || *c.High < 1)
		before = c.Adjusted
	}
}

// smallest is the least effect that values with the spread of these show in a test at level: by the two-sample t test on
// logarithms, and more since the bounds of medians see less.
func smallest(a, b []float64, level float64) *float64 {
	n, m := float64(len(a)), float64(len(b))
	if n < 2 || m < 2 || leastP(len(a), len(b)) >= level {
		return nil
	}
	const efficiency = 2 / math.Pi // of medians to means, for normal values
	freedom := n + m - 2
	pooled := math.Sqrt(((n-1)*logVariance(a) + (m-1)*logVariance(b)) / freedom)
	shift := (student(1-level/2, freedom) + student(power, freedom)) * pooled * math.Sqrt((1/n+1/m)/efficiency)
	change := math.Expm1(shift)
	return &change
}

func logVariance(values []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range values {
		mean += math.Log(v) / float64(len(values))
	}
	for _, v := range values {
		sum += (math.Log(v) - mean) * (math.Log(v) - mean)
	}
	return sum / float64(len(values)-1)
}

// leastP is the least p that so many values on each side can give: all of one side above all of the other.
func leastP(n, m int) float64 {
	ways := 1.0 // to choose n of n+m
	for i := 1; i <= n; i++ {
		ways *= float64(m+i) / float64(i)
	}
	return min(1, 2/ways)
}

// neededRuns is how many runs each cell needs so that one of several comparisons can show a difference.
func neededRuns(comparisons int) int {
	n := 1
	for leastP(n, n)*float64(comparisons) >= alpha {
		n++
	}
	return n
}
