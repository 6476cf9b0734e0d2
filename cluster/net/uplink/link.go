package uplink

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
)

// link is the network stack's end of a packet socket: frames are read by who
// owns it and given to deliver; the stack's own packets are written as frames.
type link struct {
	raw   syscall.RawConn
	frame [header.EthernetMinimumSize]byte // in front of every packet that is sent
	mtu   uint32

	mu         sync.RWMutex
	dispatcher stack.NetworkDispatcher
}

func newLink(socket *os.File, cfg Config) (*link, error) {
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil, err
	}
	l := &link{raw: raw, mtu: uint32(cfg.MTU)}
	header.Ethernet(l.frame[:]).Encode(&header.EthernetFields{
		SrcAddr: tcpip.LinkAddress(cfg.World), DstAddr: tcpip.LinkAddress(cfg.Near), Type: header.IPv4ProtocolNumber,
	})
	return l, nil
}

// wait returns when there is something to read.
func (l *link) wait() error {
	var probe [1]byte
	return l.raw.Read(func(fd uintptr) bool {
		_, _, err := unix.Recvfrom(int(fd), probe[:], unix.MSG_PEEK)
		return err != unix.EAGAIN
	})
}

// read waits for a frame and returns the packet in it, a part of buf.
func (l *link) read(buf []byte) ([]byte, error) {
	for {
		var n int
		var rerr error
		err := l.raw.Read(func(fd uintptr) bool {
			n, rerr = unix.Read(int(fd), buf)
			return rerr != unix.EAGAIN
		})
		switch {
		case err != nil: // closed
			return nil, err
		case rerr == unix.EINTR, rerr == unix.ENETDOWN, rerr == nil && n <= len(l.frame):
			continue
		case rerr != nil:
			return nil, os.NewSyscallError("read", rerr)
		}
		return buf[len(l.frame):n], nil
	}
}

// deliver gives a packet to the stack, which may keep it: it is copied.
func (l *link) deliver(packet []byte) {
	l.mu.RLock()
	d := l.dispatcher
	l.mu.RUnlock()
	if d == nil {
		return
	}
	pkt := stack.NewPacketBuffer(stack.PacketBufferOptions{Payload: buffer.MakeWithData(packet)})
	defer pkt.DecRef()
	d.DeliverNetworkPacket(header.IPv4ProtocolNumber, pkt)
}

// WritePackets sends the stack's packets. One that the kernel refuses is lost, as on any wire.
func (l *link) WritePackets(pkts stack.PacketBufferList) (int, tcpip.Error) {
	for i, pkt := range pkts.AsSlice() {
		if err := l.write(append([][]byte{l.frame[:]}, pkt.AsSlices()...)); err != nil {
			return i, &tcpip.ErrClosedForSend{}
		}
	}
	return pkts.Len(), nil
}

func (l *link) write(frame [][]byte) error {
	return l.raw.Write(func(fd uintptr) bool {
		_, err := unix.Writev(int(fd), frame)
		return err != unix.EAGAIN && err != unix.EINTR
	})
}

// Attach is called with the stack, and with nil when the stack is gone.
func (l *link) Attach(d stack.NetworkDispatcher) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dispatcher = d
}

// IsAttached says whether packets go anywhere.
func (l *link) IsAttached() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.dispatcher != nil
}

// Capabilities: packets never were on a wire, and the kernel leaves the sums of those it passes on for the hardware to fill in.
func (l *link) Capabilities() stack.LinkEndpointCapabilities {
	return stack.CapabilityRXChecksumOffload
}

// What else a stack.LinkEndpoint has; hardware addresses are the link's own affair.
func (l *link) MTU() uint32                             { return l.mtu }
func (l *link) SetMTU(uint32)                           {}
func (l *link) MaxHeaderLength() uint16                 { return 0 }
func (l *link) LinkAddress() tcpip.LinkAddress          { return "" }
func (l *link) SetLinkAddress(tcpip.LinkAddress)        {}
func (l *link) Wait()                                   {}
func (l *link) ARPHardwareType() header.ARPHardwareType { return header.ARPHardwareNone }
func (l *link) AddHeader(*stack.PacketBuffer)           {}
func (l *link) ParseHeader(*stack.PacketBuffer) bool    { return true }
func (l *link) Close()                                  {}
func (l *link) SetOnCloseAction(func())                 {}

var _ stack.LinkEndpoint = (*link)(nil)
