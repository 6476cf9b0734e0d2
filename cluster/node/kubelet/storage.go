package kubelet

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

// weighEvery is how often what pods have on the disk is added up, as in Kubernetes.
const weighEvery = 10 * time.Second

// keepStorage ends pods that have more on the disk than they may, and reports when the machine runs short of disk or memory or
// does no more, until the context ends.
func (k *Kubelet) keepStorage(ctx context.Context) {
	tick := time.NewTicker(weighEvery)
	defer tick.Stop()
	last := k.nodes.Pressures(nil)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now := k.nodes.Pressures(last); !slices.EqualFunc(now, last, func(a, b corev1.NodeCondition) bool { return a.Status == b.Status }) {
			last = now
			k.nodes.ReportAll(ctx)
		}
		for _, p := range k.running() {
			if p.isEnding() {
				continue
			}
			if message := p.volumeSet().OverLimit(p.dir, p.removedFiles); message != "" {
				p.events.Event(corev1.EventTypeWarning, "Evicted", "%s", message)
				p.terminate(0, "Evicted", message)
			}
		}
	}
}

// removedFiles returns the files that were removed while processes of the pod use them.
func (p *pod) removedFiles() []shim.Nameless {
	if p.holder == nil {
		return nil
	}
	return p.holder.Nameless()
}
