package gateway

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/run"
)

// Gauges are numbers about the server's work that are read when they are asked for; each may be nil.
type Gauges struct {
	RunsByStatus  func(context.Context) (map[string]int64, error)
	OutboxSize    func(context.Context) (int64, error) // runs that were accepted and whose Workflow may not exist yet
	ReconcilerLag func() time.Duration                 // for how long the oldest change of a Workflow waits to be recorded
	Logs          func(context.Context) (logs.Stats, error)
}

// gaugeLimit bounds how long one look at the gauges may take.
const gaugeLimit = 5 * time.Second

var (
	runsDesc   = prometheus.NewDesc("argosy_runs", "Runs by status.", []string{"status"}, nil)
	outboxDesc = prometheus.NewDesc("argosy_outbox_runs", "Runs that were accepted and whose workflow may not exist yet.", nil, nil)
	logsDesc   = prometheus.NewDesc("argosy_logs", "Logs of containers that are kept.", nil, nil)
	bytesDesc  = prometheus.NewDesc("argosy_logs_bytes", "Text of logs that is kept, in bytes before compression.", nil, nil)
	partsDesc  = prometheus.NewDesc("argosy_logs_parts", "Objects of the artifact store that hold logs.", nil, nil)
	liveDesc   = prometheus.NewDesc("argosy_logs_live", "Logs that are being recorded.", nil, nil)
	turnDesc   = prometheus.NewDesc("argosy_logs_waiting", "Logs that wait for their turn to be followed.", nil, nil)
	unsafeDesc = prometheus.NewDesc("argosy_logs_lag_seconds", "For how long the oldest line that was read from a container is not in the artifact store yet.", nil, nil)
	lagDesc    = prometheus.NewDesc("argosy_reconciler_lag_seconds", "For how long the oldest change of a workflow waits to be recorded.", nil, nil)
)

// Describe implements prometheus.Collector.
func (g Gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{runsDesc, outboxDesc, lagDesc, logsDesc, bytesDesc, partsDesc, liveDesc, turnDesc, unsafeDesc} {
		to <- d
	}
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
	if g.Logs != nil {
		g.collectLogs(ctx, to)
	}
	if g.ReconcilerLag != nil {
		to <- prometheus.MustNewConstMetric(lagDesc, prometheus.GaugeValue, g.ReconcilerLag().Seconds())
	}
}

func (g Gauges) collectLogs(ctx context.Context, to chan<- prometheus.Metric) {
	s, err := g.Logs(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(logsDesc, err)
		return
	}
	for desc, value := range map[*prometheus.Desc]float64{
		logsDesc: float64(s.Logs), bytesDesc: float64(s.Bytes), partsDesc: float64(s.Parts),
		liveDesc: float64(s.Live), turnDesc: float64(s.Waiting), unsafeDesc: s.Lag.Seconds(),
	} {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
}

// statusLabel keeps labels to what there is by design.
func statusLabel(status string) string {
	switch status {
	case "":
		return "Accepted"
	case run.Pending, run.Running, run.Succeeded, run.Failed, run.Error, run.Terminating, run.Terminated:
		return status
	}
	return "other"
}
