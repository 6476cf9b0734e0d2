package run

import (
	"context"
	"sync"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/listing"
)

// Bulk limits.
const (
	MaxBulk    = 1000 // runs of one request
	bulkAtOnce = 8
)

// Action is what is done with many runs at once.
type Action int

// The actions.
const (
	TerminateAll Action = iota
	DeleteAll
	DeleteWithArtifacts // what the runs left in the artifact store goes too
	ArchiveAll
	UnarchiveAll
)

// Outcomes of an action on one run.
type Outcome int

const (
	Done      Outcome = iota + 1 // in a dry run: would be done
	Unchanged                    // there was nothing to do
	Refused                      // it could not be done
)

// Result is the outcome for one run.
type Result struct {
	RunID, Name string
	Outcome     Outcome
	Message     string
}

// Selection chooses runs: those of IDs, or without any those that fit scope and filter, at most Limit.
type Selection struct {
	IDs    []string
	Scope  Scope
	Filter []listing.Predicate
	Limit  int
}

// Bulk applies an action to many runs and returns the outcome for each; more reports that further runs match. Repeating it is
// harmless. A dry run changes nothing.
func (s *Changer) Bulk(ctx context.Context, a Action, chosen Selection, dryRun bool) (results []Result, more bool, err error) {
	runs, more, err := s.choose(ctx, chosen)
	if err != nil {
		return nil, false, err
	}
	results = make([]Result, len(runs))
	slots := make(chan struct{}, bulkAtOnce)
	var work sync.WaitGroup
	for i, r := range runs {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			results[i] = s.one(ctx, a, r, dryRun)
		})
	}
	work.Wait()
	return results, more, ctx.Err()
}

// choose gives the runs that are meant; one that is not there has an id alone.
func (s *Changer) choose(ctx context.Context, chosen Selection) (runs []Run, more bool, err error) {
	if len(chosen.IDs) > MaxBulk {
		return nil, false, apierr.New(apierr.Invalid, "run_ids has %d runs; at most %d can be named at once", len(chosen.IDs), MaxBulk)
	}
	limit := chosen.Limit
	if limit <= 0 || limit > MaxBulk {
		limit = MaxBulk
	}
	if len(chosen.IDs) > 0 {
		seen := map[string]bool{}
		for _, id := range chosen.IDs {
			if seen[id] {
				continue
			}
			seen[id] = true
			r, err := s.c.Store.Run(ctx, id)
			if err != nil && apierr.KindOf(err) != apierr.NotFound {
				return nil, false, err
			}
			r.ID = id
			runs = append(runs, r)
		}
		return runs, false, nil
	}
	q := listing.Query{Size: 200, SortBy: "id", Filter: chosen.Filter}
	for {
		p, err := s.c.Store.Runs(ctx, q, chosen.Scope)
		if err != nil {
			return nil, false, err
		}
		if runs = append(runs, p.Items...); len(runs) > limit || len(runs) == limit && p.Next != nil {
			return runs[:limit], true, nil
		}
		if q.Start = p.Next; q.Start == nil {
			return runs, false, nil
		}
	}
}

// one does something with one run.
func (s *Changer) one(ctx context.Context, a Action, r Run, dryRun bool) Result {
	result := Result{RunID: r.ID, Name: r.Name, Outcome: Done}
	unchanged := func(why string) Result {
		result.Outcome, result.Message = Unchanged, why
		return result
	}
	if r.CreatedAt.IsZero() { // it is not there
		if a == DeleteAll || a == DeleteWithArtifacts {
			return unchanged("the run is not there")
		}
		result.Outcome, result.Message = Refused, "run "+r.ID+" not found"
		return result
	}
	switch {
	case a == TerminateAll && Final(r.Status):
		return unchanged("the run has ended (" + r.Status + ")")
	case a == TerminateAll && r.Status == Terminating:
		return unchanged("the run is being stopped")
	case a == ArchiveAll && r.Archived:
		return unchanged("the run is archived")
	case a == UnarchiveAll && !r.Archived:
		return unchanged("the run is not archived")
	}
	var err error
	if a == DeleteWithArtifacts {
		err = s.severable(ctx, r)
	}
	if dryRun || err != nil {
		return refusedFor(result, err)
	}
	switch a {
	case TerminateAll:
		err = s.Terminate(ctx, r.ID)
	case DeleteAll, DeleteWithArtifacts:
		if a == DeleteWithArtifacts {
			err = s.dropArtifacts(ctx, r.ID)
		}
		if err == nil {
			err = s.Delete(ctx, r.ID)
		}
		if err != nil && apierr.KindOf(err) == apierr.NotFound {
			return unchanged("the run is not there")
		}
	case ArchiveAll, UnarchiveAll:
		err = s.Archive(ctx, r.ID, a == ArchiveAll)
	}
	return refusedFor(result, err)
}

func refusedFor(result Result, err error) Result {
	if err != nil {
		result.Outcome, result.Message = Refused, err.Error()
	}
	return result
}
