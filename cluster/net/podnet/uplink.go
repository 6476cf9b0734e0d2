package podnet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// The uplink of the sandbox is a veth pair. Its near end has a default
// route. The far end has no address; a packet socket on it takes what is sent
// that way, and its holder, outside, answers for the rest of the world.
const (
	nearName = "out0"
	farName  = "out1"
	// UplinkMTU is the largest packet of the uplink.
	UplinkMTU = mtu
	// uplinkBuffer holds what pods send faster than it is taken.
	uplinkBuffer = 4 << 20
)

var (
	// Uplink is the network of the two ends.
	Uplink   = netip.MustParsePrefix("10.89.0.0/30")
	nearAddr = netip.MustParseAddr("10.89.0.1")
	farAddr  = netip.MustParseAddr("10.89.0.2")

	// NearMAC and WorldMAC are the hardware addresses of packets on the way
	// out: of the sandbox, and of everything beyond. The second has no interface:
	// were it the far end's own, the kernel would take the packets itself and
	// route them out again.
	NearMAC  = net.HardwareAddr{0x02, 0x0a, 0x59, 0, 0, 1}
	WorldMAC = net.HardwareAddr{0x02, 0x0a, 0x59, 0, 0, 2}
	farMAC   = net.HardwareAddr{0x02, 0x0a, 0x59, 0, 0, 3}
)

// OpenUplink makes the uplink in the network namespace of this process and
// returns the packet socket, of raw Ethernet frames that hold IPv4.
func OpenUplink() (*os.File, error) {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU, attrs.HardwareAddr = nearName, mtu, NearMAC
	veth := &netlink.Veth{LinkAttrs: attrs, PeerName: farName, PeerMTU: mtu, PeerHardwareAddr: farMAC}
	if err := netlink.LinkAdd(veth); err != nil {
		return nil, fmt.Errorf("add the uplink: %w", err)
	}
	near, err := netlink.LinkByName(nearName)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", nearName, err)
	}
	far, err := netlink.LinkByName(farName)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", farName, err)
	}
	prefix := &net.IPNet{IP: nearAddr.AsSlice(), Mask: net.CIDRMask(Uplink.Bits(), 32)}
	if err := netlink.AddrAdd(near, &netlink.Addr{IPNet: prefix}); err != nil {
		return nil, fmt.Errorf("address of the uplink: %w", err)
	}
	for _, l := range []netlink.Link{near, far} {
		if err := netlink.LinkSetUp(l); err != nil {
			return nil, fmt.Errorf("bring %s up: %w", l.Attrs().Name, err)
		}
	}
	if _, err := awaken(near); err != nil {
		return nil, err
	}
	// The other end does not answer ARP.
	world := &netlink.Neigh{LinkIndex: near.Attrs().Index, IP: farAddr.AsSlice(), HardwareAddr: WorldMAC, State: netlink.NUD_PERMANENT, Family: unix.AF_INET}
	if err := netlink.NeighAdd(world); err != nil {
		return nil, fmt.Errorf("neighbour on the uplink: %w", err)
	}
	socket, err := packetSocket(far.Attrs().Index)
	if err != nil {
		return nil, err
	}
	// Last, so that without a socket no connection waits for an answer.
	if err := netlink.RouteAdd(&netlink.Route{LinkIndex: near.Attrs().Index, Gw: farAddr.AsSlice()}); err != nil {
		_ = socket.Close()
		return nil, fmt.Errorf("default route: %w", err)
	}
	return socket, nil
}

// packetSocket opens a socket that takes the IPv4 packets which arrive at an interface, and sends from it.
func packetSocket(index int) (*os.File, error) {
	ipv4 := binary.NativeEndian.Uint16([]byte{unix.ETH_P_IP >> 8, unix.ETH_P_IP & 0xff}) // in network order
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("packet socket: %w", err)
	}
	err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: ipv4, Ifindex: index})
	for force, plain := range map[int]int{unix.SO_RCVBUFFORCE: unix.SO_RCVBUF, unix.SO_SNDBUFFORCE: unix.SO_SNDBUF} {
		if ferr := unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, uplinkBuffer); ferr != nil { // it takes a right over the machine
			err = errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_SOCKET, plain, uplinkBuffer))
		}
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("packet socket: %w", err)
	}
	return os.NewFile(uintptr(fd), "uplink"), nil
}
