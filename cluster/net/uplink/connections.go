package uplink

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/tcpip/transport/udp"
	"gvisor.dev/gvisor/pkg/waiter"

	"github.com/argosy-ml/argosy/cluster/net/relay"
)

const (
	copySize     = 128 << 10
	connectLimit = time.Minute
	udpIdle      = time.Minute // after which no more answers to a datagram are expected
	udpPacket    = 65535
)

// acceptTCP runs in a goroutine of its own. The pod's connection is made only
// when the other one is, and refused when that one cannot be.
func (g *gateway) acceptTCP(r *tcp.ForwarderRequest) {
	if !g.begin() {
		r.Complete(false)
		return
	}
	defer g.end()
	to := destination(r.ID())
	if !g.allowed(to.Addr()) {
		r.Complete(true)
		return
	}
	d := net.Dialer{Timeout: g.connect}
	conn, err := d.DialContext(g.ctx, "tcp", to.String())
	if err != nil {
		r.Complete(true)
		return
	}
	var queue waiter.Queue
	ep, terr := r.CreateEndpoint(&queue)
	if terr != nil { // the pod did not wait
		_ = conn.Close()
		r.Complete(true)
		return
	}
	r.Complete(false)
	relay.Join(g.ctx, stream{gonet.NewTCPConn(&queue, ep)}, conn.(*net.TCPConn))
}

// stream copies in larger pieces than io.Copy would.
type stream struct{ *gonet.TCPConn }

func (s stream) ReadFrom(r io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{s.TCPConn}, struct{ io.Reader }{r}, make([]byte, copySize))
}

func (s stream) WriteTo(w io.Writer) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{s.TCPConn}, make([]byte, copySize))
}

// acceptUDP is called for the first packet between two ports. What follows comes to the endpoint made here.
func (g *gateway) acceptUDP(r *udp.ForwarderRequest) {
	to := destination(r.ID())
	if !g.allowed(to.Addr()) {
		return
	}
	select {
	case g.flows <- struct{}{}:
	default:
		g.log.Warn("too many programs in pods speak UDP to the outside; a packet is dropped", "limit", maxFlows, "to", to)
		return
	}
	var queue waiter.Queue
	ep, terr := r.CreateEndpoint(&queue)
	if terr != nil || !g.begin() {
		<-g.flows
		return
	}
	pod := gonet.NewUDPConn(&queue, ep)
	go func() {
		defer func() { <-g.flows; g.end() }()
		defer func() { _ = pod.Close() }()
		var d net.Dialer
		conn, err := d.DialContext(g.ctx, "udp", to.String()) // nothing is sent by that
		if err != nil {
			return
		}
		defer conn.Close()
		joinPackets(g.ctx.Done(), pod, conn)
	}()
}

// joinPackets copies packets both ways until there have been none for a while.
func joinPackets(done <-chan struct{}, a, b net.Conn) {
	var mu sync.Mutex
	last := time.Now()
	touch := func() {
		mu.Lock()
		defer mu.Unlock()
		last = time.Now()
	}
	left := func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return udpIdle - time.Since(last)
	}
	over := make(chan struct{})
	end := sync.OnceFunc(func() { close(over) })
	copyPackets := func(to, from net.Conn) {
		defer end()
		buf := make([]byte, udpPacket)
		for {
			_ = from.SetReadDeadline(time.Now().Add(udpIdle))
			n, err := from.Read(buf)
			if errors.Is(err, os.ErrDeadlineExceeded) && left() > 0 {
				continue // the other direction is in use
			}
			if err != nil {
				return
			}
			touch()
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
	}
	var both sync.WaitGroup
	both.Go(func() { copyPackets(a, b) })
	both.Go(func() { copyPackets(b, a) })
	select {
	case <-over:
	case <-done:
	}
	_ = a.Close()
	_ = b.Close()
	both.Wait()
}
