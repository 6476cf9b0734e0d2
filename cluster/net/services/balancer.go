package services

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// balancer chooses endpoints for one port of a Service.
type balancer struct {
	directory *Directory
	to        backing

	mu     sync.Mutex
	sticky map[netip.Addr]choice // by client
}

type choice struct {
	endpoint netip.AddrPort
	until    time.Time
}

// endpoints are those that a client's connection may go to, in the order in
// which they are to be tried.
func (b *balancer) endpoints(client netip.Addr, now time.Time) []netip.AddrPort {
	var all []netip.AddrPort
	for _, e := range b.directory.Endpoints(b.to.service) {
		if port, ok := e.Ports[b.to.port]; ok {
			all = append(all, netip.AddrPortFrom(e.Addr, port))
		}
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	b.mu.Lock()
	defer b.mu.Unlock()
	if last, ok := b.sticky[client]; ok && now.Before(last.until) {
		if i := slices.Index(all, last.endpoint); i > 0 {
			all[0], all[i] = all[i], all[0]
		}
	}
	return all
}

// chosen remembers where a client's connection went, if the Service wants that.
func (b *balancer) chosen(client netip.Addr, endpoint netip.AddrPort, now time.Time) {
	s, ok := b.directory.Service(b.to.service)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !ok || s.Affinity == 0 {
		b.sticky = nil
		return
	}
	if b.sticky == nil {
		b.sticky = map[netip.Addr]choice{}
	}
	for c, old := range b.sticky { // at most one entry for each pod
		if !now.Before(old.until) {
			delete(b.sticky, c)
		}
	}
	b.sticky[client] = choice{endpoint, now.Add(s.Affinity)}
}
