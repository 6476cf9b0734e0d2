package services

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/net/relay"
)

// dialLimit bounds the attempt at one endpoint: it is on this machine, or another is asked.
const dialLimit = 5 * time.Second

// listener serves one address of a Service.
type listener struct {
	to    backing
	close func()
}

func (p *Proxy) listen(ctx context.Context, f front, to backing, work *sync.WaitGroup) (*listener, error) {
	if f.addr.Addr() != p.NodeIP {
		return p.listenHere(ctx, f, to, work)
	}
	var l *listener
	err := p.OnNode(func() (err error) {
		l, err = p.listenHere(ctx, f, to, work)
		return err
	})
	return l, err
}

// listenHere listens in the network namespace of this thread.
func (p *Proxy) listenHere(ctx context.Context, f front, to backing, work *sync.WaitGroup) (*listener, error) {
	b := &balancer{directory: p.Directory, to: to}
	var lc net.ListenConfig
	switch f.protocol {
	case corev1.ProtocolTCP:
		l, err := lc.Listen(ctx, "tcp", f.addr.String())
		if err != nil {
			return nil, err
		}
		work.Go(func() {
			relay.Accept(ctx, l, p.Log.With("service", to.service), func(ctx context.Context, c net.Conn) { p.serve(ctx, c.(*net.TCPConn), b) })
		})
		return &listener{to: to, close: func() { _ = l.Close() }}, nil
	case corev1.ProtocolUDP:
		c, err := lc.ListenPacket(ctx, "udp", f.addr.String())
		if err != nil {
			return nil, err
		}
		flows := &flows{proxy: p, balancer: b, front: c.(*net.UDPConn), open: map[netip.AddrPort]*net.UDPConn{}}
		work.Go(func() { flows.run(ctx) })
		return &listener{to: to, close: func() { _ = c.Close() }}, nil
	default:
		return nil, fmt.Errorf("protocol %s is not supported", f.protocol)
	}
}

// serve carries one connection to the first endpoint that takes it.
func (p *Proxy) serve(ctx context.Context, c *net.TCPConn, b *balancer) {
	client := c.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	for _, e := range b.endpoints(client, time.Now()) {
		conn, err := p.dial(ctx, "tcp", e)
		if err != nil {
			continue
		}
		b.chosen(client, e, time.Now())
		relay.Join(ctx, c, conn.(relay.Stream))
		return
	}
	_ = c.SetLinger(0) // as if it had been refused
	_ = c.Close()
}

func (p *Proxy) dial(ctx context.Context, network string, e netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{Timeout: dialLimit}
	if socket := p.Via[e]; socket != "" && network == "tcp" {
		return d.DialContext(ctx, "unix", socket)
	}
	return d.DialContext(ctx, network, e.String())
}
