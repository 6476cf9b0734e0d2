package process

import (
	"time"

	"github.com/argosy-ml/argosy/cluster/runtime/podlog"
)

// Restarts after a crash: the first at once, the second after FirstBackoff, then twice as long each time.
const (
	FirstBackoff = 10 * time.Second
	LastBackoff  = 5 * time.Minute
	healthyAfter = 10 * time.Minute // running this long resets the back-off
)

// NextBackoff is how long is waited after a wait of that length.
func NextBackoff(d time.Duration) time.Duration { return min(max(2*d, FirstBackoff), LastBackoff) }

// BackoffBefore is how long is waited after a life, from what came before it.
func BackoffBefore(life podlog.Life) time.Duration {
	backoff := time.Duration(0)
	for n := range life.Number {
		if e, err := (podlog.Life{Folder: life.Folder, Number: n}).ReadExit(); err == nil && WasHealthy(e.Started, e.Finished) {
			backoff = 0
		}
		backoff = NextBackoff(backoff)
	}
	return backoff
}

// WasHealthy says whether a life was a good one; one whose command never ran was not.
func WasHealthy(started, finished time.Time) bool {
	return !started.IsZero() && finished.Sub(started) > healthyAfter
}
