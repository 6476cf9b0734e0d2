package dns

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"github.com/argosy-ml/argosy/cluster/net/services"
)

// The zone and its records follow the specification "Kubernetes DNS-Based
// Service Discovery", version 1.1.0.
const (
	zone = "cluster.local."
	// shortZone is what the ends of names like job-worker-0.job.ns.svc look like when no search list is added. There is no
	// such domain, and asking for it outside only takes time.
	shortZone     = "svc."
	schemaVersion = "1.1.0"
	// ttl is how long an answer may be kept, in seconds: as short as CoreDNS has it.
	ttl = 5
)

// records answers for the cluster's own names.
type records struct {
	directory *services.Directory
	pods      netip.Prefix // addresses that have a name as pods
	services  netip.Prefix // and as Services
}

// answer is what a name stands for. A name that exists has a code of success, records of the wanted type or not.
type answer struct {
	code   int
	rrs    []dns.RR
	extra  []dns.RR
	follow string // a name outside the zone, whose addresses belong to the answer
}

var (
	nothing = answer{code: dns.RcodeNameError}
	empty   = answer{code: dns.RcodeSuccess}
)

// owns says whether a name, in lower case and with its last dot, is for the cluster to answer.
func (r *records) owns(name string) bool {
	if dns.IsSubDomain(zone, name) || dns.IsSubDomain(shortZone, name) {
		return true
	}
	a, ok := reverse(name)
	return ok && (r.pods.Contains(a) || r.services.Contains(a))
}

// lookup answers for a name that is owned.
func (r *records) lookup(name string, kind uint16) answer {
	if dns.IsSubDomain(shortZone, name) {
		return nothing
	}
	if !dns.IsSubDomain(zone, name) {
		return r.lookupAddress(name, kind)
	}
	labels := dns.SplitDomainName(strings.TrimSuffix(strings.TrimSuffix(name, zone), "."))
	n := len(labels)
	switch {
	case n == 0:
		if kind == dns.TypeSOA {
			return answer{rrs: []dns.RR{soa()}}
		}
		return empty
	case n == 1 && labels[0] == "dns-version":
		if kind == dns.TypeTXT {
			return answer{rrs: []dns.RR{&dns.TXT{Hdr: header(name, dns.TypeTXT), Txt: []string{schemaVersion}}}}
		}
		return empty
	case labels[n-1] == "svc":
		return r.lookupService(name, kind, labels[:n-1])
	case labels[n-1] == "pod":
		return r.lookupPod(name, kind, labels[:n-1])
	}
	return nothing
}

// lookupService answers for names in svc: [[_port._protocol.|endpoint.]service.]namespace.
func (r *records) lookupService(name string, kind uint16, labels []string) answer {
	n := len(labels)
	switch {
	case n == 0, n == 1 && r.directory.HasNamespace(labels[0]):
		return empty // names below it exist
	case n == 1:
		return nothing
	}
	s, ok := r.directory.Service(services.Key{Namespace: labels[n-1], Name: labels[n-2]})
	if !ok {
		return nothing
	}
	base := labels[n-2] + "." + labels[n-1] + ".svc." + zone
	switch {
	case s.ExternalName != "" && n == 2:
		target := dns.Fqdn(strings.ToLower(s.ExternalName))
		return answer{rrs: []dns.RR{&dns.CNAME{Hdr: header(name, dns.TypeCNAME), Target: target}}, follow: target}
	case s.ExternalName != "":
		return nothing
	case n == 2 && kind == dns.TypeSRV:
		return r.ports(name, base, s, "", "")
	case n == 2 && s.Headless():
		endpoints := r.directory.Endpoints(s.Key)
		if len(endpoints) == 0 {
			return nothing // as CoreDNS has it: a program that waits for a peer would take an empty answer for the end of the search
		}
		return answer{rrs: addresses(name, kind, endpoints)}
	case n == 2:
		return answer{rrs: address(name, kind, s.ClusterIP)}
	case n == 4 && strings.HasPrefix(labels[0], "_") && strings.HasPrefix(labels[1], "_"):
		a := r.ports(name, base, s, labels[0][1:], labels[1][1:])
		if kind != dns.TypeSRV {
			a.rrs, a.extra = nil, nil
		}
		return a
	case n == 3 && s.Headless():
		return r.lookupEndpoint(name, kind, s.Key, labels[0])
	}
	return nothing
}

