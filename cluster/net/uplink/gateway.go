// Package uplink connects pods to the host's network. It runs outside the
// sandbox as an ordinary process: it receives the pods' packets on a packet
// socket, terminates their connections in a network stack of its own, and joins
// each to a connection of this process. To the rest of the world, pods are this
// machine.
//
// It is a separate process, started with the first packet: the network stack
// parses whatever pods send, so only downloads may depend on it.
package uplink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/tcpip/transport/udp"
)

const (
	nic = 1
	// maxConnecting bounds the connections that are being made; more wait for a free place by asking again.
	maxConnecting = 1024
	// maxFlows bounds what speaks UDP at a time; others are not heard.
	maxFlows = 1024
	// windowLimit bounds what is on its way in one connection. The other end is on this machine, so little is enough, and
	// what pods send must find room in the packet socket.
	windowLimit = 1 << 20
)

// Config describes the uplink as the sandbox made it.
type Config struct {
	MTU         int
	Near, World net.HardwareAddr // addresses in frames: the sandbox's, and that of everything beyond
	Inside      []netip.Prefix   // the cluster's own networks, unreachable from beyond
	Idle        time.Duration    // without packets and connections, after which Forward returns
	Log         *slog.Logger

	connect time.Duration // instead of connectLimit, for tests
}

// gateway is the network stack of one uplink.
type gateway struct {
	log     *slog.Logger
	inside  []netip.Prefix
	connect time.Duration // for which a connection is tried
	link    *link
	stack   *stack.Stack

	ctx context.Context // ends with the gateway; each connection's

	mu          sync.Mutex
	closed      bool
	connections int
	work        sync.WaitGroup
	flows       chan struct{} // a place for each pair of ports that speak UDP
}

// Await returns when a packet waits to be taken from the socket, or the context has ended.
func Await(ctx context.Context, socket *os.File) error {
	l, err := newLink(socket, Config{})
	if err != nil {
		return fmt.Errorf("uplink: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = socket.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := l.wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("uplink: %w", err)
	}
	return nil
}

// Forward serves the uplink until the context ends or it is idle. It closes the socket.
func Forward(ctx context.Context, socket *os.File, cfg Config) error {
	defer socket.Close()
	l, err := newLink(socket, cfg)
	if err != nil {
		return fmt.Errorf("uplink: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = socket.Close() })
	defer stop()
	g := &gateway{log: cfg.Log, inside: cfg.Inside, connect: cmp.Or(cfg.connect, connectLimit), link: l, flows: make(chan struct{}, maxFlows)}
	var cancel context.CancelFunc
	g.ctx, cancel = context.WithCancel(ctx)
	if err := g.open(); err != nil {
		cancel()
		return fmt.Errorf("uplink: %w", err)
	}
	defer g.close()
	defer cancel()
	buf := make([]byte, cfg.MTU+header.EthernetMinimumSize)
	for {
		_ = socket.SetReadDeadline(time.Now().Add(cfg.Idle)) // a closed one says so when it is read
		packet, err := l.read(buf)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if !g.busy() {
				return nil
			}
		case err != nil:
			return ended(ctx, err)
		case !isPing(packet): // the stack would answer for the whole world
			l.deliver(packet)
		}
	}
}

func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("uplink: %w", err)
}

// open makes the stack, which answers for all addresses.
func (g *gateway) open() error {
	g.stack = stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol, udp.NewProtocol},
	})
	sack := tcpip.TCPSACKEnabled(true)
	receive := tcpip.TCPReceiveBufferSizeRangeOption{Min: tcp.MinBufferSize, Default: windowLimit, Max: windowLimit}
	send := tcpip.TCPSendBufferSizeRangeOption{Min: tcp.MinBufferSize, Default: windowLimit, Max: windowLimit}
	for _, o := range []tcpip.SettableTransportProtocolOption{&sack, &receive, &send} {
		if err := g.stack.SetTransportProtocolOption(tcp.ProtocolNumber, o); err != nil {
			return fmt.Errorf("%T: %s", o, err)
		}
	}
	if err := g.stack.CreateNIC(nic, g.link); err != nil {
		return fmt.Errorf("interface: %s", err)
	}
	if err := g.stack.SetPromiscuousMode(nic, true); err != nil {
		return fmt.Errorf("interface: %s", err)
	}
	if err := g.stack.SetSpoofing(nic, true); err != nil {
		return fmt.Errorf("interface: %s", err)
	}
	g.stack.SetRouteTable([]tcpip.Route{{Destination: header.IPv4EmptySubnet, NIC: nic}})
	g.stack.SetTransportProtocolHandler(tcp.ProtocolNumber, tcp.NewForwarder(g.stack, 0, maxConnecting, g.acceptTCP).HandlePacket)
	g.stack.SetTransportProtocolHandler(udp.ProtocolNumber, udp.NewForwarder(g.stack, g.acceptUDP).HandlePacket)
	return nil
}

// close ends all connections. No packet comes in any more.
func (g *gateway) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.stack.Close()
	g.work.Wait()
	g.stack.Destroy()
}

// begin counts a connection's work, unless the gateway is being closed.
func (g *gateway) begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.work.Add(1)
		g.connections++
	}
	return !g.closed
}

// end is called when the work is done.
func (g *gateway) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.connections--
	g.work.Done()
}

func (g *gateway) busy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.connections > 0
}

// destination is where a connection was meant to go. The stack takes the part of
// the other side, so to it the address is local.
func destination(id stack.TransportEndpointID) netip.AddrPort {
	a, _ := netip.AddrFromSlice(id.LocalAddress.AsSlice())
	return netip.AddrPortFrom(a, id.LocalPort)
}

func isPing(packet []byte) bool {
	return len(packet) > header.IPv4MinimumSize && packet[9] == uint8(header.ICMPv4ProtocolNumber)
}
