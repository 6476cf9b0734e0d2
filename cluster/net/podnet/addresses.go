package podnet

import (
	"fmt"
	"net/netip"
	"sync"
)

// Addresses hands out the addresses of the subnet. An address given back is
// not used again before all others were: peers may still remember it.
type Addresses struct {
	mu   sync.Mutex
	last netip.Addr
	used map[netip.Addr]bool
}

// NewAddresses returns a pool in which only the addresses of the gateway and the node are taken.
func NewAddresses() *Addresses {
	return &Addresses{last: Node, used: map[netip.Addr]bool{Gateway: true, Node: true}}
}

// Take returns a free address.
func (p *Addresses) Take() (netip.Addr, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for a := p.last.Next(); a != p.last; a = a.Next() {
		// Skipping the last one, the broadcast address, ends the round too.
		if !Subnet.Contains(a) || !Subnet.Contains(a.Next()) {
			a = Subnet.Addr()
			continue
		}
		if !p.used[a] {
			p.used[a], p.last = true, a
			return a, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("no address left for pods in %s", Subnet)
}

// Hold takes an address that was handed out before.
func (p *Addresses) Hold(a netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used[a] = true
	if p.last.Less(a) {
		p.last = a
	}
}

// Give gives an address back.
func (p *Addresses) Give(a netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a != Gateway && a != Node {
		delete(p.used, a)
	}
}
