package uplink

import "net/netip"

// refused are the networks that pods do not reach through this machine: itself,
// their own, those that end at the next cable, and the services from which clouds give a
// machine its credentials.
var refused = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("169.254.0.0/16"),     // link-local; metadata of most clouds
	netip.MustParsePrefix("100.100.100.200/32"), // metadata of Alibaba Cloud
	netip.MustParsePrefix("168.63.129.16/32"),   // of Azure
	netip.MustParsePrefix("224.0.0.0/4"),        // groups
	netip.MustParsePrefix("240.0.0.0/4"),        // reserved, and broadcast
}

// allowed says whether pods may reach the address.
func (g *gateway) allowed(a netip.Addr) bool {
	if !a.Is4() {
		return false
	}
	for _, list := range [][]netip.Prefix{refused, g.inside} {
		for _, p := range list {
			if p.Contains(a) {
				return false
			}
		}
	}
	return true
}
