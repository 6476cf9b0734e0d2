package podnet

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Host is an address with the names it is known by.
type Host struct {
	Addr  netip.Addr
	Names []string
}

// Pod is what a pod's names come from.
type Pod struct {
	Name, Namespace     string
	Hostname, Subdomain string // from its spec; may be empty
	Addr                netip.Addr
}

// Host returns the names under which other pods of its namespace find the pod:
// its own name and, as cluster DNS would have it for a pod with a host name and
// a subdomain, `hostname.subdomain` in all its lengths.
func (p Pod) Host() Host {
	names := []string{p.Name}
	if p.Subdomain != "" {
		hostname := p.Hostname
		if hostname == "" {
			hostname = p.Name
		}
		base := hostname + "." + p.Subdomain
		ns := base + "." + p.Namespace
		names = []string{ns + ".svc.cluster.local", ns + ".svc", ns, base, hostname}
		if hostname != p.Name {
			names = append(names, p.Name)
		}
	}
	return Host{Addr: p.Addr, Names: names}
}

// ServiceHost returns the gateway under the names of a service relayed there.
func ServiceHost(name, namespace string) Host {
	base := name + "." + namespace
	return Host{Addr: Gateway, Names: []string{base + ".svc.cluster.local", base + ".svc", base}}
}

// RenderHosts writes a hosts file. The reader's own entry comes first, so that
// a look-up of its address finds its own name.
func RenderHosts(own Host, others []Host) []byte {
	var b bytes.Buffer
	b.WriteString("127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n")
	line := func(h Host) {
		if h.Addr.IsValid() && len(h.Names) > 0 {
			fmt.Fprintf(&b, "%s %s\n", h.Addr, strings.Join(h.Names, " "))
		}
	}
	line(own)
	others = slices.Clone(others)
	slices.SortStableFunc(others, func(a, b Host) int { return a.Addr.Compare(b.Addr) })
	for _, h := range others {
		line(h)
	}
	return b.Bytes()
}
