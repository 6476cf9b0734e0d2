package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/argosy-ml/argosy/server/run"
)

// launcherStarts is how old the pod of a distributed step is at most when its launcher is believed to be about to say what it
// waits for. Launchers of earlier releases never do.
const launcherStarts = 10 * time.Second

// addWaiting adds to nodes what their pods wait for, which Workflows tell late and not at all of what a program in the pod knows.
// While the pods are not known, after a start of the server, what the store says stays.
func (r *Reconciler) addWaiting(ctx context.Context, of run.Run, nodes []run.Node) error {
	var kept map[string]string
	for i := range nodes {
		n := &nodes[i]
		if n.PodName == "" || run.Final(n.Phase) {
			continue
		}
		wait, known := r.c.Logs.Waiting(of.Namespace, n.PodName)
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
		switch left := time.Until(wait.Created.Add(launcherStarts)); {
		case !known:
			wait.Why = kept[n.ID]
		case n.Job != "" && !wait.Stated && wait.Why == "" && left > 0:
			wait.Why = fmt.Sprintf("its %s is starting", n.Job)
			time.AfterFunc(left, func() { r.records.enqueue(ctx, of.ID) })
		}
		n.Waiting = cmp.Or(wait.Why, n.Waiting)
	}
	return nil
}
