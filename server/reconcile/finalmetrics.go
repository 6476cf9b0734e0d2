package reconcile

import (
	"context"
	"time"

	"github.com/argosy-ml/argosy/server/metric"
	"github.com/argosy-ml/argosy/server/run"
)

// metricsFirstLimit bounds how long the end of a run is held back for its metrics.
const metricsFirstLimit = 5 * time.Second

// metricsFirst collects the metrics of a run that has just ended before the end is published: clients poll for a final status
// and read the metrics then. The harvest retries and reports what fails here.
func (r *Reconciler) metricsFirst(ctx context.Context, of run.Run, nodes []run.Node) {
	ctx, cancel := context.WithTimeout(ctx, metricsFirstLimit)
	defer cancel()
	for _, n := range nodes {
		if !run.Final(n.Phase) {
			continue
		}
		for _, a := range n.Artifacts {
			if a.Name != metric.ArtifactName {
				continue
			}
			if err := r.harvestMetrics(ctx, of, n, a.Key); err != nil {
				r.c.Log.Debug("metrics are not there yet", "run", of.ID, "step", n.DisplayName, "error", err)
			}
		}
	}
}
