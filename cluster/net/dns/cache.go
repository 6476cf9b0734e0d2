package dns

import (
	"sync"
	"time"

	"github.com/miekg/dns"
)

// How long answers from outside are kept. Programs that wait for a name of the
// cluster ask, with every attempt, for what it would be outside of it too.
const (
	longestKept  = 30 * time.Second
	refusalKept  = 5 * time.Second
	failureKept  = 2 * time.Second // for questions without an answer: a machine without a network should not make every question wait
	cacheEntries = 1024
)

// cache holds the latest answers from outside.
type cache struct {
	mu      sync.Mutex
	entries map[dns.Question]cached
}

type cached struct {
	answer      *dns.Msg
	since, till time.Time
}

// get is a copy of the answer to a question, nil when it is to be asked for.
func (c *cache) get(q dns.Question, now time.Time) *dns.Msg {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[canonical(q)]
	if !ok || !now.Before(e.till) {
		return nil
	}
	a := e.answer.Copy()
	a.Question = []dns.Question{q}
	age := uint32(now.Sub(e.since) / time.Second)
	for _, section := range [][]dns.RR{a.Answer, a.Ns, a.Extra} {
		for _, rr := range section {
			h := rr.Header()
			h.Ttl -= min(h.Ttl, age)
		}
	}
	return a
}

// put keeps an answer for as long as it may be.
func (c *cache) put(q dns.Question, a *dns.Msg, now time.Time) {
	keep := keepFor(a)
	if keep == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[dns.Question]cached{}
	}
	if len(c.entries) >= cacheEntries {
		for old, e := range c.entries {
			if !now.Before(e.till) || len(c.entries) >= cacheEntries { // at least one goes, whichever
				delete(c.entries, old)
			}
		}
	}
	c.entries[canonical(q)] = cached{answer: a.Copy(), since: now, till: now.Add(keep)}
}

func keepFor(a *dns.Msg) time.Duration {
	switch {
	case a.Truncated:
		return 0
	case a.Rcode == dns.RcodeServerFailure:
		return failureKept
	case a.Rcode == dns.RcodeNameError, a.Rcode == dns.RcodeSuccess && len(a.Answer) == 0:
		return refusalKept
	case a.Rcode != dns.RcodeSuccess:
		return 0
	}
	keep := longestKept
	for _, rr := range a.Answer {
		keep = min(keep, time.Duration(rr.Header().Ttl)*time.Second)
	}
	return keep
}

func canonical(q dns.Question) dns.Question {
	q.Name = dns.CanonicalName(q.Name)
	return q
}
