package logs

import (
	"context"
	"sync"
	"time"
)

// totalsFor is for how long the totals count that the store gave: it has to look at all logs for them.
const totalsFor = time.Minute

// Totals is what the archive holds, by the store.
type Totals struct {
	Logs  int64
	Parts int64 // objects of the artifact store
	Bytes int64 // of text, before compression; of a log that grows, as far as its parts are full
}

// Stats tell how the archive does.
type Stats struct {
	Totals
	Live    int           // logs that are being recorded
	Waiting int           // of those, logs that wait for their turn
	Lag     time.Duration // for how long the oldest line that was read is not safe yet
}

// totals remembers the last look.
type totals struct {
	mu   sync.Mutex
	last Totals
	at   time.Time
}

func (t *totals) get(ctx context.Context, look func(context.Context) (Totals, error)) (Totals, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.at.IsZero() && time.Since(t.at) < totalsFor {
		return t.last, nil
	}
	now, err := look(ctx)
	if err == nil {
		t.last, t.at = now, time.Now()
	}
	return now, err
}

// Stats tells how the archive does. What it holds is as of a minute ago at most.
func (a *Archive) Stats(ctx context.Context) (Stats, error) {
	held, err := a.totals.get(ctx, a.c.Store.LogTotals)
	if err != nil {
		return Stats{}, err
	}
	s := Stats{Totals: held, Waiting: int(a.waiting.Load())}
	for _, r := range a.live("") {
		s.Live++
		r.mu.Lock()
		if !r.unsafe.IsZero() {
			s.Lag = max(s.Lag, time.Since(r.unsafe))
		}
		r.mu.Unlock()
	}
	return s, nil
}
