package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/logs"
	"github.com/argosy-ml/argosy/server/metric"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/series"
	"github.com/argosy-ml/argosy/server/uimetadata"
)

const (
	// nodesAtOnce bounds how many steps of one run are harvested at once.
	nodesAtOnce = 4
	// logTimeout bounds how long the rest of an ended step's log is waited for.
	logTimeout = 2 * time.Minute
	// maxAttempts is after how many failures in a row a step's log or metrics are given up. A cluster or an artifact
	// store that does not answer does not count: it is waited for.
	maxAttempts = 5
)

// harvest brings in logs and metrics of the steps of a run that ended, and settles the run once it has ended.
func (r *Reconciler) harvest(ctx context.Context, id string, attempt int) error {
	current, err := r.c.Store.Run(ctx, id) // before its nodes: if it is final here, they are final too
	if err != nil {
		return ignoreMissing(err)
	}
	if current.Settled {
		return nil
	}
	nodes, err := r.c.Store.Nodes(ctx, id)
	if err != nil {
		return ignoreMissing(err)
	}
	outputs := sync.OnceValues(func() (map[string][]byte, error) { // only steps that are to be kept need it
		workflow, err := r.c.Store.Workflow(ctx, id)
		if err != nil {
			return nil, err
		}
		return r.c.Cluster.Outputs(workflow)
	})
	var g errgroup.Group
	g.SetLimit(nodesAtOnce)
	failures := make([]error, len(nodes))
	for i, n := range nodes {
		if n.Type != typePod || !run.Final(n.Phase) || n.Harvested {
			continue
		}
		g.Go(func() error {
			failures[i] = ignoreMissing(r.harvestNode(ctx, current, n, attempt, outputs))
			return nil
		})
	}
	_ = g.Wait() // each failure is kept on its own
	if err := errors.Join(failures...); err != nil || !run.Final(current.Status) {
		return err
	}
	if err := r.c.Cluster.MarkPersisted(ctx, current.Namespace, current.Workflow); err != nil {
		return err
	}
	if err := r.c.Store.Settle(ctx, id); err != nil {
		return ignoreMissing(err)
	}
	r.c.Feed.Publish(id)
	return nil
}

// typePod is the type of nodes that leave something: those that run a container, or took from the cache what one left.
const typePod = "Pod"

// harvestNode brings in what one step left. Doing it again is harmless: metrics keep their first value, the log is written again.
func (r *Reconciler) harvestNode(ctx context.Context, of run.Run, n run.Node, attempt int, outputs func() (map[string][]byte, error)) error {
	for _, a := range n.Artifacts {
		var err error
		switch a.Name {
		case metric.ArtifactName:
			err = r.tolerate(ctx, of, n, attempt, "metrics file", r.harvestMetrics(ctx, of, n, a.Key))
		case uimetadata.ArtifactName:
			err = r.tolerate(ctx, of, n, attempt, "UI metadata", r.harvestVisuals(ctx, of, n, a.Key))
		}
		if err != nil {
			return err
		}
	}
	key, err := r.harvestLog(ctx, of, n)
	if err := r.tolerate(ctx, of, n, attempt, "log", err); err != nil {
		return err
	}
	if err := r.tolerate(ctx, of, n, attempt, "cache entry", r.keep(ctx, of, n, outputs)); err != nil {
		return err
	}
	if key == "" {
		key = n.LogKey // an earlier harvest's
	}
	if err := r.tolerate(ctx, of, n, attempt, "curve", r.harvestCurves(ctx, of, n, key)); err != nil {
		return err
	}
	sizes, err := r.sizes(ctx, n)
	if err != nil {
		return err
	}
	if err := r.c.Store.SetHarvested(ctx, of.ID, n.ID, key, sizes); err != nil {
		return err
	}
	r.c.Feed.Publish(of.ID)
	return nil
}

// sizes measures what a step left, by key. It omits what is gone or cannot be measured, as nothing depends on it; it waits for a store that
// does not answer.
func (r *Reconciler) sizes(ctx context.Context, n run.Node) (map[string]int64, error) {
	sizes := map[string]int64{}
	for _, a := range n.Artifacts {
		size, err := r.c.Artifacts.Size(ctx, a.Key)
		switch {
		case err == nil:
			sizes[a.Key] = size
		case ctx.Err() != nil, apierr.KindOf(err) == apierr.Unavailable:
			return nil, err
		}
	}
	return sizes, nil
}