func (r *records) lookupEndpoint(name string, kind uint16, k services.Key, label string) answer {
	var found []services.Endpoint
	for _, e := range r.directory.Endpoints(k) {
		if endpointName(e) == label {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return nothing
	}
	return answer{rrs: addresses(name, kind, found)}
}

// ports answers with the ports of a Service: all of them, or those with a name and protocol.
func (r *records) ports(name, base string, s services.Service, port, protocol string) answer {
	var a answer
	for _, p := range s.Ports {
		if port != "" && (!strings.EqualFold(p.Name, port) || !strings.EqualFold(string(p.Protocol), protocol)) {
			continue
		}
		if !s.Headless() {
			a.rrs = append(a.rrs, srv(name, base, p.Port))
			a.extra = append(a.extra, address(base, dns.TypeA, s.ClusterIP)...)
			continue
		}
		for _, e := range r.directory.Endpoints(s.Key) {
			if number, ok := e.Ports[services.PortKey{Name: p.Name, Protocol: p.Protocol}]; ok {
				target := endpointName(e) + "." + base
				a.rrs = append(a.rrs, srv(name, target, number))
				a.extra = append(a.extra, address(target, dns.TypeA, e.Addr)...)
			}
		}
	}
	if len(a.rrs) == 0 {
		return nothing
	}
	return a
}

// lookupPod answers for 1-2-3-4.namespace.pod. Like CoreDNS by default it does
// not look whether there is such a pod.
func (r *records) lookupPod(name string, kind uint16, labels []string) answer {
	switch len(labels) {
	case 0, 1:
		return empty
	case 2:
		if a, err := netip.ParseAddr(strings.ReplaceAll(labels[0], "-", ".")); err == nil && r.pods.Contains(a) {
			return answer{rrs: address(name, kind, a)}
		}
	}
	return nothing
}

// lookupAddress answers with the names that an address has.
func (r *records) lookupAddress(name string, kind uint16) answer {
	a, ok := reverse(name)
	if !ok {
		return nothing
	}
	var names []string
	if k, ok := r.directory.At(a); ok {
		names = append(names, k.Name+"."+k.Namespace+".svc."+zone)
	}
	for k, e := range r.directory.Behind(a) {
		names = append(names, endpointName(e)+"."+k.Name+"."+k.Namespace+".svc."+zone)
	}
	if len(names) == 0 {
		return nothing
	}
	if kind != dns.TypePTR {
		return empty
	}
	slices.Sort(names)
	var found answer
	for _, n := range names {
		found.rrs = append(found.rrs, &dns.PTR{Hdr: header(name, dns.TypePTR), Ptr: n})
	}
	return found
}

// endpointName is the first label of an endpoint's name.
func endpointName(e services.Endpoint) string {
	if e.Hostname != "" {
		return strings.ToLower(e.Hostname)
	}
	return strings.ReplaceAll(e.Addr.String(), ".", "-")
}

// reverse is the address whose name is looked for.
func reverse(name string) (netip.Addr, bool) {
	digits, ok := strings.CutSuffix(name, ".in-addr.arpa.")
	if !ok {
		return netip.Addr{}, false
	}
	parts := strings.Split(digits, ".")
	slices.Reverse(parts)
	a, err := netip.ParseAddr(strings.Join(parts, "."))
	return a, err == nil
}

func addresses(name string, kind uint16, endpoints []services.Endpoint) []dns.RR {
	var rrs []dns.RR
	seen := map[netip.Addr]bool{}
	for _, e := range endpoints {
		if !seen[e.Addr] {
			seen[e.Addr] = true
			rrs = append(rrs, address(name, kind, e.Addr)...)
		}
	}
	return rrs
}

// address is the record of an address, none when another type was asked for.
func address(name string, kind uint16, a netip.Addr) []dns.RR {
	if kind != dns.TypeA && kind != dns.TypeANY {
		return nil
	}
	return []dns.RR{&dns.A{Hdr: header(name, dns.TypeA), A: a.AsSlice()}}
}

func srv(name, target string, port uint16) dns.RR {
	return &dns.SRV{Hdr: header(name, dns.TypeSRV), Priority: 0, Weight: 1, Port: port, Target: target}
}

func soa() dns.RR {
	return &dns.SOA{
		Hdr: header(zone, dns.TypeSOA), Ns: "ns.dns." + zone, Mbox: "hostmaster." + zone,
		Serial: 1, Refresh: 7200, Retry: 1800, Expire: 86400, Minttl: ttl,
	}
}

func header(name string, kind uint16) dns.RR_Header {
	return dns.RR_Header{Name: name, Rrtype: kind, Class: dns.ClassINET, Ttl: ttl}
}
