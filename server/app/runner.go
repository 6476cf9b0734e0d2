package app

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/argosy-ml/argosy/server/apierr"
)

// Time that one attempt to set up the service account of runs may take, and the longest pause between two.
const (
	runnerTimeout = 10 * time.Second
	runnerPause   = 30 * time.Second
)

// ensureRunner sets up, in the cluster, the service account that runs work under. A server without the rights to do so
// goes on with a warning: the installer may have done it already.
func (a *App) ensureRunner(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, runnerTimeout)
	defer cancel()
	err := a.setUpRunner(ctx)
	if err == nil || apierr.KindOf(err) == apierr.Unavailable {
		return err
	}
	a.config.Log.WarnContext(ctx, "cannot set up the service account of runs; if runs fail because they lack rights, apply manifests/base", "error", err)
	return nil
}

// keepTrying repeats ensureRunner until the cluster answers or ctx ends.
func (a *App) keepTrying(ctx context.Context) error {
	pause := backoff.NewExponentialBackOff()
	pause.MaxInterval = runnerPause
	_, _ = backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, a.ensureRunner(ctx) }, backoff.WithBackOff(pause), backoff.WithMaxElapsedTime(0))
	return nil
}
