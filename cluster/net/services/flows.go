package services

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

const (
	flowIdle  = time.Minute // after which a client's next packet may go elsewhere
	maxFlows  = 1024        // of one port; packets of more clients are dropped
	maxPacket = 65535
)

// flows carries packets between the clients of a UDP port and its endpoints:
// those of one client all go to the same.
type flows struct {
	proxy    *Proxy
	balancer *balancer
	front    *net.UDPConn

	mu   sync.Mutex
	open map[netip.AddrPort]*net.UDPConn // by client
	work sync.WaitGroup
}

// run carries packets until the front is closed or the context ends.
func (f *flows) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { _ = f.front.Close() })
	defer stop()
	defer f.end()
	buf := make([]byte, maxPacket)
	for {
		n, client, err := f.front.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // news of an earlier packet that a client did not take
		}
		if c := f.to(ctx, client); c != nil {
			_ = c.SetReadDeadline(time.Now().Add(flowIdle))
			_, _ = c.Write(buf[:n]) // packets may be lost
		}
	}
}

// to is the way to a client's endpoint.
func (f *flows) to(ctx context.Context, client netip.AddrPort) *net.UDPConn {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.open[client]; c != nil || len(f.open) >= maxFlows {
		return c
	}
	addr := client.Addr().Unmap()
	for _, e := range f.balancer.endpoints(addr, time.Now()) {
		conn, err := f.proxy.dial(ctx, "udp", e)
		if err != nil {
			continue
		}
		f.balancer.chosen(addr, e, time.Now())
		c := conn.(*net.UDPConn)
		f.open[client] = c
		f.work.Go(func() { f.answers(client, c) })
		return c
	}
	return nil
}

// answers carries an endpoint's packets back until there is silence.
func (f *flows) answers(client netip.AddrPort, c *net.UDPConn) {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.open, client)
		_ = c.Close()
	}()
	buf := make([]byte, maxPacket)
	for {
		n, err := c.Read(buf)
		if err != nil { // silence, or no listener
			return
		}
		_ = c.SetReadDeadline(time.Now().Add(flowIdle))
		if _, err := f.front.WriteToUDPAddrPort(buf[:n], client); errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

func (f *flows) end() {
	f.mu.Lock()
	for _, c := range f.open {
		_ = c.Close()
	}
	f.mu.Unlock()
	f.work.Wait()
}
