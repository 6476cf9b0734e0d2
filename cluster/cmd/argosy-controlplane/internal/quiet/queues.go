package quiet

import (
	_ "unsafe" // for go:linkname

	"k8s.io/client-go/util/workqueue"
)

// Each of the some seventy work queues of Kubernetes' controllers would wake up twice a second to tell a metric how long its work takes.
// These metrics have no reader, and only this switches them off: the first provider that is set stays. The one that
// measures nothing has no name outside, so it is taken from where it stands.
func init() { workqueue.SetProvider(noMetrics) }

//go:linkname noMetrics k8s.io/client-go/util/workqueue.globalMetricsProvider
var noMetrics workqueue.MetricsProvider