// tolerate turns what trying again would not help into a warning on the run.
func (r *Reconciler) tolerate(ctx context.Context, of run.Run, n run.Node, attempt int, what string, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	switch apierr.KindOf(err) {
	case apierr.NotFound, apierr.Invalid:
	case apierr.Unavailable:
		return err
	default:
		if attempt < maxAttempts {
			return err
		}
	}
	r.c.Log.Warn("given up", "what", what, "run", of.ID, "step", n.DisplayName, "error", err, "cause", errors.Unwrap(err))
	return r.c.Store.AddWarning(ctx, of.ID, fmt.Sprintf("step %s: its %s is lost: %s", n.DisplayName, what, err))
}

func (r *Reconciler) harvestMetrics(ctx context.Context, of run.Run, n run.Node, key string) error {
	file, err := r.c.Artifacts.Get(ctx, key)
	if err != nil {
		return err
	}
	defer file.Close()
	ms, warnings := metric.Read(file)
	for i := range ms {
		ms[i].NodeID = n.ID
	}
	duplicates, err := r.c.Store.AddMetrics(ctx, of.ID, ms)
	if err != nil {
		return err
	}
	if len(duplicates) < len(ms) { // otherwise this is the file's second harvest, and its duplicates are known
		for _, d := range duplicates {
			warnings = append(warnings, fmt.Sprintf("metric %q was reported before; the first value stays", d.Name))
		}
	}
	return r.warn(ctx, of, n, warnings)
}

// harvestCurves brings in the values that a step printed and that were not seen while it ran.
func (r *Reconciler) harvestCurves(ctx context.Context, of run.Run, n run.Node, key string) error {
	if len(n.Scrape) == 0 || key == "" {
		return nil
	}
	return series.Complete(ctx, r.c.Store, r.c.Feed, of.ID, n, func(from int64) (logs.Lines, error) {
		d, err := r.c.Logs.Open(ctx, logs.Query{RunID: of.ID, NodeID: n.ID, Pod: n.PodName, Container: logs.Main, From: from})
		if err != nil {
			return nil, err // not d: a nil *reader in an interface is not nil
		}
		return d, nil
	})
}

// harvestVisuals keeps the UI metadata of a step and records what in it cannot be drawn. The artifact itself stays where it is.
func (r *Reconciler) harvestVisuals(ctx context.Context, of run.Run, n run.Node, key string) error {
	file, err := r.c.Artifacts.Get(ctx, key)
	if err != nil {
		return err
	}
	defer file.Close()
	var visuals []run.Visual
	var warnings []string
	for _, e := range uimetadata.Read(file) {
		visuals = append(visuals, run.Visual{NodeID: n.ID, Number: e.Number, Type: e.Output.Type, Problem: e.Problem, Body: e.Body()})
		if warning := e.Warning(); warning != "" {
			warnings = append(warnings, warning)
		}
	}
	if err := r.c.Store.PutVisuals(ctx, of.ID, n.ID, visuals); err != nil {
		return err
	}
	return r.warn(ctx, of, n, warnings)
}

func (r *Reconciler) warn(ctx context.Context, of run.Run, n run.Node, warnings []string) error {
	for _, w := range warnings {
		if err := r.c.Store.AddWarning(ctx, of.ID, fmt.Sprintf("step %s: %s", n.DisplayName, w)); err != nil {
			return err
		}
	}
	return nil
}

// harvestLog waits until the archive has what a step printed, and gives the key of its log; a step whose container never
// ran has none. Once it has waited in vain, it waits no longer than the archive itself does.
func (r *Reconciler) harvestLog(ctx context.Context, of run.Run, n run.Node) (key string, err error) {
	switch {
	case n.PodName == "":
		return "", nil
	case n.CachedFrom != nil:
		return r.copyLog(ctx, of, n)
	}
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	return r.c.Logs.Finish(ctx, logs.Step{RunID: of.ID, NodeID: n.ID, Namespace: of.Namespace, Pod: n.PodName, Attempt: of.Attempt})
}
