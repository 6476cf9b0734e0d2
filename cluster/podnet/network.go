// Package podnet is the pods' network: one bridge inside the node's sandbox, a
// veth pair and an address for every pod, and a way out. Nothing of it is
// visible outside the sandbox's network namespace.
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
	bridgeName = "argosy0"
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
)

// Setup makes the bridge in the network namespace of this process.
func Setup() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find lo: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("bring lo up: %w", err)
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU = bridgeName, mtu
	// Without an address of its own a bridge takes that of its lowest port: when that pod went away, the others would
	// talk for seconds to an address that nobody has.
	attrs.HardwareAddr = net.HardwareAddr{0x02, 0x0a, 0x58, 0, 0, 1}
	bridge := &netlink.Bridge{LinkAttrs: attrs}
	if err := netlink.LinkAdd(bridge); err != nil {
		return fmt.Errorf("add bridge: %w", err)
	}
	if err := netlink.AddrAdd(bridge, address(Gateway)); err != nil {
		return fmt.Errorf("address of the bridge: %w", err)
	}
	if err := netlink.LinkSetUp(bridge); err != nil {
		return fmt.Errorf("bring the bridge up: %w", err)
	}
	everyService := &net.IPNet{IP: ServiceRange.Addr().AsSlice(), Mask: net.CIDRMask(ServiceRange.Bits(), 32)}
	local := &netlink.Route{Dst: everyService, LinkIndex: lo.Attrs().Index, Type: unix.RTN_LOCAL, Table: unix.RT_TABLE_LOCAL, Scope: unix.RT_SCOPE_HOST}
	if err := netlink.RouteAdd(local); err != nil {
		return fmt.Errorf("addresses of Services: %w", err)
	}
	// For the way out.
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0); err != nil && !errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("turn forwarding on: %w", err)
	}
	return nil
}

func address(a netip.Addr) *netlink.Addr {
	return &netlink.Addr{IPNet: &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(Subnet.Bits(), 32)}}
}

// Attach gives the network namespace ns, new and empty, its loopback, an
// interface eth0 with the address, and a route to the gateway. The interface
// disappears with the namespace.
func Attach(ns *os.File, addr netip.Addr) error {
	bridge, err := bridgeIndex()
	if err != nil {
		return fmt.Errorf("find bridge %s: %w", bridgeName, err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(ns.Fd()), &st); err != nil {
		return fmt.Errorf("network of %s: %w", addr, err)
	}
	attrs := netlink.NewLinkAttrs()
	// The namespace's number makes the name unique among those that live; addresses may change, see Readdress.
	attrs.Name, attrs.MTU, attrs.MasterIndex, attrs.Flags = "pod"+strconv.FormatUint(st.Ino, 10), mtu, bridge, net.FlagUp
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
	if err := configure(netns.NsHandle(ns.Fd()), addr); err != nil {
		return err
	}
	return awaken(veth)
}

// bridgeIndex finds the bridge without the lock that all changes of networks take, and that a burst of pods queues for.
func bridgeIndex() (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	ask, err := unix.NewIfreq(bridgeName)
	if err != nil {
		return 0, err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, ask); err != nil {
		return 0, err
	}
	return int(ask.Uint32()), nil
}

// awaken waits until an interface that was brought up before its peer is in
// use: until then the kernel drops what is sent. A new kernel sees to that when
// it is asked for the state, so that nothing is waited for; an old one takes its
// time, and a subscription to its news would bring those of all other pods too.
func awaken(l netlink.Link) error {
	for range 100 {
		now, err := netlink.LinkByName(l.Attrs().Name)
		if err != nil {
			return fmt.Errorf("find %s: %w", l.Attrs().Name, err)
		}
		if now.Attrs().OperState == netlink.OperUp {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return nil // a packet that is lost is sent again
}

// configure sets the inside of a pod's network up.
func configure(ns netns.NsHandle, addr netip.Addr) error {
	return inside(ns, addr, func(h *netlink.Handle, eth0 netlink.Link) error {
		if err := h.AddrAdd(eth0, address(addr)); err != nil {
			return fmt.Errorf("address %s: %w", addr, err)
		}
		lo := &netlink.Device{LinkAttrs: netlink.LinkAttrs{Name: "lo", Index: 1}} // in every namespace, LOOPBACK_IFINDEX of <net/flow.h>
		for _, link := range []netlink.Link{lo, eth0} {
			if err := h.LinkSetUp(link); err != nil {
				return fmt.Errorf("bring %s of %s up: %w", link.Attrs().Name, addr, err)
			}
		}
		return routeOut(h, addr)
	})
}

// Readdress gives a network that Attach made another address than before, as if it were new.
func Readdress(ns *os.File, before, addr netip.Addr) error {
	return inside(netns.NsHandle(ns.Fd()), addr, func(h *netlink.Handle, eth0 netlink.Link) error {
		// With its only address an interface loses its routes.
		if err := errors.Join(h.AddrDel(eth0, address(before)), h.AddrAdd(eth0, address(addr))); err != nil {
			return fmt.Errorf("address %s instead of %s: %w", addr, before, err)
		}
		return routeOut(h, addr)
	})
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

func routeOut(h *netlink.Handle, addr netip.Addr) error {
	if err := h.RouteAdd(&netlink.Route{Gw: Gateway.AsSlice()}); err != nil {
		return fmt.Errorf("route of %s: %w", addr, err)
	}
	return nil
}
