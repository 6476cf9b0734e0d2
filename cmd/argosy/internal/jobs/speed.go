package jobs

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/argosy-ml/argosy/sdk/client"
)

const (
	// lately is how many values at the end of a curve count, by their median, so that one slow step makes no straggler.
	lately = 10
	// slower is how much slower than the median of all workers a straggler is.
	slower = 0.1
)

// speeds are metrics that tell how fast a job is, as in the web UI.
var speeds = regexp.MustCompile(`(?i)(/|_per_)s(ec(ond)?)?$|throughput`)

// Throughput is how fast a job is.
type Throughput struct {
	Metric string `json:"metric"`
	// Value is that of one rank on average, where each prints its own.
	Value float64 `json:"value"`
	Ranks int     `json:"ranks,omitempty"` // that print their own; 0: the job prints one value for all
	// Final tells that it is the metric which the step reported in the end.
	Final bool `json:"final,omitempty"`
}

func (t *Throughput) String() string {
	switch {
	case t == nil:
		return ""
	case t.Ranks > 1:
		return fmt.Sprintf("%d x %s %s", t.Ranks, number(t.Value), t.Metric)
	}
	return number(t.Value) + " " + t.Metric
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// Speed is how fast a worker is: the value of each of its ranks lately, on average.
type Speed struct {
	Value float64 `json:"value"`
	// Deviation is against the median of all workers; -0.2 is a fifth slower.
	Deviation float64 `json:"deviation"`
	Straggler bool    `json:"straggler,omitempty"`
}

func (s *Speed) String() string {
	switch {
	case s == nil:
		return ""
	case s.Straggler:
		return fmt.Sprintf("%s (straggler %+.0f%%)", number(s.Value), s.Deviation*100)
	}
	return number(s.Value)
}

// curves are those of the metric that tells how fast the job of a node is: the one that most ranks print.
func curves(ctx context.Context, cl *client.Client, runID, nodeID string) ([]client.Series, error) {
	all, err := cl.Series.List(ctx, runID)
	if err != nil {
		return nil, err
	}
	ranks := map[string]int{}
	best := ""
	for _, s := range all {
		if s.NodeID != nodeID || !speeds.MatchString(s.Name) {
			continue
		}
		ranks[s.Name]++
		if best == "" || ranks[s.Name] > ranks[best] {
			best = s.Name
		}
	}
	if best == "" {
		return nil, nil
	}
	found, err := cl.Series.Get(ctx, runID, best, client.SeriesOptions{})
	return slices.DeleteFunc(found, func(s client.Series) bool { return s.NodeID != nodeID }), err
}

// throughput sums up curves; nil where they have no values.
func throughput(curves []client.Series) *Throughput {
	var sum float64
	t := &Throughput{}
	for _, c := range curves {
		if v, ok := recent(c); ok {
			t.Metric, sum = c.Name, sum+v
			t.Ranks++
		}
	}
	if t.Ranks == 0 {
		return nil
	}
	t.Value = sum / float64(t.Ranks)
	if t.Ranks == 1 {
		t.Ranks = 0
	}
	return t
}

// reported is the throughput that a step which has ended reported as a metric.
func reported(r *client.Run, nodeID string) *Throughput {
	for _, m := range r.Metrics {
		if m.NodeID == nodeID && speeds.MatchString(m.Name) {
			return &Throughput{Metric: m.Name, Value: m.Value, Final: true}
		}
	}
	return nil
}

// recent is the median of the last values of a curve.
func recent(c client.Series) (float64, bool) {
	var values []float64
	for _, p := range c.Points {
		if p.Value != nil {
			values = append(values, *p.Value)
		}
	}
	return median(values[max(0, len(values)-lately):])
}

func median(values []float64) (float64, bool) {
	if len(values) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle], true
	}
	return (sorted[middle-1] + sorted[middle]) / 2, true
}

// speedsOf gives the speed of each worker by the name of its pod. Those whose ranks print nothing are left out.
func speedsOf(workers []client.Worker, curves []client.Series) map[string]*Speed {
	found := map[string]*Speed{}
	var all []float64
	for _, w := range workers {
		if w.FirstRank == nil || w.LastRank == nil {
			continue
		}
		var sum float64
		n := 0
		for _, c := range curves {
			if v, ok := recent(c); ok && *w.FirstRank <= c.Rank && c.Rank <= *w.LastRank {
				sum += v
				n++
			}
		}
		if n > 0 {
			found[w.Pod] = &Speed{Value: sum / float64(n)}
			all = append(all, sum/float64(n))
		}
	}
	middle, _ := median(all)
	for _, s := range found {
		if middle != 0 {
			s.Deviation = s.Value/middle - 1
		}
		s.Straggler = len(found) > 1 && s.Deviation < -slower
	}
	return found
}
