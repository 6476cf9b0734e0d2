// Package podnet is the pods' network. Each pod has an address and a link of its
// own to the node's sandbox, which routes between pods and to the uplink. Pods
// share no link, so none sees or forges another's packets. The network exists in
// the sandbox's network namespace only.
package podnet

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

const (
	loopback = 1 // index of lo in every namespace, LOOPBACK_IFINDEX of <net/flow.h>
	// mtu is the largest a veth pair takes. Packets never leave this machine's
	// memory, and with the usual 1500 an all-reduce takes several times longer.
	mtu = 65535
)

var (
	// Subnet holds the addresses of all pods.
	Subnet = netip.MustParsePrefix("10.88.0.0/16")
	// ServiceRange holds the addresses of Services. All of them are the sandbox's own.
	ServiceRange = netip.MustParsePrefix("10.96.0.0/16")
	// Gateway is the sandbox's own address on the pods' network. Services that
	// pods need are relayed there.
	Gateway = netip.MustParseAddr("10.88.0.1")
	// Node is the address of the network that pods with hostNetwork share.
	Node = netip.MustParseAddr("10.88.0.2")

	// gatewayMAC is the hardware address of the sandbox's end of every pod's link.
	gatewayMAC = net.HardwareAddr{0x02, 0x0a, 0x58, 0, 0, 1}
)

// settings make the sandbox a router that believes no pod. Some of them a new namespace takes over from the machine.
var settings = []struct{ name, value string }{
	{"ipv4/ip_forward", "1"},
	// A packet counts only if its sender's address is that of the link it comes from.
	{"ipv4/conf/all/rp_filter", "1"},
	{"ipv4/conf/default/rp_filter", "1"},
	{"ipv4/conf/all/accept_local", "0"},
	{"ipv4/conf/default/accept_local", "0"},
	{"ipv4/conf/all/route_localnet", "0"},
	{"ipv4/conf/default/route_localnet", "0"},
	// Neighbours are fixed, see lead: the sandbox ignores what pods say about addresses.
	{"ipv4/conf/all/arp_ignore", "8"},
	{"ipv4/conf/all/arp_accept", "0"},
	{"ipv4/conf/default/arp_accept", "0"},
	{"ipv4/conf/all/proxy_arp", "0"},
	{"ipv4/conf/default/proxy_arp", "0"},
	{"ipv6/conf/all/disable_ipv6", "1"},
	{"ipv6/conf/default/disable_ipv6", "1"},
}

// Setup makes the network namespace of this process the router of the pods' network.
func Setup() error {
	for _, s := range settings {
		err := os.WriteFile("/proc/sys/net/"+s.name, []byte(s.value), 0)
		if err != nil && !errors.Is(err, os.ErrNotExist) { // a kernel without IPv6
			return fmt.Errorf("set net/%s to %s: %w", s.name, s.value, err)
		}
	}
	lo := &netlink.Device{LinkAttrs: netlink.LinkAttrs{Name: "lo", Index: loopback}}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("bring lo up: %w", err)
	}
	if err := netlink.AddrAdd(lo, address(Gateway)); err != nil {
		return fmt.Errorf("address of the gateway: %w", err)
	}
	everyService := &netlink.Route{Dst: network(ServiceRange), LinkIndex: loopback, Type: unix.RTN_LOCAL, Table: unix.RT_TABLE_LOCAL, Scope: unix.RT_SCOPE_HOST}
	if err := netlink.RouteAdd(everyService); err != nil {
		return fmt.Errorf("addresses of Services: %w", err)
	}
	// Addresses that no pod has are not to be looked for outside.
	if err := netlink.RouteAdd(&netlink.Route{Dst: network(Subnet), Type: unix.RTN_UNREACHABLE}); err != nil {
		return fmt.Errorf("addresses of pods: %w", err)
	}
	return nil
}

func network(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), 32)}
}

func address(a netip.Addr) *netlink.Addr {
	return &netlink.Addr{IPNet: network(netip.PrefixFrom(a, 32))}
}

// Attach gives the network namespace ns, new and empty, its loopback, an
// interface eth0 with the address, and a route to the gateway. The interface
// disappears with the namespace.
func Attach(ns *os.File, addr netip.Addr) error {
	name, err := linkName(ns)
	if err != nil {
		return fmt.Errorf("network of %s: %w", addr, err)
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU, attrs.Flags, attrs.HardwareAddr = name, mtu, net.FlagUp, gatewayMAC
	// A queue for each processor is of no use to a veth pair, which takes no lock to send, and costs a folder in /sys each.
	attrs.NumTxQueues, attrs.NumRxQueues = 1, 1
	veth := &netlink.Veth{LinkAttrs: attrs, PeerName: "eth0", PeerMTU: mtu, PeerNamespace: netlink.NsFd(int(ns.Fd()))}
	err = netlink.LinkAdd(veth)
	if errors.Is(err, syscall.EEXIST) {
		// Of a namespace that had the number before; the kernel takes its time to remove what belonged to one.
		if old, lerr := netlink.LinkByName(attrs.Name); lerr == nil {
			_ = netlink.LinkDel(old) // it may be gone by now
		}
		err = netlink.LinkAdd(veth)
	}
	if err != nil {
		return fmt.Errorf("add interface for %s: %w", addr, err)
	}
	mac, err := configure(netns.NsHandle(ns.Fd()), addr)
	if err != nil {
		return err
	}
	index, err := awaken(veth)
	if err != nil {
		return err
	}
	return lead(index, addr, mac)
}

// linkName is the name of the sandbox's end of a pod's link. The namespace's number makes it unique among those that live; addresses may
// change, see Readdress.
func linkName(ns *os.File) (string, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(ns.Fd()), &st); err != nil {
		return "", err
	}
	return "pod" + strconv.FormatUint(st.Ino, 10), nil
}

