package run

import (
	"context"

	"github.com/argosy-ml/argosy/server/listing"
)

// Mark is a reader's position in the changes of all runs: all up to Revision; within Revision, which may have changed many runs, the rows
// up to Seq, where 0 means all.
type Mark struct{ Revision, Seq int64 }

// Change says that a run is not what it was.
type Change struct {
	Mark
	RunID   string
	Removed bool
}

// Clock is the revision of the newest change and the number of the newest point. Both are comparable only within an epoch: a restored store
// begins a new epoch and counts on from the backup.
type Clock struct{ Revision, Point, Epoch int64 }

// Delta is a run as it is, with the nodes that changed after some revision.
type Delta struct {
	Run     Run
	Nodes   []Node
	Removed []string // ids of nodes that are gone
}

// Changes is the part of the store that lists changes in the order in which they became visible: a reader that has seen
// all up to a mark and asks for what came after it misses nothing.
type Changes interface {
	Now(ctx context.Context) (Clock, error)
	// Changed gives the runs that changed after a mark, at most so many, in order, and how far it looked.
	Changed(ctx context.Context, after Mark, most int) (changes []Change, seen Mark, err error)
	// Matching gives those of some runs that a list with this scope and filter shows.
	Matching(ctx context.Context, ids []string, filter []listing.Predicate, s Scope) ([]Run, error)
	// Delta gives a run and its nodes that changed after a revision, all of them after 0, and until another; 0: until now.
	Delta(ctx context.Context, id string, after, until int64) (Delta, error)
}

// KeptRemovals is the number of revisions for which the store remembers removals. A reader that is further behind must start over.
const KeptRemovals = 1 << 20
