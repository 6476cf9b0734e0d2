package gateway

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/argosy-ml/argosy/server/run"
)

// Gauges are numbers about the server's work that are read when they are asked for; each may be nil.
type Gauges struct {
	RunsByStatus  func(context.Context) (map[string]int64, error)
	OutboxSize    func(context.Context) (int64, error) // runs that were accepted and whose Workflow may not exist yet
	ReconcilerLag func() time.Duration                 // for how long the oldest change of a Workflow waits to be recorded
}

// gaugeLimit bounds how long one look at the gauges may take.
const gaugeLimit = 5 * time.Second

var (
	runsDesc   = prometheus.NewDesc("argosy_runs", "Runs by status.", []string{"status"}, nil)
	outboxDesc = prometheus.NewDesc("argosy_outbox_runs", "Runs that were accepted and whose workflow may not exist yet.", nil, nil)
	lagDesc    = prometheus.NewDesc("argosy_reconciler_lag_seconds", "For how long the oldest change of a workflow waits to be recorded.", nil, nil)
)

// Describe implements prometheus.Collector.
func (g Gauges) Describe(to chan<- *prometheus.Desc) {
	to <- runsDesc
	to <- outboxDesc
	to <- lagDesc
}

// Collect implements prometheus.Collector.
func (g Gauges) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), gaugeLimit)
	defer cancel()
	if g.RunsByStatus != nil {
		counts, err := g.RunsByStatus(ctx)
		if err != nil {
			to <- prometheus.NewInvalidMetric(runsDesc, err)
		}
		byStatus := map[string]int64{}
		for status, n := range counts {
			byStatus[statusLabel(status)] += n
		}
		for status, n := range byStatus {
			to <- prometheus.MustNewConstMetric(runsDesc, prometheus.GaugeValue, float64(n), status)
		}
	}
	if g.OutboxSize != nil {
		n, err := g.OutboxSize(ctx)
		if err != nil {
			to <- prometheus.NewInvalidMetric(outboxDesc, err)
		} else {
			to <- prometheus.MustNewConstMetric(outboxDesc, prometheus.GaugeValue, float64(n))
		}
	}
	if g.ReconcilerLag != nil {
		to <- prometheus.MustNewConstMetric(lagDesc, prometheus.GaugeValue, g.ReconcilerLag().Seconds())
	}
}

// statusLabel keeps labels to what there is by design.
func statusLabel(status string) string {
	switch status {
	case "":
		return "Accepted"
	case run.Pending, run.Running, run.Succeeded, run.Failed, run.Error, run.Terminating:
		return status
	}
	return "other"
}