// awaken waits until an interface that was brought up before its peer is in
// use, and returns its index: until then the kernel drops packets. A new kernel
// completes this when it is asked for the state, so awaken returns at once; an
// old one takes its time, and subscribing to its notifications would bring
// those of all other pods too.
func awaken(l netlink.Link) (index int, err error) {
	for range 100 {
		now, err := netlink.LinkByName(l.Attrs().Name)
		if err != nil {
			return 0, fmt.Errorf("find %s: %w", l.Attrs().Name, err)
		}
		index = now.Attrs().Index
		if now.Attrs().OperState == netlink.OperUp {
			break
		}
		time.Sleep(time.Millisecond) // only an old kernel gets here, and then asks at this pace, a tenth of a second at most
	}
	return index, nil // a packet that is lost is sent again
}

// lead routes an address to the pod behind a link, whose neighbour is fixed: nothing is asked by ARP.
func lead(index int, addr netip.Addr, mac net.HardwareAddr) error {
	if err := netlink.NeighSet(neighbour(index, addr, mac)); err != nil {
		return fmt.Errorf("neighbour %s: %w", addr, err)
	}
	if err := netlink.RouteReplace(routeTo(index, addr)); err != nil {
		return fmt.Errorf("route to %s: %w", addr, err)
	}
	return nil
}

func neighbour(index int, addr netip.Addr, mac net.HardwareAddr) *netlink.Neigh {
	return &netlink.Neigh{LinkIndex: index, IP: addr.AsSlice(), HardwareAddr: mac, State: netlink.NUD_PERMANENT, Family: unix.AF_INET}
}

func routeTo(index int, addr netip.Addr) *netlink.Route {
	return &netlink.Route{Dst: network(netip.PrefixFrom(addr, 32)), LinkIndex: index, Scope: unix.RT_SCOPE_LINK, Src: Gateway.AsSlice()}
}

// configure sets the inside of a pod's network up, and returns the hardware address of its eth0.
func configure(ns netns.NsHandle, addr netip.Addr) (mac net.HardwareAddr, err error) {
	err = inside(ns, addr, func(h *netlink.Handle, eth0 netlink.Link) error {
		mac = eth0.Attrs().HardwareAddr
		if err := h.AddrAdd(eth0, address(addr)); err != nil {
			return fmt.Errorf("address %s: %w", addr, err)
		}
		lo := &netlink.Device{LinkAttrs: netlink.LinkAttrs{Name: "lo", Index: loopback}}
		for _, link := range []netlink.Link{lo, eth0} {
			if err := h.LinkSetUp(link); err != nil {
				return fmt.Errorf("bring %s of %s up: %w", link.Attrs().Name, addr, err)
			}
		}
		return leadOut(h, eth0, addr)
	})
	return mac, err
}

// Readdress gives a network that Attach made another address than before, as if it were new.
func Readdress(ns *os.File, before, addr netip.Addr) error {
	name, err := linkName(ns)
	if err != nil {
		return fmt.Errorf("network of %s: %w", before, err)
	}
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	index := link.Attrs().Index
	if err := errors.Join(netlink.RouteDel(routeTo(index, before)), netlink.NeighDel(neighbour(index, before, nil))); err != nil {
		return fmt.Errorf("route to %s: %w", before, err)
	}
	var mac net.HardwareAddr
	err = inside(netns.NsHandle(ns.Fd()), addr, func(h *netlink.Handle, eth0 netlink.Link) error {
		mac = eth0.Attrs().HardwareAddr
		// With its only address an interface loses its routes and neighbours.
		if err := errors.Join(h.AddrDel(eth0, address(before)), h.AddrAdd(eth0, address(addr))); err != nil {
			return fmt.Errorf("address %s instead of %s: %w", addr, before, err)
		}
		return leadOut(h, eth0, addr)
	})
	if err != nil {
		return err
	}
	return lead(index, addr, mac)
}

// inside does something in the network of the pod with the address.
func inside(ns netns.NsHandle, addr netip.Addr, do func(h *netlink.Handle, eth0 netlink.Link) error) error {
	h, err := netlink.NewHandleAt(ns, syscall.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("enter the network of %s: %w", addr, err)
	}
	defer h.Close()
	eth0, err := h.LinkByName("eth0")
	if err != nil {
		return fmt.Errorf("eth0 of %s: %w", addr, err)
	}
	return do(h, eth0)
}

// leadOut routes all that a pod sends to the gateway, the only neighbour on its link.
func leadOut(h *netlink.Handle, eth0 netlink.Link, addr netip.Addr) error {
	index := eth0.Attrs().Index
	if err := h.NeighSet(neighbour(index, Gateway, gatewayMAC)); err != nil {
		return fmt.Errorf("gateway of %s: %w", addr, err)
	}
	if err := h.RouteAdd(&netlink.Route{LinkIndex: index, Gw: Gateway.AsSlice(), Flags: int(netlink.FLAG_ONLINK)}); err != nil {
		return fmt.Errorf("route of %s: %w", addr, err)
	}
	return nil
}
