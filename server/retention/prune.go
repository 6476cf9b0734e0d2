package retention

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/run"
)

// batch is how many runs are read at once: to find the newest of each experiment takes a look at all runs.
const batch = 5000

// Cut is a Rule at one moment: what ended before Before, or stands after place Newest in its experiment, goes.
type Cut struct {
	Before time.Time // zero: nothing is too old
	Newest int64
}

// Candidate is a run that retention may remove in part or whole.
type Candidate struct {
	ID                      string
	FinishedAt              time.Time
	Place                   int64 // among the runs of its experiment that are not archived; the newest is 1; 0 when no cut asks for it
	ArtifactsGone, LogsGone bool
}

// Store finds runs.
type Store interface {
	// Prunable gives, in order of their end, settled runs that are not archived and have something that lies beyond one of
	// the cuts: at most limit of them, after the one given.
	Prunable(ctx context.Context, runs, artifacts, logs Cut, after Candidate, limit int) ([]Candidate, error)
}

// Pruner removes what a policy does not keep.
type Pruner struct {
	Store  Store
	Runs   *run.Changer
	Policy Policy // of the server
	Log    *slog.Logger
	Every  time.Duration    // how often Run prunes, the first time that long after its start; 0: every hour
	Now    func() time.Time // nil: time.Now
}

// Prune removes what the policy does not keep, and reports each run. With dry it only reports. It can be interrupted at any moment and
// repeated.
func (p *Pruner) Prune(ctx context.Context, policy Policy, dry bool, tell func(run.Pruned)) error {
	now := time.Now
	if p.Now != nil {
		now = p.Now
	}
	return p.pruneAt(ctx, policy, now(), dry, tell)
}

func (p *Pruner) pruneAt(ctx context.Context, policy Policy, now time.Time, dry bool, tell func(run.Pruned)) error {
	runs, artifacts, logs := policy.Runs.cut(now), policy.Artifacts.cut(now), policy.Logs.cut(now)
	var last Candidate
	for {
		found, err := p.Store.Prunable(ctx, runs, artifacts, logs, last, batch)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, c := range found {
			last = c
			parts := run.Parts{Run: runs.beyond(c), Artifacts: artifacts.beyond(c) && !c.ArtifactsGone, Logs: logs.beyond(c) && !c.LogsGone}
			pruned, err := p.Runs.Prune(ctx, c.ID, parts, policy.String(), dry)
			if err != nil && apierr.KindOf(err) == apierr.NotFound {
				continue // another client deleted it
			}
			if err != nil {
				return err
			}
			tell(pruned)
		}
	}
}

func (r Rule) cut(now time.Time) Cut {
	c := Cut{Newest: math.MaxInt64}
	if r.Age > 0 {
		c.Before = now.Add(-r.Age)
	}
	if r.Newest > 0 {
		c.Newest = r.Newest
	}
	return c
}

func (c Cut) beyond(r Candidate) bool { return r.FinishedAt.Before(c.Before) || r.Place > c.Newest }

// Run prunes now and then by the server's policy, until ctx ends.
func (p *Pruner) Run(ctx context.Context) error {
	if p.Policy == (Policy{}) {
		<-ctx.Done()
		return nil
	}
	ticker := time.NewTicker(cmp.Or(p.Every, time.Hour))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		runs, bytes := 0, int64(0)
		err := p.Prune(ctx, p.Policy, false, func(pruned run.Pruned) {
			runs++
			bytes += pruned.Bytes()
		})
		if err != nil && ctx.Err() == nil {
			p.Log.Error("retention was broken off; it goes on the next time", "error", err)
		}
		if runs > 0 {
			p.Log.Info("retention", "policy", p.Policy.String(), "runs", runs, "bytes", bytes)
		}
	}
}
