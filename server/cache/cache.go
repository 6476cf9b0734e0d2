// Package cache reuses outputs of steps: a step equal to an earlier one takes its outputs and does not run (KFP v1). An entry is valid only
// while its run and the artifacts that it names exist.
package cache

import (
	"context"
	"time"
)

// Entry is what a step left that succeeded.
type Entry struct {
	Key           string // of all that the step was given; see engine.Prepare
	Family        string // of its template alone: only a step of the same family can have the same key
	RunID, NodeID string
	FinishedAt    time.Time
	Outputs       []byte   // Argo's, JSON
	Artifacts     []string // their keys in the artifact store
}

// Step is one that waits to hear whether it must run.
type Step struct {
	RunID, NodeID  string
	Namespace, Pod string
	Key            string // empty: it must run, whatever ran before
	Staleness      string // how old what it takes may be, as in the manifest; see MaxAge
}

// Store keeps entries. Errors are *apierr.Error.
type Store interface {
	// CachedFamilies gives those of the families that have entries.
	CachedFamilies(ctx context.Context, families []string) ([]string, error)
	// CacheEntries gives the newest entries of a key that are not older than since (zero: of any age), newest first.
	CacheEntries(ctx context.Context, key string, since time.Time) ([]Entry, error)
	// PutCacheEntry keeps an entry as long as its run; a run that is not there is NotFound.
	PutCacheEntry(ctx context.Context, e Entry) error
	// DropCacheEntry has an entry count no more.
	DropCacheEntry(ctx context.Context, runID, nodeID string) error
	// Reuse notes that a step takes what an entry holds; NotFound when the entry counts no more, or the run is gone.
	Reuse(ctx context.Context, runID, nodeID string, e Entry) error
	// ForgetReuse notes that a step runs after all.
	ForgetReuse(ctx context.Context, runID, nodeID string) error
}
