package reconcile

import (
	"context"

	"github.com/argosy-ml/argosy/server/run"
)

// addWaiting adds to nodes what their pods wait for, which Workflows tell late and not at all of what a program in the pod knows.
// While the pods are not known, after a start of the server, what the store says stays.
func (r *Reconciler) addWaiting(ctx context.Context, of run.Run, nodes []run.Node) error {
	var kept map[string]string
	for i := range nodes {
		n := &nodes[i]
		if n.PodName == "" || ended(n.Phase) {
			continue
		}
		why, known := r.c.Logs.Waiting(of.Namespace, n.PodName)
		if !known && kept == nil {
			before, err := r.c.Store.Nodes(ctx, of.ID)
			if err != nil {
				return err
			}
			kept = make(map[string]string, len(before))
			for _, b := range before {
				kept[b.ID] = b.Waiting
			}
		}
		if !known {
			why = kept[n.ID]
		}
		if why != "" {
			n.Waiting = why
		}
	}
	return nil
}
