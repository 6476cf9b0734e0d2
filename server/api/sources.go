package api

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

// notPublic are the networks, beyond those that net/netip knows as private, that are not the open internet.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/32"), netip.MustParsePrefix("2002::/16"), // both carry IPv4 addresses inside
}

// Sources are where pipelines may be read from, beside the public internet: networks, and hosts by the names that URLs have for
// them, in lower case. Users of the API can make the server read from them.
type Sources struct {
	Networks []netip.Prefix
	Hosts    []string
}

// ParseSources reads networks (10.0.0.0/8), addresses and names of hosts, with commas between.
func ParseSources(list string) (Sources, error) {
	var s Sources
	for one := range strings.SplitSeq(list, ",") {
		one = strings.ToLower(strings.TrimSpace(one))
		network, err := netip.ParsePrefix(one)
		address, notAddress := netip.ParseAddr(strings.Trim(one, "[]"))
		switch {
		case one == "":
		case err == nil:
			s.Networks = append(s.Networks, network.Masked())
		case notAddress == nil:
			s.Networks = append(s.Networks, netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen()))
		case strings.ContainsAny(one, "/:@? "):
			return s, fmt.Errorf("%q is neither a network, such as 10.0.0.0/8, nor the name of a host", one)
		default:
			s.Hosts = append(s.Hosts, one)
		}
	}
	return s, nil
}

// dial connects to public addresses, and to those of the sources. An address is judged when the connection is made, so neither a
// redirect nor a name that changes its address gets around it.
func (s Sources) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 10 * time.Second}
	host, _, err := net.SplitHostPort(address)
	if err != nil || !slices.Contains(s.Hosts, strings.ToLower(host)) {
		dialer.Control = s.judge
	}
	return dialer.DialContext(ctx, network, address)
}

func (s Sources) judge(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil || !public(a.Addr()) && !slices.ContainsFunc(s.Networks, func(n netip.Prefix) bool { return n.Contains(a.Addr().Unmap()) }) {
		return errPrivate
	}
	return nil
}

func public(a netip.Addr) bool {
	a = a.Unmap()
	for _, p := range notPublic {
		if p.Contains(a) {
			return false
		}
	}
	return a.IsGlobalUnicast() && !a.IsPrivate()
}
