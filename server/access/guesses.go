package access

import (
	"crypto/sha256"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits of wrong passwords: some at once, as people mistype, then few.
const (
	guessesAtOnce    = 10 // from one source
	guessAgain       = 10 * time.Second
	allGuessesAtOnce = 100 // from all sources together
	anyGuessAgain    = time.Second
	maxSources       = 4096 // that are remembered
)

// guesses limits how fast passwords can be tried. A source that has tried none has nothing to wait for, whatever others do: the
// server's users cannot be locked out from elsewhere.
type guesses struct {
	mu   sync.Mutex
	all  *rate.Limiter
	from map[string]*source
}

// source is where wrong passwords came from.
type source struct {
	limit *rate.Limiter
	last  [sha256.Size]byte
}

func newGuesses() *guesses {
	return &guesses{all: rate.NewLimiter(rate.Every(anyGuessAgain), allGuessesAtOnce), from: map[string]*source{}}
}

// wait says how long a source has to wait before its next try, right or wrong.
func (g *guesses) wait(from string) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.from[from]
	if s == nil {
		return 0
	}
	now := time.Now()
	return max(until(s.limit, now), until(g.all, now))
}

// failed counts a wrong password, and says whether it did. The same one again tells its sender nothing new and does not count: a
// program that still has an old password does not lock out others of its machine.
func (g *guesses) failed(from, authorization string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, guess := time.Now(), sha256.Sum256([]byte(authorization))
	s := g.from[from]
	if s == nil {
		g.makeRoom(now)
		s = &source{limit: rate.NewLimiter(rate.Every(guessAgain), guessesAtOnce)}
		g.from[from] = s
	} else if s.last == guess {
		return false
	}
	s.last = guess
	s.limit.AllowN(now, 1)
	g.all.AllowN(now, 1)
	return true
}

// makeRoom forgets the sources that may try as often as new ones, and others when these are too few.
func (g *guesses) makeRoom(now time.Time) {
	if len(g.from) < maxSources {
		return
	}
	for from, s := range g.from {
		if s.limit.TokensAt(now) >= guessesAtOnce {
			delete(g.from, from)
		}
	}
	for from := range g.from {
		if len(g.from) < maxSources*3/4 {
			return
		}
		delete(g.from, from)
	}
}

// until says when a limiter allows the next event.
func until(l *rate.Limiter, now time.Time) time.Duration {
	missing := 1 - l.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return time.Duration(missing / float64(l.Limit()) * float64(time.Second))
}
