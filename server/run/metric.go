package run

import (
	"context"
	"math"
	"regexp"

	"github.com/argosy-ml/argosy/server/apierr"
)

// Results of reporting a metric (KFP v1).
const (
	ReportOK        = "OK"
	ReportInvalid   = "INVALID_ARGUMENT"
	ReportDuplicate = "DUPLICATE_REPORTING"
)

// Report is the outcome for one reported metric.
type Report struct {
	Metric  Metric
	Status  string // ReportOK, ...
	Message string
}

// maxNodeID is the longest id of a node that may report (KFP v1).
const maxNodeID = 128

// metricName is KFP's rule widened by what units are written with, as in images/sec.
var metricName = regexp.MustCompile(`^[a-zA-Z]([-_./%a-zA-Z0-9]{0,62}[%a-zA-Z0-9])?$`)

// ReportMetrics stores metrics that a client reports; each is judged by itself, and the first value of a (node, name) stays.
func (s *Changer) ReportMetrics(ctx context.Context, id string, ms []Metric) ([]Report, error) {
	if _, err := s.c.Store.Run(ctx, id); err != nil {
		return nil, err
	}
	reports, good := make([]Report, len(ms)), []Metric(nil)
	for i, m := range ms {
		reports[i] = Report{Metric: m, Status: ReportOK}
		if err := checkMetric(m); err != nil {
			reports[i].Status, reports[i].Message = ReportInvalid, err.Error()
			continue
		}
		good = append(good, m)
	}
	duplicates, err := s.c.Store.AddMetrics(ctx, id, good)
	if err != nil {
		return nil, err
	}
	markDuplicates(reports, duplicates)
	s.c.Feed.Publish(id)
	return reports, nil
}

// markDuplicates marks, per key, the last reports of it: the first in a request is the one that was stored, if any was.
func markDuplicates(reports []Report, duplicates []Metric) {
	type key struct{ node, name string }
	count := map[key]int{}
	for _, d := range duplicates {
		count[key{d.NodeID, d.Name}]++
	}
	for i := len(reports) - 1; i >= 0; i-- {
		r := &reports[i]
		k := key{r.Metric.NodeID, r.Metric.Name}
		if r.Status == ReportOK && count[k] > 0 {
			count[k]--
			r.Status, r.Message = ReportDuplicate, "this step has reported this metric before; the first value stays"
		}
	}
}

func checkMetric(m Metric) error {
	switch {
	case !metricName.MatchString(m.Name):
		return apierr.New(apierr.Invalid, "metric name %q must match %s", m.Name, metricName)
	case m.NodeID == "":
		return apierr.New(apierr.Invalid, "metric %q names no node", m.Name)
	case len(m.NodeID) > maxNodeID:
		return apierr.New(apierr.Invalid, "the node id of metric %q is longer than %d characters", m.Name, maxNodeID)
	case math.IsNaN(m.Value) || math.IsInf(m.Value, 0):
		return apierr.New(apierr.Invalid, "metric %q is not a finite number", m.Name)
	}
	return nil
}
