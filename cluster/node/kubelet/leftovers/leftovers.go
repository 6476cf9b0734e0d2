// Package leftovers removes the files of pods that are over when there is nothing better to do.
package leftovers

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podrecord"
	"github.com/argosy-ml/argosy/cluster/node/kubelet/sandbox"
	"github.com/argosy-ml/argosy/cluster/runtime/shim"
)

// clearWithin is how long the files of a pod that is over lie about at most while others are being set up.
const clearWithin = 10 * time.Second

// Folders are the folders of ended pods that wait for removal. Removing a pod's files takes as long as creating them, so a burst of pods
// finishes sooner if removal waits for its end. The zero value must not be used.
type Folders struct {
	mu    sync.Mutex
	left  []folder // oldest first
	there chan struct{}
}

type folder struct {
	dir   string
	log   *slog.Logger
	since time.Time
}

// New returns none.
func New() *Folders { return &Folders{there: make(chan struct{}, 1)} }

// Add queues the folder of a pod whose processes have ended for removal.
func (l *Folders) Add(dir string, log *slog.Logger) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = append(l.left, folder{dir, log, time.Now()})
	select {
	case l.there <- struct{}{}:
	default:
	}
}

// next takes the oldest, if it is its time: any is when there is nothing better to do.
func (l *Folders) next(calm bool) *folder {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.left) == 0 || !calm && time.Since(l.left[0].since) < clearWithin {
		return nil
	}
	f := l.left[0]
	l.left = l.left[1:]
	return &f
}

func (l *Folders) empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.left) == 0
}

// Clear removes folders until the context ends, and then the rest. It asks whether no pod is being set up.
func (l *Folders) Clear(ctx context.Context, calm func() bool) {
	for {
		over := ctx.Err() != nil // once for all: what is left when the context ends during a look is cleared by the next
		for f := l.next(over || calm()); f != nil; f = l.next(over || calm()) {
			if err := ClearFolder(f.dir); err != nil {
				f.log.Warn("files of the pod not removed", "err", err)
			}
		}
		if over {
			return
		}
		var later <-chan time.Time
		if !l.empty() {
			later = time.After(sandbox.Calm)
		}
		select {
		case <-ctx.Done():
		case <-later:
		case <-l.there:
		}
	}
}

// ClearFolder removes everything of a pod but its logs and its record.
func ClearFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) { // it was refused
		return nil
	}
	var errs []error
	for _, e := range entries {
		if e.Name() != shim.LogFolder && e.Name() != podrecord.File {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(append(errs, err)...)
}
