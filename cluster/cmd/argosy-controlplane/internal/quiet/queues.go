package quiet

import (
	_ "unsafe" // for go:linkname

	"k8s.io/client-go/util/workqueue"
)

// Each of the some seventy work queues of Kubernetes' controllers would wake up twice a second to tell a metric how long its work takes.
// There is no reader of these metrics, and no switch but this: the first provider of metrics that is set stays. The one that
// measures nothing has no name outside, so it is taken from where it stands.
func init() { workqueue.SetProvider(noMetrics) }

//go:linkname noMetrics k8s.io/client-go/util/workqueue.globalMetricsProvider
var noMetrics workqueue.MetricsProvider
